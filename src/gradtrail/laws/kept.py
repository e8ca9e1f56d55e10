"""What recurrent layers and attention keep for backward: layers of several operations, told as one.

A row holds pairs (what is kept, of which one must require grad): names of the forward's arguments, and of
parameters, where `*` stands for any ending. Without the second part it is kept whenever the result requires
grad. Every row is asked of torch by `tests/laws/test_kept.py`, which writes in place and goes backward.
"""

from __future__ import annotations

Kept = tuple[tuple[str, tuple[str, ...]], ...]

_CELL: Kept = (
    ("input", ("weight_ih",)),
    ("hx", ("weight_hh",)),
    ("weight_ih", ("input",)),
    ("weight_hh", ("hx",)),
)

_ROWS: dict[str, Kept] = {
    "RNNCell": _CELL,
    "GRUCell": _CELL,
    "LSTMCell": _CELL,
    "RNN": (("hx", ("weight_hh_l0",)), ("weight_ih_l0", ("input",)), ("weight_hh_l*", ())),
    "GRU": (("hx", ("weight_hh_l0",)), ("weight_ih_l0", ("input",)), ("weight_hh_l*", ())),
    "LSTM": (("hx", ()), ("weight_*", ()), ("bias_*", ())),
}


def kept(module: str) -> Kept:
    """What the class of torch.nn keeps; nothing is said of one without a row."""
    return _ROWS.get(module, ())


def names() -> tuple[str, ...]:
    """The classes with a row."""
    return tuple(_ROWS)


def fits(pattern: str, name: str) -> bool:
    """Whether the name of an argument or a parameter is meant by a pattern of a row."""
    return name == pattern or (pattern.endswith("*") and name.startswith(pattern[:-1]))
