"""`%load_ext gradtrail`: the explanation under the traceback of a cell, and `%gradtrail` for the cells so far."""

from __future__ import annotations

import sys
from typing import Any

from gradtrail.integrations.observing import Observer, Options, one_by_one
from gradtrail.integrations.output import current_folder, wants_colour
from gradtrail.laws.text import say
from gradtrail.runtime.cells import Cells

_attached: dict[int, _Attached] = {}
"""By the identity of their shells."""


def load_ipython_extension(shell: Any) -> None:
    """What IPython calls for `%load_ext gradtrail`."""
    if id(shell) not in _attached:
        observer = Observer(Options(), None)
        _attach(shell, observer)
        observer.begin()


def unload_ipython_extension(shell: Any) -> None:
    """What IPython calls for `%unload_ext gradtrail`."""
    attached = _attached.pop(id(shell), None)
    if attached is not None:
        attached.leave()


def attach_to_running_shell(observer: Observer) -> None:
    """Show explanations in the shell that this program runs in, if it runs in one."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is not None and id(shell) not in _attached:
        _attach(shell, observer)


def _attach(shell: Any, observer: Observer) -> None:
    _attached[id(shell)] = _Attached(shell, observer)


class _Attached:
    """A shell whose cells are observed: what is raised in them is explained, and `%gradtrail` is taken."""

    def __init__(self, shell: Any, observer: Observer) -> None:
        self._shell = shell
        self._observer = observer
        self._cells = Cells(shell)
        observer.session.read(self._cells)
        self._shown_by = shell.__dict__.get("showtraceback")
        shell.showtraceback = self._showtraceback
        shell.events.register("pre_run_cell", self._begins)
        shell.events.register("post_run_cell", self._ended)
        shell.register_magic_function(self._check, "line", "gradtrail")

    def leave(self) -> None:
        """Leave the shell as it was found."""
        self._observer.leave()
        if self._shown_by is None:
            self._shell.__dict__.pop("showtraceback", None)
        else:
            self._shell.showtraceback = self._shown_by
        self._shell.events.unregister("pre_run_cell", self._begins)
        self._shell.events.unregister("post_run_cell", self._ended)
        self._shell.magics_manager.magics["line"].pop("gradtrail", None)

    def _showtraceback(self, *args: Any, **keywords: Any) -> Any:
        error = sys.exc_info()[1]
        shown = (self._shown_by or type(self._shell).showtraceback.__get__(self._shell))(*args, **keywords)
        if error is not None and not isinstance(error, (KeyboardInterrupt, SystemExit, SyntaxError)):
            self._observer.raised(error)
        return shown

    def _begins(self, info: Any) -> None:
        """A cell is about to run: what it does first is watched, whatever the cells before it did."""
        self._observer.begin_again()

    def _ended(self, result: Any) -> None:
        """A cell has run."""
        if result.error_in_exec is not None and result.execution_count:
            self._cells.raised(result.execution_count, result.error_in_exec.__traceback__)

    def _check(self, line: str) -> None:
        """What `gradtrail check` says of the cells so far, in the order in which they ran."""
        from gradtrail.findings.engine import StandardInput, check_paths

        report = check_paths([], stdin=StandardInput(self._cells.data(), self._cells.filename))
        told = one_by_one(report, wants_colour("auto"), current_folder())
        sys.stdout.write(told or say("nothing found in the cells so far") + "\n")
