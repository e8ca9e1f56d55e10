"""The figures as a table for the terminal, in Markdown, and as JSON."""

from __future__ import annotations

from typing import Any, NamedTuple

from .score import Score, Totals

COLUMNS = ("cause", "named", "also", "error", "right line", "told apart", "in file", "alarmed", "alarms")
WHAT = {
    "strict": "Findings that speak of torch: errors and warnings whose code or text belongs to the checker's declared list",
    "any": "Any finding at all, of whatever kind",
}


class Row(NamedTuple):
    """What is told of one checker. Without scores, `reason` says why there are none."""

    name: str
    version: str = "-"
    strict: Score | None = None
    any: Score | None = None
    lines_per_second: float = 0
    reason: str = ""


def cells(row: Row, score: Score) -> list[str]:
    """The cells of a row."""
    return [row.name, row.version, *(str(number) for number in score), f"{row.lines_per_second:,.0f}"]


def head(totals: Totals) -> list[str]:
    """The names of the columns, with what each figure is a part of."""
    parts = [*[totals.mistakes] * 3, totals.with_error_line, *[totals.mistakes] * 3, totals.right, ""]
    names = [f"{name} /{part}" if part else name for name, part in zip(COLUMNS, parts, strict=True)]
    return ["checker", "version", *names, "lines/CPU s"]


def rows_of(which: str, rows: list[Row], totals: Totals) -> list[list[str]]:
    """The table of one way of counting, as text cells."""
    scores = [(row, getattr(row, which)) for row in rows]
    return [head(totals), *(cells(row, score) for row, score in scores if score)]


def aligned(table: list[list[str]]) -> list[str]:
    """The table with columns of even width: names to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in table
    ]


def marked_down(table: list[list[str]]) -> list[str]:
    """The table in Markdown."""
    rule = ["---", "---", *["---:"] * (len(table[0]) - 2)]
    return [f"| {' | '.join(row)} |" for row in [table[0], rule, *table[1:]]]


def failures(rows: list[Row]) -> list[str]:
    """Which checkers gave nothing, and why."""
    return [f"{row.name}: {row.reason}" for row in rows if row.reason]


def report(rows: list[Row], totals: Totals, *, markdown: bool) -> str:
    """Both tables, and what could not be run."""
    lines: list[str] = []
    for which, said in WHAT.items():
        table = rows_of(which, rows, totals)
        lines += [f"**{said}**" if markdown else said, ""]
        lines += [*(marked_down(table) if markdown else aligned(table)), ""]
    lines += [f"- {line}" if markdown else line for line in failures(rows)]
    return "\n".join(lines).rstrip()


def as_data(rows: list[Row], totals: Totals, about: dict[str, Any]) -> dict[str, Any]:
    """The same for `--json`."""
    told = [
        {
            **row._asdict(),
            "strict": row.strict and row.strict._asdict(),
            "any": row.any and row.any._asdict(),
        }
        for row in rows
    ]
    return {**about, "totals": totals._asdict(), "checkers": told}
