"""Frames, scopes and the signals by which control leaves a block."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gradtrail.interp.values import MISSING

if TYPE_CHECKING:
    from gradtrail.interp.heap import Snapshot
    from gradtrail.interp.project import Space
    from gradtrail.interp.values import Function

NORMAL, RETURN, BREAK, CONTINUE, GONE = range(5)
"""How a block ends. GONE: every way through it left for somewhere that has been noted already."""


class PathEnds(Exception):
    """This path of the program ends here: torch certainly raises, or the program itself does."""


class BudgetSpent(Exception):
    """The work on one entry point has reached its limit."""


class Exits:
    """The states in which some paths have left a scope early, by the signal they left with."""

    __slots__ = ("body", "level", "started", "taken")

    def __init__(self, level: int) -> None:
        self.level = level
        self.started = 0  # of a loop: the time when it began
        self.body: list[Any] = []  # of a loop: its statements
        self.taken: list[tuple[int, Any, Snapshot]] = []


class Frame:
    """The run of one function, class body, comprehension or module body.

    `names` are the local names, or the space's names at module level. `scope` is the frame of the
    function it was defined in. `caller` and `call` say where it was called from.
    """

    __slots__ = (
        "call",
        "caller",
        "captured",
        "depth",
        "exits",
        "function",
        "guarded",
        "loops",
        "managers",
        "names",
        "outer",
        "owner",
        "receiver",
        "scope",
        "space",
        "time",
        "value",
    )  # fmt: skip

    def __init__(
        self, names: dict[str, Any], space: Space, scope: Frame | None, caller: Frame | None, call: Any
    ) -> None:
        self.names = names
        self.space = space
        self.scope = scope
        self.function: Function | None = None
        self.caller = caller
        self.captured = False  # a function that was defined here may read the names later
        self.call = call
        self.depth: int = 0 if caller is None else caller.depth + 1
        self.exits: Exits | None = None
        self.loops: list[tuple[Exits, Exits, int]] = []  # breaks, continues, open with-blocks
        self.receiver: Any = MISSING
        self.owner: Any = None
        self.value: Any = None
        self.outer: dict[str, Frame | None] | None = None  # names declared global (None) or nonlocal
        self.guarded = 0  # inside a try whose handlers, or a with, take what torch raises
        self.time = 0  # the serial number of the machine when the function began
        self.managers: list[Any] = []  # of the with-blocks that are open in this frame


_WITHOUT_BLOCKS = frozenset(
    (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Pass, ast.Import,
     ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
)  # fmt: skip
"""Statements in which none of a function's own stand: most of them."""


def returns_within(node: Any) -> bool:
    """Whether a function returns from within a branch, a loop or another block; remembered on its node."""
    known = getattr(node, "gradtrail_returns_within", None)
    if known is None:
        known = node.gradtrail_returns_within = any(
            _returns(inner) for statement in node.body for inner in _blocks_of(statement)
        )
    return bool(known)


def _returns(block: list[ast.stmt]) -> bool:
    return any(
        type(statement) is ast.Return or any(map(_returns, _blocks_of(statement))) for statement in block
    )


def _blocks_of(statement: Any) -> Iterable[list[ast.stmt]]:
    """The blocks that a statement holds, those of definitions left out."""
    if type(statement) in _WITHOUT_BLOCKS:
        return
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body
