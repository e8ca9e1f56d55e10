"""The pretend device: numpy cannot reach it, moves are computed tensors, and operations stay on one device.

The messages of a GPU's kernels are read in torch's source; the one about numpy is held to torch on `meta`.
"""

from __future__ import annotations

import pytest
import torch

from gradtrail import tiny


def test_numpy_cannot_reach_it() -> None:
    with pytest.raises(TypeError) as ours:
        tiny.ones(2).cuda().numpy()
    with pytest.raises(TypeError) as theirs:
        torch.ones(2, device="meta").numpy()
    assert str(ours.value).replace("cuda:0", "meta") == str(theirs.value)


def test_a_move_is_computed_and_no_move_is_the_same_tensor() -> None:
    leaf = tiny.ones(2, requires_grad=True)
    moved = leaf.to("cuda")
    assert (str(moved.device), moved.is_leaf, moved.grad_fn.name()) == ("cuda:0", False, "ToCopyBackward0")
    assert moved.cuda() is moved.to("cuda:0") is moved
    (moved * 2).sum().backward()
    assert (leaf.grad.tolist(), str(leaf.grad.device)) == ([2, 2], "cpu")
    with pytest.raises(ValueError, match="non-leaf"):
        tiny.optim.SGD([moved])


def test_a_module_keeps_its_parameters_when_it_moves() -> None:
    layer = tiny.nn.Linear(2, 2)
    before = list(layer.parameters())
    assert all(one is other for one, other in zip(before, layer.cuda().parameters(), strict=True))
    assert layer.weight.is_leaf and layer.weight.is_cuda


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("here + there", "but found at least two devices, cuda:0 and cpu!"),
        ("there.add_(here)", "but found at least two devices, cuda:0 and cpu!"),
        ("layer.cuda()(here)", "but got mat1 is on cpu, different from other tensors on cuda:0"),
        ("layer(there)", "but got mat1 is on cuda:0, different from other tensors on cpu"),
        ("F.cross_entropy(there, rows)", "but got target is on cpu, different from other tensors on cuda:0"),
    ],
)
def test_two_devices_are_refused(program: str, told: str) -> None:
    space = {
        "here": tiny.ones(2, 2),
        "there": tiny.ones(2, 2).cuda(),
        "layer": tiny.nn.Linear(2, 2),
        "rows": tiny.tensor([0, 1]),
        "F": tiny.nn.functional,
    }
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device") as error:
        eval(program, space)
    assert told in str(error.value)


def test_what_goes_between_devices() -> None:
    there = tiny.zeros(3, device="cuda")
    assert (there + tiny.tensor(1.0)).tolist() == [1, 1, 1]
    assert there.copy_(tiny.ones(3)).tolist() == [1, 1, 1]
    assert there[tiny.tensor([0])].is_cuda


@pytest.mark.parametrize(
    "program",
    [
        "z = tiny.zeros(3, device='cuda'); z[0] = u[1]; z.sum().backward()",
        "z = u * 1; z[tiny.tensor([0, 1])] = 3.0; z.sum().backward()",
        "u[1:].sum().backward()",
        "u.unbind()[0].backward()",
        "(u * 1).max(0).values.backward()",
        "tiny.cat([u, u]).relu().sum().backward()",
        "tiny.optim.Adam([u], lr=0.1).step()",
    ],
)
def test_gradients_stay_on_the_device(program: str) -> None:
    u = tiny.ones(3, device="cuda", requires_grad=True)
    exec(program, {"tiny": tiny, "u": u})
    assert u.grad is None or u.grad.is_cuda


def test_what_is_made_and_moved_lies_where_it_was_asked_for() -> None:
    assert tiny.as_tensor([1.0], device="cuda").is_cuda
    module = tiny.nn.Module()
    module.register_buffer("count", tiny.tensor([0]))
    before = module.count
    assert module.to("cuda", tiny.float64).count.is_cuda and module.count.dtype is tiny.int64
    assert not before.is_cuda


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("there.grad = tiny.ones(2)", "attempting to assign a gradient with device type 'cpu' to a tensor"),
        (
            "(there * 2).backward(tiny.ones(2))",
            "invalid gradient at index 0 - expected device cuda:0 but got cpu",
        ),
        ("tiny.where(tiny.ones(2) > 0, there, there)", "Expected all tensors to be on the same device"),
    ],
)
def test_gradients_and_conditions_of_another_device_are_refused(program: str, told: str) -> None:
    with pytest.raises(RuntimeError, match=told):
        exec(program, {"tiny": tiny, "there": tiny.ones(2, device="cuda", requires_grad=True)})
