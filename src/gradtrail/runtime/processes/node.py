"""The ranks that torchrun starts on one machine: how many they are, and the folder in which they find each other.

Source: the documentation of torch, "torchrun (Elastic Launch)", "Environment Variables".
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple


def temporary() -> str:
    """The folder for temporary files. What Python keeps of the answer is left as it was: the program may set another."""
    known = tempfile.tempdir
    try:
        return tempfile.gettempdir()
    except OSError:
        return os.path.abspath(os.sep)
    finally:
        tempfile.tempdir = known


class Node(NamedTuple):
    """Where this rank stands: its number of all, its number here, how many are here, and how many there are."""

    rank: int
    local: int
    here: int
    world: int
    run: str

    @property
    def name(self) -> str:
        """What this rank calls its word."""
        return f"{_NAME}{self.local}"

    def folder(self) -> str | None:
        """The folder of the ranks of this run on this machine, nobody else's; None where there is none to be had."""
        path = os.path.join(temporary(), f"gradtrail-{self.run}")
        try:
            with suppress(FileExistsError):
                os.mkdir(path, 0o700)
            known = os.lstat(path)
        except OSError:
            return None
        is_own = stat.S_ISDIR(known.st_mode) and known.st_uid == getattr(os, "getuid", lambda: known.st_uid)()
        return path if is_own and not known.st_mode & 0o077 else None

    def remove_what_is_left(self) -> None:
        """Take away the folders of runs that are over, whose ranks were killed before they could."""
        with suppress(OSError):
            for name in os.listdir(temporary()):
                run = re.fullmatch(r"gradtrail-.*-\d+-\d+-\d+-(\d+)", name)
                if run is not None and not _is_alive(int(run[1])):
                    removed(os.path.join(temporary(), name))

    def have_all_spoken(self, folder: str) -> bool:
        """Whether every rank of this machine has said its last word."""
        with suppress(OSError):
            spoken = [
                name for name in os.listdir(folder) if name.startswith(_NAME) and name.endswith(".json")
            ]
            return len(spoken) >= self.here
        return True


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


_NAME = "rank"

_NUMBERS = ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "WORLD_SIZE")


def node(environment: Mapping[str, str]) -> Node | None:
    """What torchrun says of this process in its environment; None for one that it has not started."""
    told = [environment.get(name, "") for name in _NUMBERS]
    if "TORCHELASTIC_RUN_ID" not in environment or not all(one.isdecimal() for one in told):
        return None
    named = ("TORCHELASTIC_RUN_ID", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT", "GROUP_RANK")
    run = "-".join([*(environment.get(name, "") for name in named), str(os.getppid())])
    rank, local, here, world = map(int, told)
    return Node(rank, local, here, world, re.sub(r"[^\w-]", "_", run)[-100:])


@contextmanager
def locked(folder: str) -> Iterator[None]:
    """What only one process may do at a time; where the system has no such locks, all do."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with open(os.path.join(folder, "lock"), "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def removed(folder: str) -> None:
    """Take the folder away, with what is in it."""
    with suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
