"""Work shared out among several processes of this machine, where it can be done without danger.

The processes are forks of this one, so they know all that it knows and start at once. A fork is safe while there is one
thread; systems whose libraries start threads of their own are left out. What a process has not told, because it failed or
was ended, its parent does itself: then whatever is wrong shows as it would have without the others.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

MOST = 8
_BLOCK = 16
"""So many neighbours, which import the same, go to one process where there are many of them."""


def there_may_be(asked: int | None = None) -> int:
    """How many processes may work at once: those `asked` for, or as many as this machine has processors at rest."""
    if not hasattr(os, "fork") or sys.platform == "darwin":
        return 1
    threads = sys.modules.get("threading")
    if threads is not None and threads.active_count() > 1:
        return 1
    if asked is not None:
        return min(asked, MOST)
    try:
        here, busy = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    except (AttributeError, OSError):
        here, busy = os.cpu_count() or 1, 0.0
    return max(1, min(here - round(busy), MOST))


def shared_out(filenames: Sequence[str], processes: int, look: Callable[[list[str]], Any]) -> list[Any]:
    """What `look` gives for each share of the files, told as JSON; shares of which nothing came are left out."""
    import json

    size = max(1, min(_BLOCK, len(filenames) // (4 * processes)))
    blocks = [filenames[start : start + size] for start in range(0, len(filenames), size)]
    shares = [[name for block in blocks[number::processes] for name in block] for number in range(processes)]
    started: dict[int, int] = {}
    """The processes by the pipe that each tells its results through."""
    try:
        for share in shares:
            receives, sends = os.pipe()
            try:
                pid = os.fork()
            except OSError:  # there is no room for another process
                os.close(receives)
                os.close(sends)
                break
            if not pid:
                _work(share, look, sends)
            os.close(sends)
            started[receives] = pid
        told = _gathered(list(started))
    except BaseException:
        _end(started.values())
        raise
    finally:
        for receives, pid in started.items():
            os.close(receives)
            with suppress(OSError):
                os.waitpid(pid, 0)
    results = []
    for data in told:
        with suppress(ValueError):
            results.append(json.loads(data))
    return results


def _work(share: list[str], look: Callable[[list[str]], Any], sends: int) -> None:
    """Be one of the processes: look, tell, and end without the leave-taking that belongs to the parent."""
    import json

    try:
        with open(sends, "wb") as pipe:
            pipe.write(json.dumps(look(share), separators=(",", ":")).encode())
    finally:
        os._exit(0)


def _gathered(pipes: list[int]) -> list[bytes]:
    """All that is told through several pipes, in their order."""
    import select

    told: dict[int, list[bytes]] = {pipe: [] for pipe in pipes}
    waiting = select.poll()
    for pipe in pipes:
        waiting.register(pipe, select.POLLIN | select.POLLHUP)
    left = len(pipes)
    while left:
        for pipe, _ in waiting.poll():
            data = os.read(pipe, 1 << 20)
            told[pipe].append(data)
            if not data:
                waiting.unregister(pipe)
                left -= 1
    return [b"".join(told[pipe]) for pipe in pipes]


def _end(processes: Any) -> None:
    import signal

    for pid in processes:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
