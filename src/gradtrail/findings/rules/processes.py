"""Several processes: DistributedDataParallel, workers of a loader, queues; and copies of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.findings.telling import code_of, diagnostic, fix, name_of, step_at
from gradtrail.interp.events import Event
from gradtrail.interp.journal import Journal
from gradtrail.laws.text import text
from gradtrail.source.place import Place
from gradtrail.source.words import Word

if TYPE_CHECKING:
    from gradtrail.source.edits import Editor


class FrozenModuleInDdp(Rule):
    """A module without a trainable parameter is wrapped in DistributedDataParallel.

    ## Why torch refuses it

    DDP averages gradients between processes. A module without any has nothing to average.

    ## What to do

    Use the module without DDP; each process has its own copy, and they stay equal.
    """

    name = "frozen-module-in-ddp"
    words = (Word(rb"DistributedDataParallel"),)
    hears = ("ddp-frozen",)
    examples = (
        Example(
            title="a frozen teacher",
            bad="""
                import tempfile
                import torch
                import torch.distributed as dist
                from torch.nn.parallel import DistributedDataParallel
                dist.init_process_group("gloo", init_method="file://" + tempfile.mkdtemp() + "/a", rank=0, world_size=1)
                teacher = torch.nn.Linear(2, 2)
                teacher.requires_grad_(False)  # cause
                teacher = DistributedDataParallel(teacher)  # error
            """,
            good="""
                import tempfile
                import torch
                import torch.distributed as dist
                from torch.nn.parallel import DistributedDataParallel
                dist.init_process_group("gloo", init_method="file://" + tempfile.mkdtemp() + "/a", rank=0, world_size=1)
                teacher = torch.nn.Linear(2, 2)
                teacher.requires_grad_(False)
                student = DistributedDataParallel(torch.nn.Linear(2, 2))
                dist.destroy_process_group()
            """,
            raises="DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient",
        ),
    )
    near_misses = (
        NearMiss(
            "partly frozen",
            """
                import tempfile
                import torch
                import torch.distributed as dist
                from torch.nn.parallel import DistributedDataParallel
                dist.init_process_group("gloo", init_method="file://" + tempfile.mkdtemp() + "/a", rank=0, world_size=1)
                net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
                net[0].requires_grad_(False)
                net = DistributedDataParallel(net)
                dist.destroy_process_group()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text(
                "no parameter of `{name}` requires grad, so DistributedDataParallel refuses it",
                name=name_of(event),
            ),
            text(
                "RuntimeError: DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient"
            ),
            why=text("DistributedDataParallel averages gradients, and here are none"),
            help=text("use the module without DistributedDataParallel"),
        )


