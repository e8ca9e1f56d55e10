"""What a program calls itself: `gradtrail.install()`, `with gradtrail.watch():`, `gradtrail.why(tensor)`."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any

from gradtrail.findings.diagnostic import Diagnostic
from gradtrail.integrations.observing import Observer, Options
from gradtrail.integrations.output import current_folder, output_width
from gradtrail.runtime.places import Sources
from gradtrail.runtime.processes import children
from gradtrail.runtime.session import STEPS
from gradtrail.runtime.user_code import Station, innermost_users


def install(
    *,
    steps: int = STEPS,
    full: bool = False,
    output_format: str = "terminal",
    output_file: str | None = None,
    color: str = "auto",
) -> None:
    """Observe this program from here on, as `gradtrail run` does; once is enough, further calls change nothing.

    `steps` is how many steps of each optimizer are watched, 0 for none: then only what is raised is explained. With `full`
    every line is recorded to the end, with the calls that lead to it, which is slower.
    `output_format` is "terminal", "concise", "json" or "markdown", and `output_file` where the report goes in place of standard
    error. In IPython and Jupyter the explanation stands under the traceback.
    """
    if observers or children.is_arriving():
        return
    options = _options(steps, output_format, output_file, color)
    options.full = full
    observer = Observer(options, _main_file())
    observers.append(observer)
    _Hooked(observer).take()
    observer.begin()
    from gradtrail.integrations import ipython

    ipython.attach_to_running_shell(observer)


observers: list[Observer] = []
"""The observer of this process, once it is installed."""


class _Hooked:
    """Python's hook for exceptions that nobody caught, ours behind what was there; and the end of the program."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._crashed = False

    def take(self) -> None:
        """From now on ours is asked too."""
        self._before = sys.excepthook
        sys.excepthook = self._raised
        atexit.register(self._ended)

    def _raised(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._before(kind, error, trace)
        if not isinstance(error, KeyboardInterrupt):
            self._crashed = True
            self._observer.crashed(error)

    def _ended(self) -> None:
        if not self._crashed:
            self._observer.ended()


class watch:  # it is used as a function is
    """Observe what a block does: `with gradtrail.watch() as found: ...`.

    What is found is told at the end of the block, on standard error unless `quiet`, and stays in `findings`. An exception
    goes on as it came. The options are those of `install`.
    """

    def __init__(self, *, steps: int = STEPS, quiet: bool = False, color: str = "auto") -> None:
        self._options = _options(steps, "terminal", None, color)
        self._quiet = quiet
        self.findings: Sequence[Diagnostic] = ()

    def __enter__(self) -> watch:
        """Observe from now on."""
        self._observer = Observer(self._options, None)
        self._observer.quiet = self._quiet
        self._observer.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Tell what was found."""
        if error is not None and not isinstance(error, (KeyboardInterrupt, SystemExit)):
            self._observer.crashed(error)
        else:
            self._observer.ended()
        self._observer.leave()
        self.findings = tuple(self._observer.session.report().findings)


class Trail:
    """What is known of a tensor: `str` of it is the page that `why` prints."""

    def __init__(self, page: str) -> None:
        self.page = page

    def __str__(self) -> str:
        """The page."""
        return self.page

    def __repr__(self) -> str:
        """Its first line: the page itself has been printed."""
        return f"<{self.page.partition(chr(10))[0]}>"


def why(tensor: Any) -> Trail:
    """Print what `tensor` is and how it became so, and return it.

    Leaf or not, whether it requires grad, which operations on which lines made it, as a tree down to the leaves that it reaches,
    and what was cut. The lines are those that were recorded: after `install()`, under `gradtrail run`, in `watch()`.
    Raises `TypeError` for what is no tensor.
    """
    from gradtrail.reports import why as page
    from gradtrail.runtime import why as live

    observer = next(reversed(Observer.running), None)
    sources = observer.session.sources if observer is not None else Sources()
    recorder = observer.session.recorder if observer is not None else None
    frame = innermost_users(sys._getframe(1))
    seen = live.seen(tensor, _station(frame), recorder, sources)
    source = None if seen.place is None else sources.get(seen.place.filename)
    line = (
        source.line(seen.place.row, seen.place.cell) if source is not None and seen.place is not None else ""
    )
    told = page.render_live(seen.place, line, seen.value, current_folder(), output_width())
    sys.stdout.write(told)
    return Trail(told)


def _station(frame: FrameType | None) -> Station | None:
    return None if frame is None else Station(frame, frame.f_code, frame.f_lasti, frame.f_lineno)


def _options(steps: int, output_format: str, output_file: str | None, color: str) -> Options:
    options = Options()
    options.steps = steps
    options.output_format = output_format
    options.output_file = output_file
    options.color = color
    return options


def _main_file() -> str | None:
    return getattr(sys.modules.get("__main__"), "__file__", None)
