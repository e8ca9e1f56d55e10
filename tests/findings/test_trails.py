"""Trails tell what happened in the order in which it happened, each thing once."""

from __future__ import annotations

import textwrap

from gradtrail.findings.engine import check_source


def trail(program: str) -> list[str]:
    """The steps of the only finding, as `row: text`, without the last one."""
    (found,) = check_source(textwrap.dedent(program))
    return [f"{step.place.row}: {step.text}" for step in found.trail[:-1]]


def test_calls_come_before_what_happens_in_them() -> None:
    assert trail(
        """\
        import torch
        def make(scale):
            w = torch.zeros(3, requires_grad=True)
            return w * scale
        def build():
            return make(0.1)
        p = build()
        torch.optim.SGD([p], lr=0.1)
        """
    ) == [
        "7: `build` is called here",
        "6: `make` is called here",
        "3: a leaf: you created it",
        "4: `*` returns a new tensor, computed from the ones before",
    ]


def test_the_move_of_a_module_is_told_where_devices_matter() -> None:
    assert trail(
        """\
        import torch
        model = torch.nn.Linear(3, 1)
        model.to("meta")
        x = torch.zeros(4, 3)
        model(x)
        """
    ) == [
        "2: a parameter of the module made here",
        "3: moved to `meta` with its module",
        "4: created here, on the CPU",
    ]


def test_a_write_in_place_is_told_once_and_as_it_is_written() -> None:
    assert trail(
        """\
        import torch
        a = torch.zeros(3, requires_grad=True)
        b = a.exp()
        b += 1
        b[0] = 2
        b.sum().backward()
        """
    ) == [
        "2: a leaf: you created it",
        "3: `exp` returns a new tensor, computed from the ones before",
        "3: `exp` keeps it for backward",
        "4: `+=` writes it in place and gives it a new `grad_fn`",
        "5: `[...] =` writes it in place and gives it a new `grad_fn`",
    ]


def test_the_call_in_the_failing_function_outlives_others_in_a_long_trail() -> None:
    steps = trail(
        """\
        import torch
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = torch.nn.Linear(2, 2)
            def forward(self, x):
                x = self.a(x)
                x = x.sin()
                x = x.cos()
                x = x.exp()
                x = x.tanh()
                return x.abs()
        def outer(net, x):
            return net(x)
        def show(net, x):
            y = outer(net, x)
            return y.numpy()
        show(Net(), torch.zeros(1, 2))
        """
    )
    assert len(steps) <= 7
    assert "16: `outer` is called here" in steps
    assert not any("`Net` is called" in step for step in steps)
