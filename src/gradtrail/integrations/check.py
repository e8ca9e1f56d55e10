"""`gradtrail check`: look for mistakes in files and folders, without running them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from gradtrail.findings.engine import STANDARD_INPUT, Report, StandardInput, check_paths
from gradtrail.integrations.command import FOUND, NOTHING, OUR_MISTAKE, USAGE
from gradtrail.integrations.output import output_width, put, wants_colour

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

_EXAMPLES = """\
examples:
  gradtrail check                                the Python files of this folder
  gradtrail check train.py models/               a file and a folder
  pbpaste | gradtrail check -                    code as it was pasted
  gradtrail check --output-format concise src    one line for each finding
  gradtrail check --select non-leaf-in-optimizer train.py
"""


def run(arguments: Sequence[str]) -> int:
    """Check what `arguments` name and print the report; the exit status comes back."""
    parser = _parser()
    options = parser.parse_args(arguments)
    select, ignore = _rules(parser, "--select", options.select), _rules(parser, "--ignore", options.ignore)
    if options.statistics and options.output_format == "json":
        parser.error("--statistics is a table for people: it does not go with --output-format json")
    report = check_paths(
        [path for path in options.paths if path != "-"],
        select=select,
        ignore=ignore,
        stdin=_standard_input(options),
        torch_version=_torch_version(parser, options.torch_version),
    )
    put(_rendered(report, options))
    return exit_status(report, options.exit_zero)


def exit_status(report: Report, exit_zero: bool = False) -> int:
    """The exit status that `report` asks for; with `exit_zero` findings alone do not count."""
    if report.crashed:
        return OUR_MISTAKE
    if any(finding.severity in ("error", "warning") for finding in report.findings):
        return NOTHING if exit_zero else FOUND
    if any(one.failed for one in report.not_looked_at):
        return USAGE
    return NOTHING


def _parser() -> argparse.ArgumentParser:
    import argparse

    parser = argparse.ArgumentParser(
        prog="gradtrail check",
        description="Look for autograd mistakes in files and folders. Nothing is run or imported.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATH",
        default=["."],
        help="files, folders, or - for standard input (default: .)",
    )
    add("--output-format", choices=("terminal", "concise", "json"), default="terminal", help="how to report")
    add("--select", metavar="RULES", default="", help="only these rules, with commas between them")
    add("--ignore", metavar="RULES", default="", help="all rules but these")
    add("--statistics", action="store_true", help="count the findings of each rule instead of showing them")
    add("--torch-version", metavar="VERSION", help="the release of torch that the program runs on")
    add("--stdin-filename", metavar="NAME", help="the name of what comes from standard input")
    add("--color", choices=("auto", "always", "never"), default="auto", help="colour in the report")
    add("--exit-zero", action="store_true", help="exit with 0 even when there are findings")
    return parser


def _rules(parser: argparse.ArgumentParser, option: str, listed: str) -> tuple[str, ...]:
    """The names in a list with commas; one that no rule has is a usage error."""
    names = tuple(name.strip() for name in listed.split(",") if name.strip())
    if not names:
        return ()
    from gradtrail.findings.registry import index
    from gradtrail.integrations.nearest import nearest

    known = index().modules
    for name in names:
        if name not in known:
            near = nearest(name, known)
            question = f"did you mean `{near}`?" if near else "`gradtrail rule` lists them"
            parser.error(f"{option}: there is no rule `{name}`; {question}")
    return names


def _standard_input(options: argparse.Namespace) -> StandardInput | None:
    if "-" not in options.paths:
        return None
    return StandardInput(sys.stdin.buffer.read(), options.stdin_filename or STANDARD_INPUT)


def _torch_version(parser: argparse.ArgumentParser, asked: str | None) -> str | None:
    from gradtrail.integrations.torch_version import found_version, release

    if asked is None:
        return found_version(os.getcwd())
    version = release(asked)
    if version is None:
        parser.error(f"--torch-version: `{asked}` is not a version such as 2.13.0")
    return version


def _rendered(report: Report, options: argparse.Namespace) -> str:
    folder = os.getcwd()
    if options.statistics:
        from gradtrail.reports import statistics

        return statistics.render(report.findings, report.not_looked_at, report.files, folder)
    if options.output_format == "json":
        from gradtrail.reports import json_report

        return json_report.render(report.findings, report.not_looked_at)
    if options.output_format == "concise":
        from gradtrail.reports import concise

        return concise.render(report.findings, report.not_looked_at, folder)
    from gradtrail.reports import terminal

    style = terminal.Style(output_width(), wants_colour(options.color), folder)
    return terminal.render(report.findings, report.not_looked_at, report.files, report.sources.get, style)
