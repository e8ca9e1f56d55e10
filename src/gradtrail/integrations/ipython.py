"""`%load_ext gradtrail`: the explanation under the traceback of a cell, and `%gradtrail` for the cells so far."""

from __future__ import annotations

import sys
from typing import Any

from gradtrail.integrations.observing import Observer, Options
from gradtrail.integrations.output import current_folder, output_width, wants_colour
from gradtrail.laws.text import say
from gradtrail.runtime.user_code import PACKAGE

_attached: dict[int, tuple[Observer, Any]] = {}


def load_ipython_extension(shell: Any) -> None:
    """What IPython calls for `%load_ext gradtrail`."""
    if id(shell) not in _attached:
        observer = Observer(Options(), None)
        observer.begin()
        attach(shell, observer)


def unload_ipython_extension(shell: Any) -> None:
    """What IPython calls for `%unload_ext gradtrail`."""
    observer, before = _attached.pop(id(shell), (None, None))
    if observer is not None:
        observer.leave()
        shell.showtraceback = before


def attach_to_running_shell(observer: Observer) -> None:
    """Show explanations in the shell that this program runs in, if it runs in one."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is not None and id(shell) not in _attached:
        attach(shell, observer)


def attach(shell: Any, observer: Observer) -> None:
    """Explain what is raised in the cells of `shell`, and take `%gradtrail`."""
    before = shell.showtraceback

    def showtraceback(*args: Any, **keywords: Any) -> Any:
        shown = before(*args, **keywords)
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, (KeyboardInterrupt, SystemExit, SyntaxError)):
            observer.crashed(error, ends=False)
        return shown

    shell.showtraceback = showtraceback
    _attached[id(shell)] = (observer, before)
    shell.register_magic_function(lambda line: _check_cells(shell), "line", "gradtrail")


def _check_cells(shell: Any) -> None:
    """What `gradtrail check` says of the cells so far, in the order in which they ran."""
    from gradtrail.findings.engine import StandardInput, check_paths
    from gradtrail.reports import terminal

    cells = [
        cell for cell in shell.user_ns.get("In", []) if cell and not cell.lstrip().startswith("%gradtrail")
    ]
    source = "".join(f"# %%\n{cell.rstrip()}\n" for cell in cells)
    report = check_paths([], stdin=StandardInput(source.encode("utf-8", "replace")))
    style = terminal.Style(output_width(), wants_colour("auto"), current_folder())
    if report.findings:
        sys.stdout.write(
            terminal.render(report.findings, report.not_looked_at, report.files, report.sources.get, style)
        )
    else:
        sys.stdout.write(say("nothing found in the cells so far") + "\n")


__all__ = [
    "PACKAGE",
    "attach",
    "attach_to_running_shell",
    "load_ipython_extension",
    "unload_ipython_extension",
]
