"""Reading the pages of the specification: see README.md for their form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from support.facts import BadFact, split_facts

FENCE = re.compile(r"```python(?: (?P<name>\S+\.py))?\s*\Z")
COMMENT = re.compile(r"(?P<code>.*\S)  # (?P<comment>.+)\Z")

Row = tuple[str, int]
"""A file name and a row of it, which is the row of the page."""


class BadPage(Exception):
    """A page that breaks the form."""


class Program(NamedTuple):
    """A program of a page, under the heading it stands below, and what the page says of it.

    `facts` are the facts of what is revealed in a row; None says that the row is never reached, the
    set of "unknown" alone that nobody can say anything. `raises`, `may_raise` and `caught` are pieces
    of torch's message by row.
    """

    heading: str
    main: str
    files: dict[str, str]
    facts: dict[Row, frozenset[str] | None]
    raises: dict[Row, str]
    may_raise: dict[Row, str]
    caught: dict[Row, str]


class Block(NamedTuple):
    """A fenced block: its heading, its file name if it has one, the row of its first line, its lines."""

    heading: str
    name: str
    first: int
    lines: tuple[str, ...]


def programs_of(path: Path) -> list[Program]:
    """The programs of a page. Named blocks are files of every program below the same heading."""
    blocks = list(blocks_of(path.read_text(encoding="utf-8")))
    main = path.stem + ".py"
    return [
        program(main, block, [other for other in blocks if other.name and other.heading == block.heading])
        for block in blocks
        if not block.name
    ]


def blocks_of(text: str) -> Iterator[Block]:
    """The Python blocks of a page, in order."""
    heading, inside, name, first = "", False, "", 0
    lines: list[str] = []
    for row, line in enumerate(text.splitlines(), 1):
        if inside and line.rstrip() == "```":
            yield Block(heading, name, first, tuple(lines))
            inside = False
        elif inside:
            lines.append(line)
        elif opening := FENCE.match(line):
            inside, name, first, lines = True, opening["name"] or "", row + 1, []
        elif line.startswith("#"):
            heading = line.lstrip("# ").strip()
    if inside:
        raise BadPage(f"the block in row {first} has no end")


def program(main: str, block: Block, others: list[Block]) -> Program:
    """The program of a block, with the files it can import."""
    read = Program(block.heading, main, {}, {}, {}, {}, {})
    for each in (block, *others):
        filename = each.name or main
        read.files[filename] = "\n" * (each.first - 1) + "\n".join(each.lines) + "\n"
        for row, line in enumerate(each.lines, each.first):
            expect(read, (filename, row), line)
    if not (read.facts or read.raises or read.may_raise or read.caught):
        raise BadPage(f"the block in row {block.first} says nothing")
    return read


def expect(read: Program, row: Row, line: str) -> None:
    """Add what the comment of a line says to the program."""
    found = COMMENT.match(line)
    reveals = bool(re.search(r"\breveal\(", found["code"] if found else line))
    comment = found["comment"] if found else ""
    kind, _, text = comment.partition(": ")
    if kind == "raises":
        read.raises[row] = text
    elif kind == "may raise":
        read.may_raise[row] = text
    elif kind == "caught":
        read.caught[row] = text
    elif reveals and comment == "not reached":
        read.facts[row] = None
    elif reveals and comment == "unknown":
        read.facts[row] = frozenset(["unknown"])
    elif reveals:
        try:
            read.facts[row] = frozenset(split_facts(comment))
        except BadFact as error:
            raise BadPage(f"row {row[1]}: no such fact: {error}") from error
        if not read.facts[row]:
            raise BadPage(f"row {row[1]}: a value is revealed and nothing is said of it")
