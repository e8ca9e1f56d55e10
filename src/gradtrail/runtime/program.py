"""A script or a module, run as `python SCRIPT` or `python -m MODULE` runs it.

Source: the Python documentation, "Command line and environment", "Interface options", and `runpy`.
"""

from __future__ import annotations

import atexit
import builtins
import importlib.machinery
import importlib.util
import os
import signal
import sys
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from gradtrail.laws.text import text
from gradtrail.runtime.user_code import PACKAGE
from gradtrail.source.reading import Unreadable, read_data

_MAIN = "__main__"


class Program(NamedTuple):
    """What is to be run: its code, what its `__main__` module knows of itself, and where its imports are looked for.

    `name` is `sys.argv[0]`, `folder` comes first in `sys.path` ("" is the folder that Python is in).
    """

    code: types.CodeType
    name: str
    folder: str
    knows: dict[str, object]


def script(path: str) -> Program:
    """The script at `path`, or what a folder or a zip archive holds as `__main__.py`. Raises `Unreadable`, `SyntaxError`."""
    if os.path.isdir(path) or _is_archive(path):
        return _container(path)
    data = read_data(path)
    filename = path if os.path.isabs(path) else os.path.join(os.getcwd(), path.removeprefix(f".{os.sep}"))
    knows: dict[str, object] = {
        "__file__": filename,
        "__cached__": None,
        "__loader__": importlib.machinery.SourceFileLoader(_MAIN, filename),
        "__package__": None,
        "__spec__": None,
    }
    return Program(_compiled(data, filename), path, os.path.dirname(os.path.realpath(path)), knows)


def module(name: str) -> Program:
    """The module `name`, or the `__main__` of the package of that name. Raises `Unreadable`, `SyntaxError`.

    As Python does, this imports the packages that the module lies in.
    """
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.{_MAIN}")
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    except ValueError:
        spec = None
    if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        raise Unreadable(name, text("there is no module of Python code with this name"))
    code = spec.loader.get_code(spec.name)
    if code is None:
        raise Unreadable(name, text("there is no module of Python code with this name"))
    knows: dict[str, object] = {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }
    return Program(code, spec.origin or name, os.getcwd(), knows)


def _is_archive(path: str) -> bool:
    import zipfile

    return os.path.isfile(path) and not path.endswith(".py") and zipfile.is_zipfile(path)


def _container(path: str) -> Program:
    import pkgutil

    importer = pkgutil.get_importer(os.path.abspath(path))
    spec = importer.find_spec(_MAIN) if importer is not None else None
    get_code = getattr(spec.loader, "get_code", None) if spec is not None else None
    if spec is None or get_code is None:
        raise Unreadable(path, text("has no `__main__.py` to run"))
    knows: dict[str, object] = {
        "__file__": spec.origin,
        "__cached__": None,
        "__loader__": spec.loader,
        "__package__": "",
        "__spec__": spec,
    }
    return Program(get_code(_MAIN), path, os.path.abspath(path), knows)


def _compiled(data: bytes, filename: str) -> types.CodeType:
    return compile(data, filename, "exec", dont_inherit=True)


def take_the_place_of_main(program: Program, arguments: Sequence[str]) -> types.ModuleType:
    """Make `__main__`, `sys.argv` and `sys.path` what they are where Python runs the program itself.

    `arguments` are those behind its name. The new `__main__` comes back.
    """
    first_is_ours = _first_is_ours()
    main = types.ModuleType(_MAIN)
    vars(main).update({"__doc__": None, "__builtins__": builtins, **program.knows})
    sys.modules[_MAIN] = main
    sys.argv = [program.name, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        if first_is_ours:
            sys.path[0] = program.folder
        else:
            sys.path.insert(0, program.folder)
    return main


def _first_is_ours() -> bool:
    """Whether Python has put something first in `sys.path` for us: the folder of the console script. For -m it is gone."""
    main = sys.modules[_MAIN]
    if getattr(main, "__spec__", None) is not None:  # python -m gradtrail
        return False
    started = getattr(main, "__file__", None)
    here = os.path.dirname(os.path.realpath(started)) if started else None
    return bool(sys.path) and here is not None and os.path.realpath(sys.path[0]) == here


def execute(program: Program, main: types.ModuleType) -> BaseException | None:
    """Run the program to its end; what it raised comes back, `SystemExit` included."""
    try:
        exec(program.code, vars(main))
    except BaseException as error:
        return error
    return None


def status_of(end: SystemExit) -> int:
    """The exit status that Python ends with; a message in place of a number is written to standard error."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code if 0 <= end.code < 2**31 else 255 if end.code >= 2**63 else end.code % 256
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{end.code}\n")
    return 1


def tell(error: BaseException) -> None:
    """What Python does of an error that nobody caught: the traceback, by the hook that the program has set."""
    with suppress(OSError, ValueError, AttributeError):  # what the program printed comes first
        sys.stdout.flush()
    kind, trace = type(error), error.__traceback__
    sys.last_type, sys.last_value, sys.last_traceback = kind, error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    try:
        sys.excepthook(kind, error, trace)
    except SystemExit:
        raise
    except BaseException as wrong:
        without_frames_of(PACKAGE, wrong)
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.write("Error in sys.excepthook:\n")
            sys.__excepthook__(type(wrong), wrong, wrong.__traceback__)
            sys.stderr.write("\nOriginal exception was:\n")
            sys.__excepthook__(kind, error, trace)


def end_by_interrupt() -> None:
    """Arrange that the process ends as an interrupted Python does: by the signal itself, once all else is done."""

    def end() -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)

    at_the_very_end(end)


def at_the_very_end(function: Callable[[], None]) -> None:
    """Call `function` after whatever else was registered for the end of the process."""
    _last.append(function)


_last: list[Callable[[], None]] = []


@atexit.register
def _end() -> None:
    """Registered before any program runs: so it is called last."""
    for function in _last:
        function()


def without_frames_of(package: str, error: BaseException) -> None:
    """Take the frames of the code in the folder `package` out of the traceback of an error, and of those it came from."""
    _strip(error, package + os.sep, set())


def _strip(error: BaseException, package: str, seen: set[int]) -> None:
    if id(error) in seen:
        return
    seen.add(id(error))
    traces = []
    trace = error.__traceback__
    while trace is not None:
        traces.append(trace)
        trace = trace.tb_next
    rest: types.TracebackType | None = None
    for each in reversed(traces):
        if not os.path.abspath(each.tb_frame.f_code.co_filename).startswith(package):
            rest = types.TracebackType(rest, each.tb_frame, each.tb_lasti, each.tb_lineno)
    error.__traceback__ = rest
    for other in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        if isinstance(other, BaseException):
            _strip(other, package, seen)
