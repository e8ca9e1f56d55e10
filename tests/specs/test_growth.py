"""Values that a program doubles again and again: what is kept of them stays small, and the walk ends."""

from __future__ import annotations

import pytest

from gradtrail.interp.inspect import refusals

DOUBLING = (
    "t = t + t",
    "t += t",
    "t = [*t, *t]",
    "t = t * 2",
    "t.extend(t)",
    "t = [x for a in (t, t) for x in a]",
    "t = [t, t]",
    "t = sorted(t + t)",
    "t = sum([t, t], [])",
    "t = list(itertools.chain(t, t))",
    "t = list(itertools.product(t, t))",
    "t = list(enumerate(t)) + list(zip(t, t))",
    "h(*t, *t)",
    "s = s + s",
    "s = f'{s}{s}'",
    "s = s.replace('a', 'a' * 40)",
    "s = '%s%s' % (s, s)",
    "s = '{0}{0}'.format(s)",
    "s = s.join([s, s])",
    "n = n * n",
    "n = n ** n",
    "n = n << n",
    "x = torch.cat([x, x])",
    "x = torch.stack([x, x])",
    "x = x + x * x",
    "m = nn.Sequential(m, m)",
    "g = lambda y, g=g: g(g(y)); g(x)",
)


@pytest.mark.parametrize("line", DOUBLING)
def test_what_doubles(line: str) -> None:
    program = f"""\
import itertools
import torch
from torch import nn
def h(*args):
    return args
g, m, n, s, t = h, nn.Linear(2, 2), 3, "ab", [1, 2]
x = torch.ones(2, requires_grad=True)
{(line + chr(10)) * 60}x.sum().backward()
"""
    assert refusals(program) == []
