"""Programs of several processes: each that trains is observed, and one report is made of what they say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest

torch = pytest.importorskip("torch")

WITHOUT_PROCESSES = not (hasattr(os, "fork") and torch.distributed.is_available())
pytestmark = pytest.mark.skipif(WITHOUT_PROCESSES, reason="no processes, or no process groups, here")

SECONDS = 100


class Ended(NamedTuple):
    """How a run ended: its status, what it printed, its findings, and what it left in the folder for temporary files."""

    status: int
    out: str
    err: str
    findings: list[dict[str, Any]]
    left: list[str]

    @property
    def told(self) -> list[tuple[str, int, int | None, int]]:
        """Rule, row, rank and count of each finding."""
        return [(one["rule"], one["location"]["row"], one["rank"], one["count"]) for one in self.findings]


def environment(temporary: str) -> dict[str, str]:
    """That of a user, with a folder for temporary files of its own."""
    without = ("GRADTRAIL_STRICT", "RANK", "WORLD_SIZE")
    kept = {key: value for key, value in os.environ.items() if key not in without}
    return {**kept, "TMPDIR": temporary, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}


def run(source: str, folder: Path, before: tuple[str, ...] = (sys.executable,)) -> Ended:
    """Run a program under observation."""
    path = folder / "train.py"
    path.write_text(dedent(source).lstrip("\n"), encoding="utf-8")
    report = folder / "found.json"
    ours = ["-m", "gradtrail", "run", "--output-format", "json", "--output-file", str(report), str(path)]
    with tempfile.TemporaryDirectory() as temporary:  # short enough for the name of a socket
        done = subprocess.run(
            [*before, *ours],
            cwd=folder,
            env=environment(temporary),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        left = [name for name in os.listdir(temporary) if name.startswith("gradtrail")]
    findings = json.loads(report.read_text(encoding="utf-8"))["findings"] if report.exists() else []
    return Ended(done.returncode, done.stdout, done.stderr, findings, left)


def row_of(source: str, mark: str) -> int:
    """The row that carries a mark."""
    lines = dedent(source).lstrip("\n").split("\n")
    return next(row for row, line in enumerate(lines, 1) if line.endswith(mark))


NEVER_CLEARED = """
    import torch
    import torch.multiprocessing as mp

    def train(index, steps):
        net = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(steps):
            net(torch.randn(4, 3)).pow(2).mean().backward()  # here
            opt.step()
        print("trained", flush=True)

    if __name__ == "__main__":
        mp.start_processes(train, args=(8,), nprocs=2, start_method=METHOD)
        print("all")
    """


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_what_is_wrong_in_children_is_told_once(method: str, tmp_path: Path) -> None:
    source = NEVER_CLEARED.replace("METHOD", repr(method))
    ended = run(source, tmp_path)
    assert (ended.status, ended.out.replace("\n", ""), ended.left) == (0, "trainedtrainedall", []), ended.err
    assert ended.told == [("gradient-not-cleared", row_of(source, "# here"), None, 2)]


ONE_FAILS = """
    import multiprocessing

    def train(rank, fails):
        import torch
        w = torch.ones(3, requires_grad=True)
        if fails:
            (w * 2).sum().detach().numpy()
            (w * 2).numpy()  # here

    if __name__ == "__main__":
        processes = [
            multiprocessing.get_context(METHOD).Process(target=train, args=(rank, rank == 1)) for rank in range(2)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        raise SystemExit([process.exitcode for process in processes].count(1) + 4)
    """


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_an_error_in_a_child_is_explained_there(method: str, tmp_path: Path) -> None:
    source = ONE_FAILS.replace("METHOD", repr(method))
    ended = run(source, tmp_path)
    assert (ended.status, ended.left) == (5, [])
    assert ended.told == [("numpy-of-tensor-that-requires-grad", row_of(source, "# here"), None, 1)]


GROUP = """
    import os, tempfile
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp
    from torch.nn.parallel import DistributedDataParallel as DDP

    class Gated(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(4, 4)
            self.skipped = torch.nn.Linear(4, 4)

        def forward(self, x, both):
            x = self.first(x)
            return self.skipped(x) if both else x

    def train(rank, path):
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=2)
        WORK
        dist.destroy_process_group()

    if __name__ == "__main__":
        path = os.path.join(tempfile.mkdtemp(), "rendezvous")
        mp.start_processes(train, args=(path,), nprocs=2, start_method="fork")
    """


def group(work: str) -> str:
    """A program of two ranks that do this work."""
    lines = dedent(work).strip("\n").split("\n")
    return GROUP.replace("        WORK\n", "".join(f"        {line}\n" for line in lines))


def test_the_error_of_one_rank_comes_before_what_came_of_it(tmp_path: Path) -> None:
    source = group(
        """
        x = torch.ones(3, requires_grad=True)
        if rank == 1:
            (x * 2).numpy()  # here
        dist.all_reduce(torch.ones(1))
        """
    )
    ended = run(source, tmp_path)
    assert (ended.status, ended.left) == (1, [])
    assert ended.told == [("numpy-of-tensor-that-requires-grad", row_of(source, "# here"), 1, 1)]


def test_ddp_that_is_right_is_quiet(tmp_path: Path) -> None:
    ended = run(
        group(
            """
            net = DDP(Gated())
            opt = torch.optim.Adam(net.parameters())
            for _ in range(7):
                opt.zero_grad()
                net(torch.randn(8, 4), True).pow(2).mean().backward()
                opt.step()
            """
        ),
        tmp_path,
    )
    assert (ended.status, ended.told, ended.left) == (0, [], []), ended.err


def test_ddp_gone_past_in_children(tmp_path: Path) -> None:
    source = group(
        """
        net = DDP(Gated())
        opt = torch.optim.Adam(net.parameters())
        for _ in range(7):
            opt.zero_grad()
            net.module(torch.randn(8, 4), True).pow(2).mean().backward()  # here
            opt.step()
        """
    )
    ended = run(source, tmp_path)
    assert ended.status == 0, ended.err
    assert ended.told == [("ddp-bypassed", row_of(source, "# here"), 0, 2)]


def test_workers_of_a_loader_write_nothing(tmp_path: Path) -> None:
    source = """
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Data(Dataset):
            def __init__(self):
                self.w = torch.ones(3, requires_grad=True)

            def __len__(self):
                return 4

            def __getitem__(self, index):
                return (self.w * index).numpy()  # here

        if __name__ == "__main__":
            for batch in DataLoader(Data(), num_workers=2):
                print(batch)
        """
    ended = run(source, tmp_path)
    assert (ended.status, ended.out, ended.left) == (1, "", [])
    assert ended.told == [("numpy-of-tensor-that-requires-grad", row_of(source, "# here"), None, 1)]


TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2")

RANKS = """
    import sys, time
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel as DDP

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    WORK
    dist.destroy_process_group()
    """


def ranks(work: str) -> str:
    """A program for torchrun that does this work."""
    lines = dedent(work).strip("\n").split("\n")
    return RANKS.replace("    WORK\n", "".join(f"    {line}\n" for line in lines))


def test_ranks_of_torchrun_tell_one_report(tmp_path: Path) -> None:
    source = ranks(
        """
        net = DDP(torch.nn.Linear(3, 1))
        opt = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(7):
            net(torch.randn(4, 3)).pow(2).mean().backward()  # here
            opt.step()
        """
    )
    ended = run(source, tmp_path, TORCHRUN)
    assert (ended.status, ended.left) == (0, []), ended.err
    assert ended.told == [("gradient-not-cleared", row_of(source, "# here"), 0, 2)]


def test_the_rank_that_failed_is_told_and_torchrun_names_its_error(tmp_path: Path) -> None:
    source = ranks(
        """
        x = torch.ones(3, requires_grad=True)
        if rank == 1:
            (x * 2).numpy()  # here
        dist.all_reduce(torch.ones(1))
        """
    )
    ended = run(source, tmp_path, TORCHRUN)
    assert ended.status == 1
    assert ended.told == [("numpy-of-tensor-that-requires-grad", row_of(source, "# here"), 1, 1)]
    _, _, summary = ended.err.partition("Root Cause")
    assert "Can't call numpy()" in summary


def test_fully_sharded_that_is_right_is_quiet(tmp_path: Path) -> None:
    pytest.importorskip("torch.distributed.fsdp", reason="no FSDP here")
    source = ranks(
        """
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
        mesh = init_device_mesh("cpu", (2,))
        for part in net:
            fully_shard(part, mesh=mesh)
        fully_shard(net, mesh=mesh)
        opt = torch.optim.Adam(net.parameters())
        for _ in range(7):
            opt.zero_grad()
            net(torch.randn(8, 4)).pow(2).mean().backward()
            opt.step()
        print("trained")
        """
    )
    ended = run(source, tmp_path, TORCHRUN)
    assert (ended.status, ended.told, ended.left) == (0, [], []), ended.err
    assert ended.out.count("trained") == 2


def test_a_rank_that_hangs_says_where(tmp_path: Path) -> None:
    source = ranks(
        """
        net = DDP(torch.nn.Linear(3, 1))
        net(torch.randn(4, 3)).mean().backward()
        print("waits", flush=True)
        if rank == 0:
            dist.all_reduce(torch.ones(1))  # waits
        time.sleep(100)  # sleeps
        """
    )
    path = tmp_path / "train.py"
    path.write_text(dedent(source).lstrip("\n"), encoding="utf-8")
    ours = ["-m", "gradtrail", "run", "--output-format", "concise", str(path)]
    with tempfile.TemporaryDirectory() as temporary:
        started = subprocess.Popen(
            [*TORCHRUN, *ours],
            cwd=tmp_path,
            env=environment(temporary),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert started.stdout is not None
        said = started.stdout.readline() + started.stdout.readline()
        assert said.count("waits") == 2
        time.sleep(1)
        started.send_signal(signal.SIGTERM)
        _, err = started.communicate(timeout=SECONDS)
        left = [name for name in os.listdir(temporary) if name.startswith("gradtrail")]
    assert left == []
    assert f"rank 0 was ended by SIGTERM in line {row_of(source, '# waits')}" in err
    assert f"rank 1 was ended by SIGTERM in line {row_of(source, '# sleeps')}" in err


def test_parameters_that_ddp_waits_for_are_named(tmp_path: Path) -> None:
    source = group(
        """
        net = DDP(Gated())
        steps = __import__("json").loads("[0, 1, 2]")
        for step in steps:
            net(torch.randn(8, 4), step > 5).pow(2).mean().backward()  # here
        """
    )
    ended = run(source, tmp_path)
    assert (ended.status, ended.left) == (1, [])
    ((rule, _, rank, count),) = ended.told
    assert (rule, rank in (0, 1), count in (1, 2)) == ("unused-parameters-in-ddp", True, True)
    assert "`skipped.weight`" in ended.findings[0]["message"]
