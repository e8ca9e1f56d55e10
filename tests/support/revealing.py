"""Run a program on torch that calls `reveal(value)`, and record what is true there.

A program may use three names that nobody defines. `reveal(value)` records the value and returns it.
`flag()` gives True or False, by the schedule of the run: nobody who reads the program can know it.
`opaque(value)` gives the value back, which nobody who reads the program can know either.
"""

from __future__ import annotations

import builtins
import contextlib
import random
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

import torch

from support.facts import BadFact, holds, known_facts

SCHEDULES: tuple[tuple[bool, ...], ...] = (
    (True, True, True, False),
    (False,),
    (True, False),
    (False, True, True),
)
"""What `flag()` gives, in turn and over again. None is true for ever: a loop that asks comes to an end."""

MOST_ANSWERS = 10_000

Row = tuple[str, int]
"""A file name and a row."""


class TooManyAnswers(BaseException):
    """A program that asks `flag()` for ever."""


class Seen(NamedTuple):
    """What was seen at one call of `reveal`: facts that hold, asked ones that do not, and bad ones."""

    row: Row
    true: frozenset[str]
    false: frozenset[str]
    bad: tuple[str, ...]


def false_in_every_context(seen: Seen, contexts: Sequence[frozenset[str]]) -> frozenset[str]:
    """The facts that are false of what was seen, when no context of the row describes it; else none.

    A row may be passed in several contexts (calls, rounds), each with facts of its own. What torch
    shows has to lie in one of them.
    """
    wrong = [facts & seen.false for facts in contexts]
    return min(wrong, key=len) if wrong else frozenset()


class Raised(NamedTuple):
    """An exception that passed through the program, at the innermost row of it, caught or not."""

    row: Row
    error_type: str
    text: str


class Record(NamedTuple):
    """A run: what was revealed and raised, in order, and the exception that ended it.

    `reached` has the rows that it passed, and how often the function that a row is in was called.
    """

    seen: tuple[Seen, ...]
    raised: tuple[Raised, ...]
    ended_by: str | None
    reached: dict[Row, int]


class _Recorder:
    """Hears `reveal` and the tracing of one run."""

    def __init__(self, codes: Iterable[str], asked: Mapping[Row, Iterable[str]]) -> None:
        self.files = frozenset(codes)
        self.asked = asked
        self.seen: list[Seen] = []
        self.raised: list[Raised] = []
        self.codes: dict[Row, CodeType] = {}
        self.calls: Counter[CodeType] = Counter()

    def reveal(self, value: Any) -> Any:
        """What the program calls."""
        frame = sys._getframe(1)
        while frame.f_code.co_filename not in self.files and frame.f_back is not None:
            frame = frame.f_back
        row = (frame.f_code.co_filename, frame.f_lineno)
        true, false, bad = known_facts(value), set(), []
        for fact in self.asked.get(row, ()):
            try:
                (true if holds(fact, value, frame) else false).add(fact)
            except BadFact as error:
                bad.append(f"{fact}: {error}")
        self.seen.append(Seen(row, frozenset(true), frozenset(false), tuple(bad)))
        return value

    def trace(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """What `sys.settrace` calls."""
        if frame.f_code.co_filename not in self.files:
            return None
        if event == "call":
            self.calls[frame.f_code] += 1
        elif event == "line":
            self.codes[frame.f_code.co_filename, frame.f_lineno] = frame.f_code
        elif event == "exception":
            kind, error, traceback = argument
            if not issubclass(kind, (StopIteration, GeneratorExit)) and not self._passed_before(traceback):
                row = (frame.f_code.co_filename, frame.f_lineno)
                self.raised.append(Raised(row, kind.__name__, str(error)))
        return self.trace

    def reached(self) -> dict[Row, int]:
        """The rows that were passed, and how often the function that each is in was called."""
        return {row: self.calls[code] for row, code in self.codes.items()}

    def _passed_before(self, traceback: Any) -> bool:
        """Whether the exception came out of another frame of the program, and so is known already."""
        inner = traceback.tb_next
        while inner is not None:
            if inner.tb_frame.f_code.co_filename in self.files:
                return True
            inner = inner.tb_next
        return False


def run(
    files: Mapping[str, str],
    main: str,
    schedule: tuple[bool, ...] = (True,),
    asked: Mapping[Row, Iterable[str]] | None = None,
    run_name: str = "__main__",
) -> Record:
    """Run the file `main` of `files`; the others can be imported by it.

    `asked` gives, by row, the facts to ask torch about at each call of `reveal` there. Whatever the
    program does to torch's modes is undone.
    """
    recorder = _Recorder(files, asked or {})
    turn = 0

    def flag() -> bool:
        nonlocal turn
        turn += 1
        if turn > MOST_ANSWERS:
            raise TooManyAnswers
        return schedule[(turn - 1) % len(schedule)]

    codes = {name: compile(text, name, "exec") for name, text in files.items()}
    ended_by = None
    with (
        _names(reveal=recorder.reveal, flag=flag, opaque=lambda value: value),
        _modules(codes, main),
        _modes(),
    ):
        space: dict[str, Any] = {"__name__": run_name, "__file__": main}
        before = sys.gettrace()
        sys.settrace(recorder.trace)
        try:
            exec(codes[main], space)
        except Exception as error:
            ended_by = f"{type(error).__name__}: {error}"
        finally:
            sys.settrace(before)
    return Record(tuple(recorder.seen), tuple(recorder.raised), ended_by, recorder.reached())


@contextlib.contextmanager
def _names(**names: Any) -> Iterator[None]:
    """The names as builtins, for the length of a run."""
    vars(builtins).update(names)
    try:
        yield
    finally:
        for name in names:
            delattr(builtins, name)


@contextlib.contextmanager
def _modules(codes: Mapping[str, CodeType], main: str) -> Iterator[None]:
    """Make every file but `main` importable under its name, for the length of a run."""
    finder = _Finder({name[:-3].replace("/", "."): code for name, code in codes.items() if name != main})
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in finder.codes:
            sys.modules.pop(name, None)


class _Finder:
    """Finds the modules that a program consists of."""

    def __init__(self, codes: Mapping[str, CodeType]) -> None:
        self.codes = codes

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """The import protocol."""
        return ModuleSpec(name, self) if name in self.codes else None  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> None:
        """The import protocol: an ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        """The import protocol."""
        exec(self.codes[module.__name__], vars(module))


@contextlib.contextmanager
def _modes() -> Iterator[None]:
    """Torch as it is at the start, and again afterwards."""
    torch.manual_seed(0)
    random.seed(0)
    dtype, enabled = torch.get_default_dtype(), torch.is_grad_enabled()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(enabled)