class UnusedParametersInDdp(Rule):
    """A forward under DistributedDataParallel does not use every parameter.

    ## Why torch refuses it

    DDP waits for the gradient of every parameter. One that the loss does not depend on never gets one, and the next
    forward raises. It does so with one process as well.

    ## What to do

    Pass `find_unused_parameters=True`, or let every parameter take part in every iteration.
    """

    name = "unused-parameters-in-ddp"
    words = (Word(rb"DistributedDataParallel"),)
    hears = ("ddp-unused",)
    examples = (
        Example(
            title="a layer that forward leaves out",
            bad="""
                import tempfile
                import torch
                import torch.distributed as dist
                from torch import nn
                from torch.nn.parallel import DistributedDataParallel

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.used = nn.Linear(2, 1)
                        self.spare = nn.Linear(2, 1)  # cause

                    def forward(self, x):
                        return self.used(x)

                dist.init_process_group("gloo", init_method="file://" + tempfile.mkdtemp() + "/a", rank=0, world_size=1)
                net = DistributedDataParallel(Net())
                for _ in range(2):
                    net(torch.ones(1, 2)).sum().backward()  # error
            """,
            good="""
                import tempfile
                import torch
                import torch.distributed as dist
                from torch import nn
                from torch.nn.parallel import DistributedDataParallel

                class Net(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.used = nn.Linear(2, 1)
                        self.spare = nn.Linear(2, 1)

                    def forward(self, x):
                        return self.used(x)

                dist.init_process_group("gloo", init_method="file://" + tempfile.mkdtemp() + "/a", rank=0, world_size=1)
                net = DistributedDataParallel(Net(), find_unused_parameters=True)
                for _ in range(2):
                    net(torch.ones(1, 2)).sum().backward()
                dist.destroy_process_group()
            """,
            raises="Expected to have finished reduction in the prior iteration before starting a new one",
        ),
    )
    near_misses = (
        NearMiss(
            "every parameter is used",
            """
                import tempfile
                import torch
                import torch.distributed as dist
                from torch.nn.parallel import DistributedDataParallel
                dist.init_process_group("gloo", init_method="file://" + tempfile.mkdtemp() + "/a", rank=0, world_size=1)
                net = DistributedDataParallel(torch.nn.Linear(2, 1))
                for _ in range(2):
                    net(torch.ones(1, 2)).sum().backward()
                dist.destroy_process_group()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        names = event.fields.get("names", ())
        yield diagnostic(
            self,
            event,
            text(
                "the loss of the iteration before did not reach `{first}`, so the next forward is refused",
                first=names[0] if names else "",
            ),
            text(
                "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one"
            ),
            why=text("DistributedDataParallel waits for the gradient of every parameter"),
            help=text("pass find_unused_parameters=True, or use every parameter in every iteration"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        wrapper = event.fields.get("wrapper")
        at = wrapper if isinstance(wrapper, Place) else None
        yield fix(
            text("let it look for parameters without a gradient"),
            edit.add_keyword(at, "find_unused_parameters", "True"),
        )


class GradInWorkerSamples(Rule):
    """A dataset read by worker processes returns tensors that require grad.

    ## Why torch refuses it

    A worker stacks the samples into shared memory, with `out=`, which has no gradient. Without workers the same
    dataset works, but each batch then carries the graph of its samples.

    ## What to do

    Return detached tensors from the dataset, or do the computation in the training loop.
    """

    name = "grad-in-worker-samples"
    words = (Word(rb"num_workers *= *[1-9]"),)
    hears = ("dataloader-grad",)
    examples = (
        Example(
            title="an embedding inside a dataset",
            bad="""
                import torch
                from torch.utils.data import DataLoader, Dataset

                class Words(Dataset):
                    def __init__(self):
                        self.table = torch.nn.Embedding(5, 3)

                    def __len__(self):
                        return 4

                    def __getitem__(self, i):
                        return self.table(torch.tensor(i))  # cause

                for batch in DataLoader(Words(), batch_size=2, num_workers=1):  # error
                    print(batch.shape)
            """,
            good="""
                import torch
                from torch.utils.data import DataLoader, Dataset

                class Words(Dataset):
                    def __init__(self):
                        self.table = torch.nn.Embedding(5, 3)

                    def __len__(self):
                        return 4

                    def __getitem__(self, i):
                        return self.table(torch.tensor(i)).detach()

                for batch in DataLoader(Words(), batch_size=2, num_workers=1):
                    print(batch.shape)
            """,
            raises="functions with out=... arguments don't support automatic differentiation",
        ),
    )
    near_misses = (
        NearMiss(
            "without workers the samples are stacked in this process",
            """
                import torch
                from torch.utils.data import DataLoader, TensorDataset
                w = torch.ones(4, 2, requires_grad=True)
                for (batch,) in DataLoader(TensorDataset(w), batch_size=2):
                    batch.sum().backward()
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        yield diagnostic(
            self,
            event,
            text("the samples of this loader require grad, and its workers cannot stack them"),
            text(
                "RuntimeError: stack(): functions with out=... arguments don't support automatic differentiation"
            ),
            why=text("a worker stacks samples into shared memory with out=, which has no gradient"),
            help=text("detach what the dataset returns, or compute it in the training loop"),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        yield fix(
            text("detach what the dataset returns"), edit.after(step_at(found, "computed"), ".detach()")
        )


class DeepcopyOfNonLeaf(Rule):
    """A computed tensor is deep-copied, alone or inside of what holds it.

    ## Why torch refuses it

    A copy of a computed tensor would need a copy of its graph. Only tensors you created can be deep-copied; a module
    that keeps an output as an attribute cannot be either.

    ## What to do

    Detach it first (`copy.deepcopy(t.detach())`, `self.last = out.detach()`), or use `clone()`, which stays in the graph.
    """

    name = "deepcopy-of-non-leaf"
    words = (Word(rb"deepcopy"),)
    hears = ("deepcopy-non-leaf",)
    examples = (
        Example(
            title="a computed tensor",
            bad="""
                import copy
                import torch
                y = torch.ones(2, requires_grad=True) * 2  # cause
                z = copy.deepcopy(y)  # error
            """,
            good="""
                import copy
                import torch
                y = torch.ones(2, requires_grad=True) * 2
                z = copy.deepcopy(y.detach())
            """,
            raises="Only Tensors created explicitly by the user",
        ),
    )
    near_misses = (
        NearMiss(
            "an object that is copied in a way of its own",
            """
                import copy
                import torch

                class Model(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.layer = torch.nn.Linear(2, 1)
                        self.last = self.layer(torch.ones(1, 2))

                    def __deepcopy__(self, memo):
                        fresh = Model()
                        fresh.load_state_dict(self.state_dict())
                        return fresh

                twin = copy.deepcopy(Model())
            """,
        ),
        NearMiss(
            "a module of leaves",
            """
                import copy
                import torch
                net = copy.deepcopy(torch.nn.Linear(2, 2))
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` is computed and cannot be deep-copied", name=name),
            text(
                "RuntimeError: Only Tensors created explicitly by the user ... support the deepcopy protocol"
            ),
            why=text("a copy of a computed tensor would need a copy of its graph"),
            help=text("copy `{code}.detach()`, or use clone()", code=code_of(event)),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        copied = edit.argument(found.place, 0) if edit.callee(found.place).endswith("deepcopy") else None
        if edit.code(copied) == name:
            yield fix(text("copy `{name}` without its graph", name=name), edit.after(copied, ".detach()"))


class NonLeafInQueue(Rule):
    """A computed tensor that requires grad is put into a queue between processes.

    ## Why torch refuses it

    Another process has no part in this graph. `SimpleQueue.put` raises; `Queue.put` hands the tensor to a thread of
    its own, which prints the error and drops it, so that the other process waits for ever.

    ## What to do

    Put `t.detach()` into the queue.
    """

    name = "non-leaf-in-queue"
    words = (Word(rb"Queue\("), Word(rb"Pipe\("))
    hears = ("serialize-non-leaf",)
    examples = (
        Example(
            title="a score",
            bad="""
                import torch
                import torch.multiprocessing as mp
                queue = mp.get_context("fork").SimpleQueue()
                score = torch.nn.Linear(2, 1)(torch.ones(1, 2))  # cause
                queue.put(score)  # error
            """,
            good="""
                import torch
                import torch.multiprocessing as mp
                queue = mp.get_context("fork").SimpleQueue()
                score = torch.nn.Linear(2, 1)(torch.ones(1, 2))
                queue.put(score.detach())
            """,
            raises="Cowardly refusing to serialize non-leaf tensor which requires_grad",
        ),
    )
    near_misses = (
        NearMiss(
            "a number",
            """
                import torch
                import torch.multiprocessing as mp
                queue = mp.get_context("fork").SimpleQueue()
                queue.put(torch.nn.Linear(2, 1)(torch.ones(1, 2)).item())
            """,
        ),
    )

    def check(self, event: Event, journal: Journal) -> Iterator[Diagnostic]:
        name = name_of(event)
        yield diagnostic(
            self,
            event,
            text("`{name}` is computed and requires grad, so it cannot go to another process", name=name),
            text("RuntimeError: Cowardly refusing to serialize non-leaf tensor which requires_grad"),
            why=text("another process has no part in this graph"),
            help=text("put `{code}.detach()` into the queue", code=code_of(event)),
        )

    def repairs(self, event: Event, found: Diagnostic, edit: Editor) -> Iterator[Fix]:
        """The edits that mend it."""
        name = name_of(event)
        value = edit.inside(found.place, name)
        yield fix(text("send `{name}` without its graph", name=name), edit.after(value, ".detach()"))
