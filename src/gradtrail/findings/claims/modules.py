"""Claims about modules and parameters: what is registered, and what a module trains."""

from __future__ import annotations

from gradtrail.findings.claims.form import Claim
from gradtrail.laws.text import text

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "a-parameter-stays-a-leaf-through-any-move",
        text("an `nn.Parameter` stays a Parameter, and a leaf, through any `.to(...)`"),
        False,
        text(
            "`Module.to` changes what its Parameters hold and keeps them, but for a move to `meta`. `Parameter.to` that"
            " converts returns a plain tensor, which no module registers; where it requires grad it is no leaf, and no"
            " optimizer takes it."
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
        with torch.no_grad():
            assert weight.to("meta").is_leaf
        assert layer.to("meta").weight is not weight
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
            "It makes a leaf of what it is given, so the history of `y` ends there. Keep a computed weight a tensor, and hand it"
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
            "A plain tensor is not trained anyway, for it is no Parameter. A buffer moves with the module and, unless it"
            " is registered with `persistent=False`, is saved in its `state_dict`; that is the difference."
        ),
        """
        import torch

        net = torch.nn.Module()
        net.plain = torch.ones(2)
        net.register_buffer("buffer", torch.ones(2))
        assert list(net.parameters()) == []
        net.register_buffer("passing", torch.ones(2), persistent=False)
        assert list(net.state_dict()) == ["buffer"]
        net.to(torch.float64)
        assert net.buffer.dtype == torch.float64 and net.plain.dtype == torch.float32
        """,
        "ultralytics/yolov5#12454",
    ),
)
