"""`gradtrail check --fix` and `--diff`: repaired texts go back to where they came from, or are shown."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

from gradtrail.findings.engine import STANDARD_INPUT, Report, StandardInput
from gradtrail.findings.repairs import Repaired, repaired
from gradtrail.integrations.check import Options, exit_status
from gradtrail.integrations.command import FOUND, NOTHING, OUR_MISTAKE, USAGE
from gradtrail.integrations.output import complain, current_folder, put
from gradtrail.laws.text import Text, say, text
from gradtrail.reports.names import shown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def run(
    look: Callable[[Mapping[str, bytes] | None], Report],
    options: Options,
    stdin: StandardInput | None,
    rendered: Callable[[Report, Options], str],
) -> int:
    """Repair what `look` finds, or show how; the exit status comes back."""
    made = repaired(look, options.unsafe_fixes)
    given = "" if stdin is None else _name(stdin)
    if options.diff:
        return _show(made, given)
    written, failed = _write(made, given)
    if stdin is not None:
        _pass_on(made.texts.get(given, stdin.data))
    report = made.report if not failed else look({name: made.texts[name] for name in written})
    say_report = complain_all if stdin is not None else put
    say_report(rendered(report, options))
    told = counted(made, written)
    if told and options.output_format != "json":
        say_report(told + "\n")
    status = exit_status(report, options.exit_zero)
    return USAGE if failed and status == NOTHING else status


def _name(stdin: StandardInput) -> str:
    return stdin.filename if stdin.filename == STANDARD_INPUT else os.path.abspath(stdin.filename)


def complain_all(words: str) -> None:
    """The report beside a text on standard output goes to standard error."""
    for line in words.rstrip("\n").split("\n"):
        complain(line)


def counted(made: Repaired, written: list[str]) -> str:
    """How many repairs were made of each rule: `3 repaired: 2 dropped-result, 1 second-backward`."""
    rules = Counter(
        rule for rule, fix in made.applied if any(edit.place.filename in written for edit in fix.edits)
    )
    if not rules:
        return ""
    listed = ", ".join(f"{number} {rule}" for rule, number in rules.most_common())
    return say("{number} repaired: {rules}", number=sum(rules.values()), rules=listed)


def _pass_on(data: bytes) -> None:
    """Write what came from standard input to standard output, repaired or not, to the byte."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _write(made: Repaired, given: str) -> tuple[list[str], bool]:
    """Write the repaired files; the names of those that were written, and whether one could not be."""
    written: list[str] = []
    failed = False
    for filename, data in made.texts.items():
        problem = (
            None if filename == given else write_back(filename, made.before.sources.stored(filename), data)
        )
        if problem is None:
            written.append(filename)
        else:
            failed = True
            complain(f"{shown_name(filename, current_folder())}: {problem}")
    return written, failed


def write_back(filename: str, old: bytes, new: bytes) -> Text | None:
    """Put `new` in the place of `old`, whole or not at all; why it cannot be done comes back.

    A link is followed, and the permissions of the file are kept.
    """
    path = os.path.realpath(filename)
    try:
        mode = os.stat(path).st_mode
        if not os.access(path, os.W_OK):  # a file can be replaced without being written
            return text("is read-only and was not repaired")
        with open(path, "rb") as file:
            if file.read() != old:
                return text("has changed in the meantime and was not repaired")
        _replace(path, new, stat.S_IMODE(mode))
    except OSError as error:
        return text("cannot be written: {reason}", reason=error.strerror or str(error))
    return None


def _replace(path: str, data: bytes, mode: int) -> None:
    handle, beside = tempfile.mkstemp(prefix=".gradtrail-", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _changed_cells(old: bytes, new: bytes) -> Iterator[tuple[str, str, int]]:
    """What the cells of a notebook that differ say before and after, with their numbers."""
    from gradtrail.source.notebook import sources

    before, after = sources(old), sources(new)
    for cell, said in sorted(after.items()):
        if said != before.get(cell):
            yield before.get(cell, ""), said, cell


def _show(made: Repaired, given: str) -> int:
    """Print what would change; the exit status says whether there is anything."""
    from gradtrail.reports.difference import difference

    for filename, data in sorted(made.texts.items()):
        source = made.before.sources.read(filename)
        name = filename if filename == given else shown_name(filename, current_folder())
        if source.cells is not None:
            for old, new, cell in _changed_cells(made.before.sources.stored(filename), data):
                put(difference(old, new, f"{name}:cell {cell}"))
            continue
        put(difference(source.text, data.decode(source.encoding), name))
    told = counted(made, list(made.texts))
    if told:
        complain(say("--fix would change this: {repaired}", repaired=told))
    if made.report.crashed:
        return OUR_MISTAKE
    return FOUND if made.texts else NOTHING
