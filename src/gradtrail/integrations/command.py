"""The command `gradtrail`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from gradtrail.findings.engine import Report

NOTHING, FOUND, USAGE, OUR_MISTAKE, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit statuses: nothing found; findings; usage, or a path that could not be read and nothing was
found; a mistake of ours; stopped by Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (those of the process by default); the exit status comes back."""
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the report has gone: what is left must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    return status


def _run(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    run = getattr(options, "run", None)
    if run is None:
        _parser().print_help()
        return USAGE
    status: int = run(options)
    return status


def _parser() -> argparse.ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(prog="gradtrail", description="Find and explain autograd mistakes in PyTorch programs.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    check = commands.add_parser("check", help="look for mistakes without running anything")
    check.add_argument("paths", nargs="*", metavar="PATH", default=["."])
    check.add_argument("--output-format", choices=("terminal", "concise", "json"), default="terminal")
    check.add_argument("--stdin-filename", metavar="NAME")
    check.add_argument("--select", metavar="RULES", default="")
    check.add_argument("--ignore", metavar="RULES", default="")
    check.add_argument("--torch-version", metavar="VERSION")
    check.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    check.add_argument("--exit-zero", action="store_true")
    check.set_defaults(run=_check)
    return parser


def _check(options: argparse.Namespace) -> int:
    from gradtrail.findings.engine import STANDARD_INPUT, StandardInput, check_paths

    stdin = None
    paths = [path for path in options.paths if path != "-"]
    if len(paths) < len(options.paths):
        stdin = StandardInput(sys.stdin.buffer.read(), options.stdin_filename or STANDARD_INPUT)
    report = check_paths(
        paths,
        select=_names(options.select),
        ignore=_names(options.ignore),
        stdin=stdin,
        torch_version=options.torch_version,
    )
    _print(_rendered(report, options))
    return exit_status(report, options.exit_zero)


def exit_status(report: Report, exit_zero: bool = False) -> int:
    """The exit status that a report asks for."""
    if report.crashed:
        return OUR_MISTAKE
    if any(finding.severity in ("error", "warning") for finding in report.findings):
        return NOTHING if exit_zero else FOUND
    if any(one.failed for one in report.not_looked_at):
        return USAGE
    return NOTHING


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())


def _rendered(report: Report, options: argparse.Namespace) -> str:
    if options.output_format == "json":
        from gradtrail.reports import json_report

        return json_report.render(report.findings, report.not_looked_at)
    if options.output_format == "concise":
        from gradtrail.reports import concise

        return concise.render(report.findings, report.not_looked_at, os.getcwd())
    from gradtrail.reports import terminal

    sources = report.sources
    lookup = sources.get if sources is not None else lambda filename: None
    style = terminal.Style(_width(), _colour(options.color), os.getcwd())
    return terminal.render(report.findings, report.not_looked_at, report.files, lookup, style)


def _width() -> int:
    try:
        columns = int(os.environ.get("COLUMNS", "0")) or os.get_terminal_size(sys.stdout.fileno()).columns
    except (ValueError, OSError):
        return 80
    return max(40, min(columns, 120))


def _colour(choice: str) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding or "ascii"
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
