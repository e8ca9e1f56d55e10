"""How a tensor is printed: as torch prints it, with four places, in rows of eighty signs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtrail.tiny.autograd import Tensor
from gradtrail.tiny.operations import methods
from gradtrail.tiny.values import Array, float32, float64

WIDTH, EDGE, MANY = 80, 3, 1000
"""Signs in a row; how many numbers are shown at each end of a long row; what counts as many."""


class Form:
    """How numbers are shown that stand together: whole ones without places, powers where sizes differ much."""

    def __init__(self, array: Array) -> None:
        self.is_float, self.whole, self.powers, self.width = array.dtype.kind == "f", True, False, 1
        numbers = array.reshape(-1).astype("f8" if self.is_float else array.dtype)
        if self.is_float:
            numbers = numbers[np.isfinite(numbers) & (numbers != 0)]
            if not numbers.size:
                return
            self.whole = bool(np.all(numbers == np.ceil(numbers)))
            least, most = float(np.abs(numbers).min()), float(np.abs(numbers).max())
            self.powers = most / least > 1000 or most > 1e8 or (not self.whole and least < 1e-4)
        self.width = max((len(self.bare(each)) for each in numbers.tolist()), default=1)

    def bare(self, number: Any) -> str:
        """The number alone."""
        if not self.is_float:
            return str(number)
        if self.powers:
            return f"{number:.4e}"
        return f"{number:.0f}" + "." * math.isfinite(number) if self.whole else f"{number:.4f}"

    def __call__(self, number: Any) -> str:
        """The number in the width of all."""
        return self.bare(number).rjust(self.width)


def shortened(array: Array) -> Array:
    """The numbers that are shown of many: those at the ends."""
    for axis, size in enumerate(array.shape):
        if size > 2 * EDGE:
            array = np.take(array, [*range(EDGE), *range(size - EDGE, size)], axis)
    return array


def text_of(array: Array, indent: int, is_short: bool, form: Form) -> str:
    """The numbers in brackets."""
    if not array.ndim:
        return form(array.item())
    rows = [None, *range(len(array))][1:]
    gap: list[Any] = []
    if is_short and len(array) > 2 * EDGE:
        rows, gap = [*range(EDGE), *range(len(array) - EDGE, len(array))], ["..."]
    if array.ndim > 1:
        parts = [text_of(array[row], indent + 1, is_short, form) for row in rows]
        parts[EDGE:EDGE] = gap
        return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"
    numbers = [form(each) for each in array[rows].tolist()]
    numbers[EDGE:EDGE] = [" ..."] * len(gap)
    in_a_row = max(1, (WIDTH - indent) // (form.width + 2))
    lines = [", ".join(numbers[i : i + in_a_row]) for i in range(0, len(numbers), in_a_row)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _notes(self: Tensor) -> list[str]:
    notes = [f"device='{self.device}'"] if self.is_cuda else []
    if not self.numel() and self.ndim != 1:
        notes.append(f"size={tuple(self.shape)}")
    if self.dtype is float64 or not (self.numel() or self.dtype is float32):
        notes.append(f"dtype={self.dtype}")
    try:
        node = self.grad_fn
        name = node and type(node).__name__
    except RuntimeError:
        name = "Invalid"
    if name:
        notes.append(f"grad_fn=<{name}>")
    elif self.requires_grad:
        notes.append("requires_grad=True")
    return notes


def _text(self: Tensor, *, tensor_contents: Any = None) -> str:
    is_short, begin = self.numel() > MANY, len("tensor(")
    form = Form(shortened(self._array) if is_short else self._array)
    text = "tensor(" + (text_of(self._array, begin, is_short, form) if self.numel() else "[]")
    reach = len(text) - text.rfind("\n") + 1
    for note in _notes(self):
        fits = reach + len(note) + 2 <= WIDTH
        text += (", " if fits else ",\n" + " " * begin) + note
        reach = reach + len(note) + 2 if fits else begin + len(note)
    return text + ")"


methods(__repr__=_text)
