"""What people say about autograd in public, and what torch says to it.

A claim holds when its program, whose asserts prove the verdict, says so. `tests/findings/test_claims.py` runs them all
on torch. A device other than the CPU is `meta` there, whose tensors have facts but no values.
"""

from __future__ import annotations

from typing import NamedTuple

from gradtrail.laws.text import Text, text


class Claim(NamedTuple):
    """One claim: as people make it, whether it holds, what torch does, the program that decides, where it was read.

    `source` is a public thread, `owner/name#number`, or a page, `host: title`, that makes the claim or takes it for
    granted; empty where none is known.
    """

    name: str
    statement: Text
    holds: bool
    verdict: Text
    program: str
    source: str


def claim(name: str) -> Claim | None:
    """The claim of that name, or None."""
    return next((one for one in CLAIMS if one.name == name), None)


_LEAVES = (
    Claim(
        "to-never-changes-leafness",
        text("`.to(device)` never changes whether a tensor is a leaf"),
        False,
        text(
            "Where something is converted, the result of a tensor that requires grad is computed, and no leaf. The"
            " gradient arrives at the tensor before the move."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        device = "meta"
        y = x.to(device)
        assert x.is_leaf and not y.is_leaf
        z = x.to(torch.float64)
        z.sum().backward()
        assert not z.is_leaf and x.grad is not None
        """,
        "pytorch/pytorch#8287",
    ),
    Claim(
        "every-to-makes-a-non-leaf",
        text("every `.to(...)` returns a new tensor, which is no leaf"),
        False,
        text(
            "Where device and dtype are already right, the very same object comes back and stays a leaf, unless"
            " `copy=True`. That is why such code runs on one machine and is refused on another."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        assert x.to("cpu") is x and x.to(torch.float32) is x and x.is_leaf
        assert not x.to("cpu", copy=True).is_leaf and not x.to("meta").is_leaf
        """,
        "wangkuiyi/gotorch#261",
    ),
    Claim(
        "tensor-on-cuda-is-never-a-leaf",
        text("a tensor on `cuda` is never a leaf, so it gets no `.grad`"),
        False,
        text(
            "The device has no say in it: a tensor that is made there, or that requires grad only after the move, is a"
            " leaf. Only what a move returns for a tensor that already required grad is none."
        ),
        """
        import torch

        device = "cuda" if torch.cuda.is_available() else "meta"
        made_there = torch.ones(2, device=device, requires_grad=True)
        moved_first = torch.ones(2).to(device).requires_grad_()
        made_there.sum().backward()
        assert made_there.is_leaf and made_there.grad.device.type == device
        assert moved_first.is_leaf
        assert not torch.ones(2, requires_grad=True).to(device).is_leaf
        """,
        "pytorch/pytorch#2730",
    ),
    Claim(
        "requires-grad-belongs-after-the-move",
        text("set `requires_grad` after the move to the device, and an optimizer takes the tensor"),
        True,
        text(
            "A move of a tensor that does not require grad records nothing, so its result is a leaf, and stays one when"
            " `requires_grad_()` comes last."
        ),
        """
        import torch

        late = torch.ones(2).to("meta").requires_grad_()
        torch.optim.SGD([late], lr=0.1)
        early = torch.ones(2, requires_grad=True).to("meta")
        try:
            torch.optim.SGD([early], lr=0.1)
            refused = False
        except ValueError:
            refused = True
        assert late.is_leaf and refused
        """,
        "mazzzystar/randomCNN-voice-transfer#16",
    ),
    Claim(
        "result-of-an-operation-is-never-a-leaf",
        text("`is_leaf` is False for every result of an operation"),
        False,
        text(
            "Only for results that require grad. Whatever does not require grad counts as a leaf, however it was"
            " computed."
        ),
        """
        import torch

        a = torch.ones(2) * 2 + 1
        b = torch.ones(2, requires_grad=True) * 2
        assert a.is_leaf and not b.is_leaf
        """,
        "pytorch/pytorch#61950",
    ),
    Claim(
        "a-view-stays-the-leaf-it-was",
        text("`x = x.view(2, 2)` leaves `x` the leaf it was, and `x.grad` is filled"),
        False,
        text(
            "A view is a result like any other: no leaf, and its `.grad` stays None. The gradient is kept by the tensor"
            " that the view was taken from, which the name no longer means."
        ),
        """
        import torch

        w = torch.ones(4, requires_grad=True)
        x = w.view(2, 2)
        assert not x.is_leaf and not w.view(4).is_leaf
        x.sum().backward()
        assert x.grad is None and w.grad is not None
        """,
        "pytorch/pytorch#32708",
    ),
    Claim(
        "a-cast-is-not-differentiable",
        text("a cast such as `.type(torch.float64)` is not differentiable, so the gradient ends there"),
        False,
        text(
            "A cast between floating dtypes passes the gradient on. Its result is no leaf, so its own `.grad` is None"
            " and that of the tensor before the cast is filled."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        w.type(torch.float64).sum().backward()
        assert w.grad.tolist() == [1, 1] and w.grad.dtype == torch.float32
        """,
        "pytorch/pytorch#10065",
    ),
    Claim(
        "retain-grad-shows-the-gradient-of-a-result",
        text("`retain_grad()` makes the gradient of an intermediate result readable"),
        True,
        text(
            "A result that requires grad keeps its gradient in `.grad` when `retain_grad()` was called before backward."
            " On a leaf it changes nothing."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        kept, dropped = x * 2, x * 3
        kept.retain_grad()
        (kept + dropped).sum().backward()
        assert kept.grad.tolist() == [1, 1] and dropped.grad is None
        """,
        "pytorch/pytorch#12923",
    ),
)

_DETACH = (
    Claim(
        "detach-copies",
        text("`detach()` makes a separate copy"),
        False,
        text(
            "It is a new tensor over the same memory: what is written into one shows in the other. A copy is"
            " `detach().clone()`."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        d = x.detach()
        d[0] = 5
        assert x.tolist() == [5, 1] and d.data_ptr() == x.data_ptr()
        assert x.detach().clone().data_ptr() != x.data_ptr()
        """,
        "eriklindernoren/PyTorch-GAN#151",
    ),
    Claim(
        "detach-must-come-before-cpu",
        text("`detach()` must come before `cpu()`"),
        False,
        text(
            "Either order gives the same values without a graph. From another device the other order merely records a"
            " move that nobody uses."
        ),
        """
        import torch

        y = torch.ones(2, requires_grad=True) * 2
        a, b = y.detach().cpu(), y.cpu().detach()
        assert torch.equal(a, b)
        assert not a.requires_grad and not b.requires_grad
        assert a.grad_fn is None and b.grad_fn is None
        assert (y.detach().cpu().numpy() == y.cpu().detach().numpy()).all()
        """,
        "facebookresearch/d2go#619",
    ),
    Claim(
        "data-is-the-safe-detach",
        text("`.data` is the same as `detach()`, and as safe"),
        False,
        text(
            "Both share the memory, but `.data` has a version counter of its own. A write through it goes unnoticed, and"
            " backward answers with a wrong gradient instead of an error."
        ),
        """
        import torch

        x = torch.zeros(1, requires_grad=True)
        y = x.exp()
        y.data.mul_(2)
        y.backward()
        assert x.grad.item() == 2  # exp(0) is 1

        y = x.exp()
        y.detach().mul_(2)
        try:
            y.backward()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#6990",
    ),
    Claim(
        "a-write-into-what-detach-returned-is-noticed",
        text(
            "a write into what `detach()` returned is noticed by `backward`, so no gradient is ever silently wrong"
        ),
        True,
        text(
            "What `detach` returns shares the version counter, and backward compares it for every tensor it kept. It"
            " raises only where a kept value was written, for then the gradient would be wrong."
        ),
        """
        import torch

        x = torch.zeros(1, requires_grad=True)
        y = x.exp()  # keeps its result
        before = y._version
        y.detach().zero_()
        assert y._version == before + 1
        try:
            y.backward()
            refused = False
        except RuntimeError as error:
            refused = "modified by an inplace operation" in str(error)
        assert refused
        z = x + 1  # keeps nothing
        z.detach().zero_()
        z.backward()
        assert x.grad.item() == 1
        """,
        "pytorch/pytorch#6990",
    ),
    Claim(
        "detach-in-place-is-the-same",
        text("`x.detach_()` does the same as `x = x.detach()`"),
        False,
        text(
            "It changes the tensor itself, for every name it has, and it refuses a view, where `detach()` works."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        y = w * 2
        other = y
        y.detach_()
        assert other.is_leaf and other.grad_fn is None

        view = (w * 2)[0]
        try:
            view.detach_()
            refused = False
        except RuntimeError:
            refused = True
        assert refused and not view.detach().requires_grad
        """,
        "lucidrains/invariant-point-attention#9",
    ),
    Claim(
        "without-detach-the-generator-is-trained-too",
        text("without `detach()` on the fake image the step of the discriminator trains the generator too"),
        False,
        text(
            "A step changes only what its optimizer was given. Without `detach` the generator gets gradients, which cost"
            " time and add up unless they are cleared, but it does not move."
        ),
        """
        import torch

        generator, discriminator = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(discriminator.parameters(), lr=0.1)
        before = generator.weight.detach().clone()
        discriminator(generator(torch.ones(1, 2))).sum().backward()
        optimizer.step()
        assert torch.equal(generator.weight, before) and generator.weight.grad is not None

        generator.zero_grad()
        discriminator(generator(torch.ones(1, 2)).detach()).sum().backward()
        assert generator.weight.grad is None
        """,
        "heykeetae/Self-Attention-GAN#48",
    ),
)

_COPIES = (
    Claim(
        "clone-detaches",
        text("`clone()` makes an independent copy, cut off from the graph"),
        False,
        text(
            "It copies the values and stays in the graph: the gradient of the clone flows on to the original. A copy"
            " without history is `detach().clone()`."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        c = x.clone()
        (c * 3).sum().backward()
        assert x.grad.tolist() == [3, 3] and not c.is_leaf
        assert x.detach().clone().grad_fn is None
        """,
        "pytorch/pytorch#64341",
    ),
    Claim(
        "clone-copies-the-gradient",
        text("`clone()` copies the gradient along with the values"),
        False,
        text(
            "The clone has no `.grad`. It has a `grad_fn`, by which its gradient will flow to the original."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        (x * 2).sum().backward()
        c = x.clone()
        c.retain_grad()
        assert x.grad is not None and c.grad is None and c.grad_fn is not None
        """,
        "pytorch/pytorch#144468",
    ),
    Claim(
        "clone-drops-the-hooks",
        text("a hook of `register_hook` does not hear the gradients that come through `clone()`"),
        False,
        text(
            "The clone is computed from the tensor, so its gradient reaches the tensor, and the hook with it."
        ),
        """
        import torch

        x = torch.ones(2, requires_grad=True)
        heard = []
        x.register_hook(lambda gradient: heard.append(gradient.tolist()))
        (x * 2).sum().backward()
        (x.clone() * 3).sum().backward()
        assert heard == [[2, 2], [3, 3]]
        """,
        "pytorch/pytorch#2601",
    ),
    Claim(
        "deepcopy-shares-the-memory",
        text("`copy.deepcopy` of a tensor shares the data with it"),
        False,
        text(
            "A deep copy has its own memory, and it is a leaf again; a tensor that is no leaf is refused. It is"
            " `copy.copy` that shares."
        ),
        """
        import copy
        import torch

        x = torch.ones(2, requires_grad=True)
        deep, shallow = copy.deepcopy(x), copy.copy(x)
        assert deep.data_ptr() != x.data_ptr() and deep.is_leaf and deep.requires_grad
        assert shallow.data_ptr() == x.data_ptr()
        try:
            copy.deepcopy(x * 2)
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "www.geeksforgeeks.org: Difference between detach, clone, and deepcopy in PyTorch tensors",
    ),
    Claim(
        "numpy-copies",
        text("`t.numpy()` gives an array of its own"),
        False,
        text(
            "For a tensor on the CPU the array shares its memory, and `detach()` before it changes nothing about that."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        array = w.detach().numpy()
        with torch.no_grad():
            w += 1
        assert array.tolist() == [2, 2]
        array[0] = 7
        assert w.tolist() == [7, 2]
        """,
        "pytorch/pytorch#97586",
    ),
    Claim(
        "numpy-is-refused-under-no-grad",
        text("`numpy()` is refused for a tensor that requires grad, even under `no_grad`"),
        False,
        text("So it was until 2020. Today `numpy()` raises only while gradients are recorded."),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            assert w.numpy().tolist() == [1, 1]
        try:
            w.numpy()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#37000",
    ),
    Claim(
        "item-frees-the-graph",
        text("`loss.item()` frees the graph"),
        False,
        text(
            "It only reads the value. The graph lives as long as a tensor leads to it; `item()` helps because the number"
            " that is kept instead leads nowhere."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        loss = w.exp().sum()
        value = loss.item()
        assert loss.grad_fn is not None and isinstance(value, float)
        loss.backward()  # all of it is still there
        assert w.grad is not None
        """,
        "boschresearch/Continuous-Recurrent-Units#4",
    ),
    Claim(
        "a-sum-of-losses-keeps-every-graph",
        text("`total += loss` keeps the graph of every step alive"),
        True,
        text(
            "The sum is computed from the losses, so it leads to each of their graphs. Add `loss.item()` or"
            " `loss.detach()` instead."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        total, number = 0, 0
        for _ in range(5):
            loss = (w + 1).sum()
            loss.backward()
            total += loss
            number += loss.item()
        assert w.grad.tolist() == [5, 5] and isinstance(number, float)
        total.backward()  # through all five once more
        assert w.grad.tolist() == [10, 10]
        """,
        "google/brax#152",
    ),
    Claim(
        "tensor-of-tensors-drops-the-graph",
        text("`torch.tensor(losses)` drops the graph of each loss in the list"),
        True,
        text("It reads the numbers and makes a new leaf of them. `torch.stack` keeps the graph."),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        losses = [(w * 2).sum(), (w * 3).sum()]
        assert not torch.tensor(losses).requires_grad
        torch.stack(losses).sum().backward()
        assert w.grad.item() == 5
        """,
        "laekov/fastmoe#49",
    ),
    Claim(
        "as-tensor-of-tensors-keeps-the-graph",
        text("`torch.as_tensor` takes a list of tensors, and so keeps their graph"),
        False,
        text(
            "Only of a single tensor, which comes back as it is. Of a list it reads the numbers, as `torch.tensor` does."
        ),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        losses = [(w * 2).sum(), (w * 3).sum()]
        assert torch.as_tensor(losses[0]) is losses[0]
        assert not torch.as_tensor(losses).requires_grad
        """,
        "lululxvi/deepxde#1318",
    ),
    Claim(
        "argmax-passes-the-gradient-on",
        text("a network can be trained through `argmax`"),
        False,
        text(
            "`argmax` gives integers, which carry no gradient: its result does not require grad, and has no `grad_fn`."
        ),
        """
        import torch

        scores = torch.tensor([1.0, 3.0], requires_grad=True)
        best = scores.argmax()
        assert not best.requires_grad and best.grad_fn is None
        """,
        "pytorch/pytorch#1339",
    ),
    Claim(
        "max-stops-the-gradient",
        text("`torch.max` along a dimension stops the gradient"),
        False,
        text("The values carry the gradient, to the element that was chosen. Only the indices do not."),
        """
        import torch

        x = torch.tensor([[1.0, 3.0]], requires_grad=True)
        values, indices = torch.max(x, 1)
        values.sum().backward()
        assert x.grad.tolist() == [[0, 1]] and not indices.requires_grad
        """,
        "cjf8899/KeepAugment_Pytorch#1",
    ),
    Claim(
        "where-stops-the-gradient",
        text("no gradient flows through `torch.where`"),
        False,
        text("It flows to both branches, each where it was chosen. Only the condition carries none."),
        """
        import torch

        a = torch.tensor([1.0, -1.0], requires_grad=True)
        b = torch.zeros(2, requires_grad=True)
        torch.where(a > 0, a, b).sum().backward()
        assert a.grad.tolist() == [1, 0] and b.grad.tolist() == [0, 1]
        """,
        "Ugenteraan/Deep_Hierarchical_Classification#6",
    ),
)

_MODULES = (
    Claim(
        "a-parameter-stays-a-leaf-through-any-move",
        text("an `nn.Parameter` stays a Parameter, and a leaf, through any `.to(...)`"),
        False,
        text(
            "`Module.to` moves its parameters and keeps them. `Parameter.to` that converts returns a plain tensor that"
            " is no leaf, which no module registers and no optimizer takes."
        ),
        """
        import torch

        layer = torch.nn.Linear(2, 2)
        weight = layer.weight
        layer.to(torch.float64)
        assert layer.weight is weight and weight.is_leaf and weight.dtype == torch.float64

        for where in ("meta", torch.float32):
            moved = weight.to(where)
            assert not isinstance(moved, torch.nn.Parameter) and not moved.is_leaf
        """,
        "pytorch/pytorch#9303",
    ),
    Claim(
        "module-to-makes-new-parameters",
        text(
            "after `model.to(...)` the parameters are other objects, so an optimizer built before it trains nothing"
        ),
        False,
        text(
            "The module keeps its Parameter objects and changes their data, so the optimizer still holds them. New"
            " objects come for `meta`, or when a switch of `torch.__future__` asks for them."
        ),
        """
        import torch

        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.to(torch.float64)
        assert optimizer.param_groups[0]["params"][0] is model.weight
        before = model.weight.detach().clone()
        model(torch.ones(1, 2, dtype=torch.float64)).sum().backward()
        optimizer.step()
        assert not torch.equal(model.weight, before)

        torch.__future__.set_overwrite_module_params_on_conversion(True)
        model.to(torch.float32)
        assert optimizer.param_groups[0]["params"][0] is not model.weight
        """,
        "namisan/mt-dnn#40",
    ),
    Claim(
        "parameter-copies",
        text("`nn.Parameter(x)` copies `x`"),
        False,
        text(
            "It is a new leaf over the memory of `x`: training it changes `x`, and so does initializing it."
        ),
        """
        import torch

        x = torch.ones(2)
        p = torch.nn.Parameter(x)
        torch.nn.init.zeros_(p)
        assert x.tolist() == [0, 0] and p.data_ptr() == x.data_ptr()
        """,
        "",
    ),
    Claim(
        "two-parameters-of-one-tensor-share-it",
        text("two `nn.Parameter`s made of one tensor share its memory, and `deepcopy` tears them apart"),
        True,
        text(
            "Both are leaves over one memory, each with a gradient of its own. A deep copy of the module gives each its"
            " own memory."
        ),
        """
        import copy
        import torch

        t = torch.ones(2)
        pair = torch.nn.ParameterList([torch.nn.Parameter(t), torch.nn.Parameter(t)])
        again = copy.deepcopy(pair)
        assert pair[0].data_ptr() == pair[1].data_ptr()
        assert again[0].data_ptr() != again[1].data_ptr()
        pair[0].sum().backward()
        assert pair[0].grad is not None and pair[1].grad is None
        """,
        "pytorch/pytorch#79788",
    ),
    Claim(
        "parameter-keeps-the-history",
        text("`nn.Parameter(y)` of a computed `y` passes the gradient on to what `y` was computed from"),
        False,
        text(
            "A Parameter is always a leaf, so the history of `y` ends there. Keep a computed weight a tensor, and hand it"
            " to `torch.func.functional_call` or to a function of `torch.nn.functional`."
        ),
        """
        import torch

        source = torch.ones(2, requires_grad=True)
        y = source * 2
        p = torch.nn.Parameter(y)
        (p * 3).sum().backward()
        assert p.is_leaf and p.grad is not None and source.grad is None

        layer = torch.nn.Linear(2, 1, bias=False)
        torch.func.functional_call(layer, {"weight": y[None]}, torch.ones(1, 2)).sum().backward()
        assert source.grad.tolist() == [2, 2]
        """,
        "lezcano/geotorch#12",
    ),
    Claim(
        "modules-in-a-list-are-found",
        text("modules in a Python `list` belong to the parameters of the module that holds the list"),
        False,
        text(
            "Only attributes that are modules or Parameters are registered. `nn.ModuleList` is the list that is seen."
        ),
        """
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.seen = torch.nn.ModuleList([torch.nn.Linear(1, 1)])
                self.unseen = [torch.nn.Linear(1, 1)]  # a plain list

        assert [name for name, _ in Net().named_parameters()] == ["seen.0.weight", "seen.0.bias"]
        """,
        "pytorch/pytorch#666",
    ),
    Claim(
        "register-buffer-protects-from-training",
        text("`register_buffer` is what keeps a plain tensor of a module from being trained"),
        False,
        text(
            "A plain tensor is not trained anyway, for it is no Parameter. A buffer moves with the module and is saved"
            " in its `state_dict`; that is the difference."
        ),
        """
        import torch

        net = torch.nn.Module()
        net.plain = torch.ones(2)
        net.register_buffer("buffer", torch.ones(2))
        assert list(net.parameters()) == []
        assert list(net.state_dict()) == ["buffer"]
        net.to(torch.float64)
        assert net.buffer.dtype == torch.float64 and net.plain.dtype == torch.float32
        """,
        "ultralytics/yolov5#12454",
    ),
)

_OPTIMIZERS = (
    Claim(
        "a-plain-tensor-is-risky-in-an-optimizer",
        text(
            "an optimizer needs `nn.Parameter`s: a plain tensor with `requires_grad` is not updated reliably"
        ),
        False,
        text(
            "An optimizer makes no difference between them. A Parameter matters to a module, which registers it by its"
            " type."
        ),
        """
        import torch

        plain = torch.ones(2, requires_grad=True)
        parameter = torch.nn.Parameter(torch.ones(2))
        optimizer = torch.optim.Adam([plain, parameter], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (plain.exp().sum() + parameter.exp().sum()).backward()
            optimizer.step()
        assert torch.equal(plain, parameter) and plain[0] < 1
        """,
        "d2l-ai/d2l-en#1713",
    ),
    Claim(
        "a-product-is-always-refused-by-an-optimizer",
        text("the result of `w = a * 2` is always refused by an optimizer"),
        False,
        text(
            "It is refused where `a` requires grad. Where nothing requires grad the product is a leaf: it is taken, and"
            " then silently never trained."
        ),
        """
        import torch

        a = torch.ones(2)
        w = a * 2
        optimizer = torch.optim.SGD([w], lr=0.1)
        optimizer.step()
        assert w.is_leaf and w.tolist() == [2, 2] and w.grad is None
        w.requires_grad_()  # this is what was missing
        w.sum().backward()
        optimizer.step()
        assert w[0] < 2

        a = torch.ones(2, requires_grad=True)
        try:
            torch.optim.SGD([a * 2], lr=0.1)
            refused = False
        except ValueError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#140469",
    ),
    Claim(
        "only-leaves-can-be-optimized",
        text("only tensors with `is_leaf` True can be handed to an optimizer"),
        False,
        text(
            "A result on which `retain_grad()` was called is taken as well, and with `differentiable=True` nothing is"
            " asked at all. Both are rarely what is wanted."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True).clone()
        w.retain_grad()
        optimizer = torch.optim.SGD([w], lr=0.1)
        w.sum().backward()
        optimizer.step()
        assert not w.is_leaf and w[0] < 1

        other = torch.ones(2, requires_grad=True) * 2
        torch.optim.SGD([other], lr=0.1, differentiable=True)
        assert not other.is_leaf and not other.retains_grad
        """,
        "pytorch/tutorials#3716",
    ),
    Claim(
        "a-parameter-twice-in-one-group-is-updated-twice",
        text(
            "an optimizer that gets the same tensor twice in one list (`[x, x]`) updates it twice in each step"
        ),
        True,
        text("There is no more than a warning. In two groups the same tensor is refused."),
        """
        import warnings
        import torch

        x = torch.zeros(1, requires_grad=True)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            optimizer = torch.optim.SGD([x, x], lr=0.5)
        x.sum().backward()
        optimizer.step()
        assert x.item() == -1 and any("duplicate parameters" in str(one.message) for one in told)
        try:
            torch.optim.SGD([{"params": [x]}, {"params": [x]}], lr=0.5)
            refused = False
        except ValueError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#40967",
    ),
    Claim(
        "frozen-parameters-must-be-filtered-out",
        text("parameters with `requires_grad=False` must be kept out of the optimizer, which refuses them"),
        False,
        text("They are taken and skipped in every step, because their `.grad` stays None."),
        """
        import torch

        layer = torch.nn.Linear(2, 1)
        layer.bias.requires_grad = False
        before = layer.bias.clone()
        optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
        layer(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        assert layer.bias.grad is None and torch.equal(layer.bias, before)
        """,
        "pytorch/pytorch#7338",
    ),
    Claim(
        "freezing-removes-from-the-optimizer",
        text("`requires_grad = False` after the optimizer was built takes the parameter out of it"),
        False,
        text(
            "It stays in the groups. With `.grad` None it is skipped; with a gradient that is still there, or zeros in"
            " its place (`set_to_none=False`), momentum and weight decay go on moving it."
        ),
        """
        import torch

        def moves(set_to_none):
            w = torch.ones(1, requires_grad=True)
            optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9, weight_decay=0.1)
            w.sum().backward()
            optimizer.step()
            w.requires_grad = False
            assert optimizer.param_groups[0]["params"][0] is w
            optimizer.zero_grad(set_to_none=set_to_none)
            before = w.clone()
            optimizer.step()
            return not torch.equal(w, before)

        assert not moves(set_to_none=True)
        assert moves(set_to_none=False)
        """,
        "ContinualAI/avalanche#1362",
    ),
    Claim(
        "frozen-after-backward-is-still-updated",
        text(
            "a parameter whose `requires_grad` is switched off after backward is still changed by the next `step()`"
        ),
        True,
        text("A step looks at `.grad`, not at the flag, and the gradient of that backward is there."),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        w.sum().backward()
        w.requires_grad = False
        optimizer.step()
        assert w[0] < 1
        """,
        "neuralmagic/sparseml#965",
    ),
    Claim(
        "weight-decay-moves-frozen-parameters",
        text(
            "`weight_decay` changes frozen parameters (`requires_grad=False`) too, so they must be filtered out"
        ),
        False,
        text(
            "A parameter whose `.grad` is None is skipped whole, weight decay included. Zeros as a gradient are another"
            " matter: they let it decay."
        ),
        """
        import torch

        for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
            w = torch.ones(1, requires_grad=False)
            optimizer = kind([w], lr=0.1, weight_decay=0.5)
            optimizer.step()
            assert w.item() == 1
            w.grad = torch.zeros(1)
            optimizer.step()
            assert w.item() != 1
        """,
        "iamwangyabin/S-Prompts#2",
    ),
    Claim(
        "zero-grad-frees-the-graph",
        text("`zero_grad()` between the forward and `backward()` destroys what backward needs"),
        False,
        text("It clears the gradients that are there. The graph hangs on the loss, and is not touched."),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        loss = w.exp().sum()
        optimizer.zero_grad()
        assert loss.grad_fn is not None
        loss.backward()
        assert w.grad is not None
        """,
        "thuml/Transfer-Learning-Library#12",
    ),
    Claim(
        "step-frees-the-graph",
        text("`optimizer.step()` frees the graph"),
        False,
        text(
            "Backward frees what it walked, unless it retains it; a step only writes into the parameters. What a graph"
            " kept of them is then out of date, which the next backward refuses."
        ),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        w.grad = torch.ones(1)
        keeps_its_result, keeps_w = w.exp(), w * w
        optimizer.step()
        keeps_its_result.backward()
        try:
            keeps_w.backward()
            message = ""
        except RuntimeError as error:
            message = str(error)
        assert "modified by an inplace operation" in message
        """,
        "pytorch/pytorch#17568",
    ),
    Claim(
        "gradients-add-up",
        text("`backward()` adds to the gradients that are there, so they must be cleared for each step"),
        True,
        text("`.grad` is summed into, until `zero_grad()` or an assignment clears it."),
        """
        import torch

        w = torch.ones(1, requires_grad=True)
        (w * 2).backward()
        (w * 3).backward()
        assert w.grad.item() == 5
        w.grad = None
        (w * 3).backward()
        assert w.grad.item() == 3
        """,
        "jcjohnson/pytorch-examples#31",
    ),
)

_BACKWARD = (
    Claim(
        "backward-twice-always-raises",
        text("`backward()` can never be called twice without `retain_graph=True`"),
        False,
        text(
            "It raises only where a node on the way had kept a tensor. Sums, copies and reshapes keep none, and the"
            " gradients simply add up."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        loss = (w.clone() + 1).sum()
        loss.backward()
        loss.backward()
        assert w.grad.tolist() == [2, 2]

        loss = w.exp().sum()
        loss.backward(retain_graph=True)
        loss.backward()
        try:
            loss.backward()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "rentruewang/brief#1",
    ),
    Claim(
        "retain-graph-cures-a-carried-hidden-state",
        text("`retain_graph=True` is the fix for a hidden state that is carried from step to step"),
        False,
        text(
            "It keeps the graphs of all steps, and once the optimizer has changed the weights backward refuses them all"
            " the same. The fix is `h = h.detach()`."
        ),
        """
        import torch

        def run(retain_graph, cut):
            cell = torch.nn.RNNCell(2, 2)
            optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
            h = torch.zeros(1, 2)
            for _ in range(3):
                h = cell(torch.ones(1, 2), h.detach() if cut else h)
                optimizer.zero_grad()
                h.sum().backward(retain_graph=retain_graph)
                optimizer.step()

        try:
            run(retain_graph=True, cut=False)
            message = ""
        except RuntimeError as error:
            message = str(error)
        assert "modified by an inplace operation" in message
        run(retain_graph=False, cut=True)
        """,
        "MorvanZhou/PyTorch-Tutorial#57",
    ),
    Claim(
        "inputs-need-requires-grad",
        text("the inputs need `requires_grad=True`, or the weights of the network are not trained"),
        False,
        text(
            "One tensor that requires grad is enough for a result to have a graph, and the weights do. Inputs need it only"
            " when their own gradient is wanted."
        ),
        """
        import torch

        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
        inputs = torch.ones(1, 2, requires_grad=False)
        model(inputs).sum().backward()
        assert all(parameter.grad is not None for parameter in model.parameters())
        assert inputs.grad is None
        """,
        "Gaoyiminggithub/Graphonomy#23",
    ),
    Claim(
        "two-losses-need-retain-graph",
        text("two losses of one forward need `retain_graph=True`"),
        False,
        text("Their sum gives the same gradients in one backward, and nothing has to be retained."),
        """
        import torch

        def losses(w):
            y = w.exp()
            return y.sum(), (y * y).sum()

        w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        a, b = losses(w)
        (a + b).backward()
        a, b = losses(v)
        a.backward(retain_graph=True)
        b.backward()
        assert torch.allclose(w.grad, v.grad)
        """,
        "ueoo/AGIS-Net#8",
    ),
    Claim(
        "requires-grad-on-the-loss-cures-the-error",
        text("`loss.requires_grad_()` cures `element 0 of tensors does not require grad`"),
        False,
        text(
            "The error is gone and nothing is trained: the loss becomes a leaf without a way to any parameter. What is to"
            " be mended is the place where the graph was cut."
        ),
        """
        import torch

        model = torch.nn.Linear(2, 1)
        loss = model(torch.ones(1, 2)).detach().sum()  # the cut
        loss.requires_grad_()
        loss.backward()
        assert loss.is_leaf and loss.grad.item() == 1
        assert all(parameter.grad is None for parameter in model.parameters())
        """,
        "mazurowski-lab/finetune-SAM#26",
    ),
    Claim(
        "variable-around-the-loss-makes-it-trainable",
        text("`Variable(loss, requires_grad=True)` makes a loss trainable"),
        False,
        text(
            "It is `requires_grad_()` by another name: what was cut off stays so, and the parameters get no gradient."
        ),
        """
        import torch
        from torch.autograd import Variable

        w = torch.ones(2, requires_grad=True)
        loss = Variable((w * 2).data.sum(), requires_grad=True)
        loss.backward()
        assert loss.is_leaf and w.grad is None
        """,
        "huggingface/torchMoji#21",
    ),
    Claim(
        "retain-graph-is-enough-for-a-second-derivative",
        text("`retain_graph=True` can stand for `create_graph=True`"),
        False,
        text(
            "`retain_graph` keeps the graph of the function; only `create_graph` records the gradient itself, so that it"
            " can be differentiated."
        ),
        """
        import torch

        x = torch.ones(1, requires_grad=True)
        y = x**3
        (first,) = torch.autograd.grad(y, x, retain_graph=True)
        assert not first.requires_grad
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(first, x)
        assert first.item() == 3 and second.item() == 6
        """,
        "Pulkit-Khandelwal/medical-mldg-seg#2",
    ),
    Claim(
        "backward-with-create-graph-makes-a-cycle",
        text(
            "`backward(create_graph=True)` leaves a parameter and its gradient in a cycle; `autograd.grad` does not"
        ),
        True,
        text(
            "The gradient in `.grad` has a graph that leads back to the parameter, and torch warns of it. Set `.grad` to"
            " None afterwards, or ask for the gradient with `torch.autograd.grad`."
        ),
        """
        import warnings
        import torch

        x = torch.ones(1, requires_grad=True)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            (x**3).backward(create_graph=True)
        assert x.grad.grad_fn is not None
        assert any("reference cycle" in str(one.message) for one in told)
        x.grad = None
        (gradient,) = torch.autograd.grad(x**3, x, create_graph=True)
        assert gradient.grad_fn is not None and x.grad is None
        """,
        "pytorch/pytorch#4661",
    ),
    Claim(
        "what-a-hook-returns-replaces-the-gradient",
        text("what a hook of `register_hook` returns replaces the gradient"),
        True,
        text("It goes on from there, to `.grad` of a leaf and to what the tensor was computed from."),
        """
        import torch

        x = torch.ones(1, requires_grad=True)
        y = x * 2
        y.register_hook(lambda gradient: gradient * 10)
        y.backward()
        assert x.grad.item() == 20
        x.grad = None
        x.register_hook(lambda gradient: gradient * 0)
        (x * 2).backward()
        assert x.grad.item() == 0
        """,
        "dotnet/TorchSharp#1483",
    ),
    Claim(
        "a-hook-stays-with-the-old-value",
        text("a hook of `register_hook` stays with the value that an in-place operation overwrote"),
        True,
        text(
            "It hears the gradient of the value it was set on. A hook that is set after the in-place operation hears that"
            " of the new value."
        ),
        """
        import torch

        y = torch.ones(1, requires_grad=True).clone()
        heard = []
        y.register_hook(lambda gradient: heard.append(("old", gradient.item())))
        y.mul_(3)
        y.register_hook(lambda gradient: heard.append(("new", gradient.item())))
        y.backward()
        assert heard == [("new", 1), ("old", 3)]
        """,
        "pytorch/pytorch#107323",
    ),
    Claim(
        "checkpoint-is-the-same-as-the-call",
        text("`checkpoint(function, x)` requires grad whenever `function(x)` does"),
        False,
        text(
            "With `use_reentrant=True` only the tensors that are handed in count. Where none of them requires grad, the"
            " parameters inside get no gradient, with no more than a warning."
        ),
        """
        import warnings
        import torch
        from torch.utils.checkpoint import checkpoint

        function = torch.nn.Linear(2, 1)
        x = torch.ones(1, 2)
        assert function(x).requires_grad
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert not checkpoint(function, x, use_reentrant=True).requires_grad
        assert len(told) == 1
        """,
        "pytorch/pytorch#7617",
    ),
    Claim(
        "use-reentrant-false-trains-behind-frozen-layers",
        text("`use_reentrant=False` lets `checkpoint` train parameters behind frozen layers"),
        True,
        text(
            "It records the graph of the call itself, so parameters inside count as they do without a checkpoint."
        ),
        """
        import torch
        from torch.utils.checkpoint import checkpoint

        frozen = torch.nn.Linear(2, 2).requires_grad_(False)
        head = torch.nn.Linear(2, 1)
        y = checkpoint(head, frozen(torch.ones(1, 2)), use_reentrant=False)
        y.sum().backward()
        assert head.weight.grad is not None and frozen.weight.grad is None
        """,
        "huggingface/transformers#21381",
    ),
)

_MODES = (
    Claim(
        "nothing-made-under-no-grad-requires-grad",
        text("tensors made under `no_grad` do not require grad"),
        False,
        text(
            "Views of a leaf that are taken there say `requires_grad=True`, with no way back to it; and a factory that is"
            " asked for it, as `torch.ones(2, requires_grad=True)`, gives a leaf that does."
        ),
        """
        import torch

        w = torch.ones(2, 2, requires_grad=True)
        with torch.no_grad():
            view, product = w[0], w * 2
            made = torch.ones(2, requires_grad=True)
        assert view.requires_grad and view.is_leaf and view.grad_fn is None
        assert made.requires_grad and not product.requires_grad
        view.sum().backward()
        assert w.grad is None and view.grad is None
        """,
        "pytorch/pytorch#45301",
    ),
    Claim(
        "no-grad-does-not-detach-what-is-there",
        text("`with torch.no_grad(): return x` returns a tensor with its history"),
        True,
        text(
            "`no_grad` stops the recording of what is computed inside; it changes no tensor that exists. `detach` does."
        ),
        """
        import torch

        def give(x):
            with torch.no_grad():
                return x

        y = torch.ones(2, requires_grad=True) * 2
        assert give(y) is y and y.grad_fn is not None
        assert y.detach().grad_fn is None
        """,
        "pytorch/pytorch#33629",
    ),
    Claim(
        "eval-switches-gradients-off",
        text("`model.eval()` switches gradients off"),
        False,
        text(
            "It changes what layers such as dropout and batch norm do. The graph is recorded as in training."
        ),
        """
        import torch

        model = torch.nn.Linear(2, 1)
        model.eval()
        y = model(torch.ones(1, 2))
        assert y.requires_grad and torch.is_grad_enabled()
        y.sum().backward()
        assert model.weight.grad is not None
        """,
        "mindsdb/lightwood#154",
    ),
    Claim(
        "eval-switches-every-dropout-off",
        text("`model.eval()` switches every dropout off, `F.dropout` too"),
        False,
        text(
            "`nn.Dropout` follows the mode. `F.dropout` is in training unless it is told `training=self.training`."
        ),
        """
        import torch
        import torch.nn.functional as F

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Dropout(0.5)

            def forward(self, x):
                return self.layer(x), F.dropout(x, 0.5), F.dropout(x, 0.5, training=self.training)

        x = torch.ones(1000)
        model = Net()
        model.eval()
        layer, untold, told = model(x)
        assert torch.equal(layer, x) and torch.equal(told, x)
        assert not torch.equal(untold, x)
        """,
        "pytorch/pytorch#11999",
    ),
    Claim(
        "inference-mode-can-replace-no-grad",
        text("`inference_mode` can replace `no_grad` everywhere, and is only faster"),
        False,
        text(
            "What is made in it can never be kept for a backward, not even after it. Under `no_grad` the same result may"
            " be used in training later."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            feature = torch.ones(2) * 2
        (w * feature).sum().backward()
        assert w.grad.tolist() == [2, 2]

        with torch.inference_mode():
            feature = torch.ones(2) * 2
        try:
            w * feature
            refused = False
        except RuntimeError:
            refused = True
        assert refused and feature.is_inference()
        """,
        "qubvel-org/segmentation_models.pytorch#1164",
    ),
)

_IN_PLACE = (
    Claim(
        "plus-equals-is-the-same",
        text("`x += 1` and `x = x + 1` are the same"),
        False,
        text(
            "`+=` writes into the tensor, for all who hold it, and is refused for a leaf that requires grad. `x + 1` is a"
            " new tensor under the old name."
        ),
        """
        import torch

        x = torch.zeros(1)
        other = x
        x += 1
        assert other.item() == 1 and other is x
        x = x + 1
        assert other.item() == 1 and other is not x

        x = torch.zeros(1, requires_grad=True)
        try:
            x += 1
            refused = False
        except RuntimeError:
            refused = True
        assert refused and not (x + 1).is_leaf
        """,
        "pytorch/pytorch#2425",
    ),
    Claim(
        "plus-equals-drops-the-gradient",
        text("`a += b` silently drops the gradient of `b`"),
        False,
        text(
            "The addition is recorded: `a` becomes its result, and the gradient reaches `b`, even when `a` had none."
        ),
        """
        import torch

        a = torch.zeros(2)
        b = torch.ones(2, requires_grad=True)
        a += b
        a.sum().backward()
        assert b.grad.tolist() == [1, 1] and not a.is_leaf
        """,
        "pytorch/pytorch#24961",
    ),
    Claim(
        "in-place-always-breaks-backward",
        text("an in-place operation such as `x += y` on what `backward` passes always raises an error"),
        False,
        text(
            "Only when a node had kept the value that is overwritten. After an addition or a linear layer it is"
            " harmless; after exp or sigmoid it is not."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        y = torch.ones(2)

        def refused(step):
            x = step(w)
            x += y
            try:
                x.sum().backward()
            except RuntimeError:
                return True
            return False

        assert not refused(lambda t: t + 1) and not refused(torch.nn.Linear(2, 2))
        assert refused(torch.exp) and refused(torch.sigmoid)  # these keep their result
        """,
        "karpathy/nanoGPT#72",
    ),
    Claim(
        "adding-in-place-after-relu-is-refused",
        text("`out += identity` behind a `relu` is refused by backward, and before it is fine"),
        True,
        text(
            "The ReLU keeps its result, so its result must not be overwritten. It keeps nothing of its input, so that may"
            " be, even by the ReLU itself (`inplace=True`)."
        ),
        """
        import torch
        from torch.nn.functional import relu

        w, identity = torch.ones(2, requires_grad=True), torch.ones(2)

        out = w + 1
        out += identity
        out = relu(out, inplace=True)
        out.sum().backward()
        assert w.grad.tolist() == [1, 1]

        out = relu(w + 1)
        out += identity
        try:
            out.sum().backward()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "pytorch/vision#807",
    ),
    Claim(
        "what-needs-no-gradient-may-be-overwritten",
        text("a tensor with `requires_grad=False` may be overwritten between forward and `backward`"),
        False,
        text("Its value may have been kept for the gradient of something else, and then backward refuses."),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        history = torch.ones(2, requires_grad=False)
        loss = (w * history).sum()
        history += 1
        try:
            loss.backward()
            refused = False
        except RuntimeError:
            refused = True
        assert refused
        """,
        "pytorch/pytorch#8106",
    ),
    Claim(
        "no-grad-allows-in-place-on-a-leaf",
        text("under `no_grad` a leaf may be changed in place"),
        True,
        text(
            "Nothing is recorded there, so it stays the leaf it was, with new values: how an optimizer works."
        ),
        """
        import torch

        w = torch.ones(2, requires_grad=True)
        with torch.no_grad():
            w[0] = 5
            w.mul_(2)
        assert w.tolist() == [10, 2] and w.is_leaf and w.requires_grad
        """,
        "Atcold/NYU-DLSP20#765",
    ),
)

CLAIMS: tuple[Claim, ...] = (
    *_LEAVES,
    *_DETACH,
    *_COPIES,
    *_MODULES,
    *_OPTIMIZERS,
    *_BACKWARD,
    *_MODES,
    *_IN_PLACE,
)
"""All claims, those about one thing together."""
