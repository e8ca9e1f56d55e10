"""Which line made which node: the counter of autograd's nodes, read as the lines of the user's code go by.

No tensor is touched, kept or wrapped. Every node carries the number that the counter had when it was made, so the line is found
afterwards, for those nodes that turn out to matter.
"""

from __future__ import annotations

import sys

from gradtrail.runtime.recorder.form import Counter, Recorder


def recorder(counter: Counter, full: bool = False) -> Recorder:
    """The recorder for this Python: by `sys.monitoring` from 3.12 on, by `sys.settrace` before.

    `counter` gives the number that the next node of this thread will get. With `full` the calls that lead to each line
    are kept too.
    """
    if sys.version_info >= (3, 12):
        from gradtrail.runtime.recorder.by_monitoring import ByMonitoring

        return ByMonitoring(counter, full)
    from gradtrail.runtime.recorder.by_tracing import ByTracing

    return ByTracing(counter, full)


__all__ = ["Counter", "Recorder", "recorder"]
