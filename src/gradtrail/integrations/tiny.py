"""`gradtrail tiny SCRIPT`: run a program with `gradtrail.tiny` in the place of torch."""

from __future__ import annotations

import builtins
import gc
import os
import re
import sys
import threading
import types
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader

from gradtrail.integrations.command import FOUND, INTERRUPTED, NOTHING, USAGE
from gradtrail.integrations.output import complain, current_folder, output_width, wants_colour
from gradtrail.laws.text import say
from gradtrail.reports.cells import gap_behind, wrap
from gradtrail.runtime import program
from gradtrail.runtime.user_code import PACKAGE
from gradtrail.source.reading import Unreadable, read_data


def run(arguments: Sequence[str], to_the_end: bool = False) -> int:
    """Run the script that `arguments` begin with; its exit status comes back.

    `to_the_end` is for a process of its own: tiny then stays in the place of torch until the process ends, for what
    the program still does in threads and at exit.
    """
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
    place = _PlaceOfTorch()
    place.take(tiny.modules(), script, arguments)
    if to_the_end:
        gc.enable()
        return _run_as_main(script, source)
    try:
        return _run_as_main(script, source)
    finally:
        place.give_back()


def _help() -> str:
    told = say(
        "Runs a program with gradtrail.tiny in the place of torch: an autograd small enough to read, with the laws and"
        " the messages of torch. It needs numpy and no GPU: `cuda` is a pretend device. Where the program breaks a law,"
        " what `gradtrail check` says of it follows the traceback."
    )
    usage = say("usage: ") + "gradtrail tiny [-h] SCRIPT [ARGUMENT ...]"
    return "\n".join([usage, "", *wrap(told, output_width())]) + "\n"


class _Refusing(Loader):
    """Loads nothing: it tells that tiny has not the module."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Refuse."""
        raise ModuleNotFoundError(f"gradtrail.tiny has no `{spec.name}`", name=spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Never reached."""


class _Missing(MetaPathFinder):
    """Finds the modules of torch that tiny has not, before another torch is found; to import one is refused."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Take what belongs to torch; the rest is for other finders."""
        return ModuleSpec(name, _Refusing()) if name.partition(".")[0] == "torch" else None


class _PlaceOfTorch:
    """Tiny's modules in the place of torch, and `sys.argv`, `sys.path` as Python sets them."""

    def __init__(self) -> None:
        self.before = {name: each for name, each in sys.modules.items() if _is_torch(name)}
        self.main, self.argv, self.path = sys.modules["__main__"], sys.argv, list(sys.path)
        self.thread_hook = threading.excepthook
        self.finder = _Missing()

    def take(self, modules: dict[str, types.ModuleType], script: str, arguments: Sequence[str]) -> None:
        """Put tiny there."""
        for name in self.before:
            del sys.modules[name]
        sys.modules.update(modules)
        sys.meta_path.insert(0, self.finder)
        sys.argv = list(arguments)
        sys.path.insert(0, os.path.dirname(os.path.realpath(script)))
        threading.excepthook = _tell_of_thread

    def give_back(self) -> None:
        """Put there what was there before, whatever the program has done to it."""
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        for name in [name for name in sys.modules if _is_torch(name)]:
            del sys.modules[name]
        sys.modules.update(self.before)
        sys.modules["__main__"], sys.argv, sys.path[:] = self.main, self.argv, self.path
        threading.excepthook = self.thread_hook


def _is_torch(name: str) -> bool:
    return name.partition(".")[0] == "torch"


def _run_as_main(script: str, source: bytes) -> int:
    module, path = types.ModuleType("__main__"), os.path.abspath(script)
    vars(module).update(
        __file__=path, __builtins__=builtins, __cached__=None, __loader__=SourceFileLoader("__main__", path)
    )
    sys.modules["__main__"] = module
    try:
        exec(compile(source, path, "exec", dont_inherit=True), vars(module))
    except SystemExit as end:
        return program.status_of(end)
    except BaseException as error:
        _tell(error, path)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else FOUND
    return NOTHING


def _tell(error: BaseException, script: str) -> None:
    """The traceback of the program alone, and what is known of the line that failed."""
    program.without_frames_of(PACKAGE, error)
    program.tell(error)
    diagnosis = _diagnosis(error, script)
    if diagnosis and sys.stderr:
        sys.stderr.write("\n" + diagnosis)


def _tell_of_thread(hooked: threading.ExceptHookArgs) -> None:
    """The same for an error that ends a thread; the program goes on."""
    if hooked.exc_value:
        program.without_frames_of(PACKAGE, hooked.exc_value)
        hooked = threading.ExceptHookArgs(
            (hooked.exc_type, hooked.exc_value, hooked.exc_value.__traceback__, hooked.thread)
        )
    threading.__excepthook__(hooked)


def _diagnosis(error: BaseException, script: str) -> str:
    """What `gradtrail check` finds where the error was raised, of the rules that hear this law; else the law."""
    from gradtrail.tiny import NotInTiny

    if isinstance(error, NotInTiny):
        return ""
    if isinstance(error, ImportError):
        wanted = re.match(r"cannot import name '(\w+)' from '(torch[\w.]*)'", str(error))
        return f"gradtrail.tiny has no `{wanted[2]}.{wanted[1]}`\n" if wanted else ""
    from traceback import extract_tb

    from gradtrail.laws.wordings import Went, recognise

    went = [Went(each.filename, each.name, each.line or "") for each in extract_tb(error.__traceback__)]
    law = recognise(type(error).__name__, str(error), went)
    if law is None:
        return ""
    from gradtrail.findings.answers import answer
    from gradtrail.findings.engine import check_paths
    from gradtrail.reports import terminal

    names = {rule.name for rule in answer(law.key).rules}
    rows = _rows(error)
    paths = list(dict.fromkeys([script, *(filename for filename, _ in rows)]))
    report = check_paths(paths, comments_hide=False)
    for row in rows:
        for each in report.findings:
            if each.rule in names and (os.path.abspath(each.place.filename), each.place.row) == row:
                style = terminal.Style(output_width(), wants_colour("auto"), current_folder())
                return terminal.render_one(each, report.sources.get, style)
    return say("law:") + gap_behind(say("law:")) + say(law.law) + "\n"


def _rows(error: BaseException) -> list[tuple[str, int]]:
    """Where the error went through the program's own files, the innermost place first."""
    rows: list[tuple[str, int]] = []
    trace = error.__traceback__
    while trace is not None:
        filename = os.path.abspath(trace.tb_frame.f_code.co_filename)
        if os.path.isfile(filename) and "site-packages" not in filename:
            rows.insert(0, (filename, trace.tb_lineno))
        trace = trace.tb_next
    return rows
