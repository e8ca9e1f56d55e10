"""`gradtrail tiny SCRIPT`: run a program with `gradtrail.tiny` in the place of torch."""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

from gradtrail.integrations.command import FOUND, NOTHING, USAGE
from gradtrail.integrations.output import complain, current_folder, output_width, wants_colour
from gradtrail.laws.text import say
from gradtrail.reports.cells import gap_behind, wrap
from gradtrail.source.reading import Unreadable, read_data


def run(arguments: Sequence[str]) -> int:
    """Run the script that `arguments` begin with; its exit status comes back."""
    if not arguments or arguments[0] in ("-h", "--help"):
        (sys.stdout if arguments else sys.stderr).write(_help())
        return NOTHING if arguments else USAGE
    script = arguments[0]
    try:
        from gradtrail import tiny
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "numpy":
            raise
        needed = "pip install 'gradtrail[tiny]'"
        complain(
            "gradtrail: " + say("`{command}` needs numpy: {needed}", command="gradtrail tiny", needed=needed)
        )
        return USAGE
    try:
        source = read_data(script)
    except Unreadable as unreadable:
        complain(f"gradtrail tiny: {script}: {unreadable.reason}")
        return USAGE
    with _in_the_place_of_torch(tiny.modules(), script, arguments):
        return _run_as_main(script, source)


def _help() -> str:
    told = say(
        "Runs a program with gradtrail.tiny in the place of torch: an autograd small enough to read, with the laws and"
        " the messages of torch. It needs numpy and no GPU: `cuda` is a pretend device. Where the program breaks a law,"
        " what `gradtrail check` says of it follows the traceback."
    )
    usage = say("usage: ") + "gradtrail tiny [-h] SCRIPT [ARGUMENT ...]"
    return "\n".join([usage, "", *wrap(told, output_width())]) + "\n"


class _Missing(MetaPathFinder):
    """Tells of the modules of torch that tiny has not, before another torch is found."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Refuse what belongs to torch; the rest is for other finders."""
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(f"gradtrail.tiny has no `{name}`", name=name)
        return None


@contextmanager
def _in_the_place_of_torch(
    modules: dict[str, types.ModuleType], script: str, arguments: Sequence[str]
) -> Iterator[None]:
    """For the time of the run: tiny's modules, and `sys.argv`, `sys.path` as Python sets them."""
    before = {name: each for name, each in sys.modules.items() if name.partition(".")[0] == "torch"}
    main, argv, path = sys.modules["__main__"], sys.argv, list(sys.path)
    finder = _Missing()
    for name in before:
        del sys.modules[name]
    sys.modules.update(modules)
    sys.meta_path.insert(0, finder)
    sys.argv = list(arguments)
    sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == "torch"]:
            del sys.modules[name]
        sys.modules.update(before)
        sys.modules["__main__"], sys.argv, sys.path[:] = main, argv, path


def _run_as_main(script: str, source: bytes) -> int:
    module = types.ModuleType("__main__")
    vars(module).update(__file__=script, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = module
    try:
        exec(compile(source, script, "exec", dont_inherit=True), vars(module))
    except SystemExit as end:
        return _status(end)
    except Exception as error:
        sys.stdout.flush()
        _tell(error, script)
        return FOUND
    return NOTHING


def _status(end: SystemExit) -> int:
    """The exit status that Python would end with."""
    if end.code is None:
        return NOTHING
    if isinstance(end.code, int):
        return end.code
    complain(str(end.code))
    return FOUND


def _tell(error: Exception, script: str) -> None:
    """The traceback of the program alone, and what is known of the line that failed."""
    import traceback

    told = traceback.TracebackException.from_exception(error)
    inside: traceback.TracebackException | None = told
    while inside is not None:
        inside.stack = traceback.StackSummary.from_list(
            [frame for frame in inside.stack if not _ours(frame.filename)]
        )
        inside = inside.__cause__ or (None if inside.__suppress_context__ else inside.__context__)
    sys.stderr.write("".join(told.format()))
    rows = [(frame.filename, frame.lineno) for frame in told.stack]
    diagnosis = _diagnosis(error, script, rows)
    if diagnosis:
        sys.stderr.write("\n" + diagnosis)


def _ours(filename: str) -> bool:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.abspath(filename).startswith(package + os.sep)


def _diagnosis(error: Exception, script: str, rows: Sequence[tuple[str, int | None]]) -> str:
    """What `gradtrail check` finds on the innermost line that it knows of; else the law, if it is one."""
    from gradtrail.findings.engine import check_paths
    from gradtrail.laws.messages import recognise
    from gradtrail.reports import terminal

    if isinstance(error, ImportError):
        wanted = re.match(r"cannot import name '(\w+)' from '(torch[\w.]*)'", str(error))
        return f"gradtrail.tiny has no `{wanted[2]}.{wanted[1]}`\n" if wanted else ""
    law = recognise(type(error).__name__, str(error))
    report = check_paths([script])
    here = {(os.path.abspath(filename), row) for filename, row in rows}
    found = [
        each for each in report.findings if (os.path.abspath(each.place.filename), each.place.row) in here
    ]
    if found:
        style = terminal.Style(output_width(), wants_colour("auto"), current_folder())
        return "\n".join(terminal.render_one(each, report.sources.get, style) for each in found)
    return say("law:") + gap_behind(say("law:")) + say(law.law) + "\n" if law else ""
