"""Being told when the program has imported a module, without importing it.

Source: the Python documentation, "The import system", "The meta path".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def when_imported(name: str, then: Callable[[], None]) -> None:
    """Call `then` once the module `name` is there: now, or as soon as its code has run."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module is not None and (spec in _told or not getattr(spec, "_initializing", False)):
        then()
        return
    sys.meta_path.insert(0, _Finder(name, then))


_told: list[ModuleSpec | None] = []
"""The modules whose code has run, and whose import tells of it."""


class _Finder(MetaPathFinder):
    """Lets the other finders find the module, and puts itself behind its loader. It serves one import."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that others find, with a loader that tells us when it is done."""
        if fullname != self._name:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(fullname, path, target) if find is not None else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Telling(spec.loader, self._then)
                return spec
        return None


class _Telling(Loader):
    """A loader that does what another does, gives it its place back, and then calls us."""

    def __init__(self, loader: Any, then: Callable[[], None]) -> None:
        self._loader = loader
        self._then = then

    def __getattr__(self, name: str) -> Any:
        """Whatever else is asked of a loader is the other's to answer."""
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the loader does."""
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """As the loader does, and tell when it is done."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        _told.append(module.__spec__)
        self._then()
