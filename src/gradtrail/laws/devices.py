"""Devices: an open set of names, of which only the CPU is special.

numpy lives on the CPU, and a move to the device on which a tensor is keeps it the same tensor. Which
device a program will find is known only when it runs.
"""

from __future__ import annotations

KNOWN = ("cpu", "cuda", "mps", "xpu", "npu", "hpu", "mtia", "xla", "ipu", "vulkan", "meta", "privateuseone")
"""Names met so far; others may come."""

CPU = "cpu"


def device_type(name: str) -> str:
    """The type of a device as it is written: "cuda" for "cuda:1"."""
    return name.partition(":")[0].strip()


def is_cpu(name: str) -> bool:
    """Whether a device string names the CPU ("cpu", "cpu:0")."""
    return device_type(name) == CPU


def same_device(one: str, other: str) -> bool | None:
    """Whether two device strings name one device; None when that depends on the machine.

    "cuda" is the current CUDA device, so whether it is "cuda:1" is not known; "cpu" has no numbers.
    """
    if device_type(one) != device_type(other):
        return False
    if one == other or device_type(one) in (CPU, "meta", "mps"):
        return True
    return None if "" in (one.partition(":")[2], other.partition(":")[2]) else False
