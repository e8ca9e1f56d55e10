"""`gradtrail check`: look for mistakes in files and folders, without running them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from gradtrail.findings.engine import STANDARD_INPUT, Report, Settings, StandardInput, check_paths
from gradtrail.findings.registry import known_names
from gradtrail.integrations import configuration
from gradtrail.integrations.command import FOUND, NOTHING, OUR_MISTAKE, USAGE
from gradtrail.integrations.output import complain, current_folder, output_width, put, wants_colour
from gradtrail.laws.text import Text, say, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from gradtrail.integrations.remembered import Memory

_EXAMPLES = (
    ("gradtrail check", text("the Python files of this folder")),
    ("gradtrail check train.py models/", text("a file and a folder")),
    ("gradtrail check - < paste.txt", text("code as it was pasted")),
    ("gradtrail check --output-format concise src", text("one line for each finding")),
    ("gradtrail check --fix train.py", text("repair what can be repaired safely")),
    ("gradtrail check --select non-leaf-in-optimizer train.py", text("one rule")),
)


class Options:
    """What the arguments ask for; every option has its default."""

    def __init__(self) -> None:
        self.paths: list[str] = ["."]
        self.output_format = "terminal"
        self.select: str | None = None
        self.ignore: str | None = None
        self.statistics = False
        self.torch_version: str | None = None
        self.stdin_filename: str | None = None
        self.color = "auto"
        self.exit_zero = False
        self.config: str | None = None
        self.isolated = False
        self.baseline: str | None = None
        self.write_baseline: str | None = None
        self.no_cache = False
        self.fix = False
        self.unsafe_fixes = False
        self.diff = False


class Option(NamedTuple):
    """One option: its name, what its value is called ("" for none), the values there are, its purpose."""

    name: str
    value: str
    choices: tuple[str, ...]
    help: Text


OPTIONS = (
    Option("--output-format", "FORMAT", ("terminal", "concise", "json", "markdown"), text("how to report")),
    Option("--select", "RULES", (), text("only these rules, with commas between them")),
    Option("--ignore", "RULES", (), text("all rules but these")),
    Option("--statistics", "", (), text("count the findings of each rule instead of showing them")),
    Option("--torch-version", "VERSION", (), text("the release of torch that the program runs on")),
    Option("--stdin-filename", "NAME", (), text("the name of what comes from standard input")),
    Option("--color", "WHEN", ("auto", "always", "never"), text("colour in the report")),
    Option("--fix", "", (), text("make the repairs that are safe, and report what is left")),
    Option("--unsafe-fixes", "", (), text("repairs too after which the program may compute something else")),
    Option("--diff", "", (), text("print what --fix would change, and change nothing")),
    Option("--exit-zero", "", (), text("exit with 0 even when there are findings")),
    Option(
        "--config", "FILE", (), text("the settings of all files, in place of those of each pyproject.toml")
    ),
    Option("--isolated", "", (), text("no settings: no pyproject.toml is read")),
    Option("--baseline", "FILE", (), text("hide the findings that are recorded there")),
    Option("--no-cache", "", (), text("look at everything anew, and remember nothing")),
    Option("--write-baseline", "FILE", (), text("record the findings there, to be hidden from then on")),
)


def run(arguments: Sequence[str], memory: Memory | None = None, own_process: bool = False) -> int:
    """Check what `arguments` name and print the report, which `memory` keeps; the exit status comes back.

    A process of our own may start others, which look at a part of the files each.
    """
    options = read_plainly(arguments)
    if options is None:
        options = _parser().parse_intermixed_args(arguments, namespace=Options())
    select, ignore = _rules("--select", options.select), _rules("--ignore", options.ignore)
    if options.statistics and options.output_format == "json":
        _wrong(say("--statistics is a table for people: it does not go with --output-format json"))
    if options.stdin_filename is not None and "-" not in options.paths:
        _wrong(say("--stdin-filename names what comes from standard input: it goes with the path -"))
    if options.write_baseline is not None and (options.fix or options.diff):
        _wrong(say("--write-baseline records what is found: it does not go with --fix or --diff"))
    if options.unsafe_fixes and not (options.fix or options.diff):
        complain("gradtrail check: " + say("--unsafe-fixes counts only with --fix or --diff"))
    stdin = _standard_input(options)
    try:
        settings = _settings(options, select, ignore)
    except configuration.WrongConfiguration as wrong:
        return _complain_of(wrong.filename, wrong.reason)

    files = None
    if memory is not None:
        from gradtrail.integrations.remembered_files import RememberedFiles

        files = RememberedFiles(memory)

    def look(texts: Mapping[str, bytes] | None = None) -> Report:
        report = check_paths(
            [path for path in options.paths if path != "-"],
            select=select,
            ignore=ignore,
            stdin=stdin,
            settings_of=settings.of,
            leaves_out=settings.leaves_out,
            texts=texts,
            kept=files,
            processes=_processes if own_process else None,
        )
        if options.baseline is None and not options.isolated:
            options.baseline = settings.baseline(current_folder())
        return _beside_baseline(report, options, settings)

    try:
        if options.fix or options.diff:
            from gradtrail.integrations import fixing

            return fixing.run(look, options, stdin, _rendered)
        report = look()
    except configuration.WrongConfiguration as wrong:
        return _complain_of(wrong.filename, wrong.reason)
    output, status = _rendered(report, options), exit_status(report, options.exit_zero)
    put(output)
    if memory is not None and not report.crashed:
        memory.keep(output, status)
        if files is not None:
            files.write()
    return status


def _processes() -> int:
    """How many processes may look at files at once: `GRADTRAIL_PROCESSES`, or as many as have a processor."""
    if os.environ.get("GRADTRAIL_DEBUG") or os.environ.get("GRADTRAIL_STRICT"):
        return 1  # what goes wrong is to show where it does
    from gradtrail.findings.processes import there_may_be

    asked = os.environ.get("GRADTRAIL_PROCESSES", "")
    return there_may_be(int(asked) if asked.isdecimal() else None)


def _settings(options: Options, select: tuple[str, ...], ignore: tuple[str, ...]) -> configuration.Merged:
    """What holds for each file. Raises `WrongConfiguration`."""
    if options.isolated and options.config is not None:
        _wrong(say("--isolated reads no settings: it does not go with --config"))
    from gradtrail.integrations.torch_version import found_version

    asked = Settings(select, ignore, _torch_version(options.torch_version))
    found = found_version(current_folder()) if asked.torch_version is None else None
    given = None
    if options.config is not None:
        given = configuration.read(os.path.abspath(options.config), known_names)
    elif options.isolated:
        given = configuration.NONE
    return configuration.Merged(configuration.Configurations(known_names, given), asked, found)


def _beside_baseline(report: Report, options: Options, settings: configuration.Merged) -> Report:
    """The report without what is recorded; what there is to be recorded is. Raises `WrongConfiguration`."""
    if options.write_baseline is None and options.baseline is None:
        return report
    from gradtrail.findings import baseline

    try:
        if options.write_baseline is not None:
            return baseline.write(os.path.abspath(options.write_baseline), report)
        return baseline.hide(os.path.abspath(options.baseline or ""), report, settings.of)
    except baseline.WrongBaseline as wrong:
        raise configuration.WrongConfiguration(wrong.filename, wrong.reason) from wrong


def _complain_of(filename: str, reason: Text) -> int:
    from gradtrail.reports.names import headed, shown_name

    complain("gradtrail: " + headed(shown_name(filename, current_folder()), str(reason)))
    return USAGE


def read_plainly(arguments: Sequence[str]) -> Options | None:
    """The options, read without `argparse`; None when something is not plain (help, a mistake, `--`).

    `argparse` takes longer to import and to set up than most of what a small file needs. Whatever this
    reader takes, `argparse` takes in the same way, which a test holds.
    """
    options = Options()
    paths: list[str] = []
    known = {option.name: option for option in OPTIONS}
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-") or argument == "-":
            paths.append(argument)
            continue
        name, equals, value = argument.partition("=")
        option = known.get(name)
        if option is None or (equals and not option.value):
            return None
        field = name[2:].replace("-", "_")
        if not option.value:
            setattr(options, field, True)
            continue
        if not equals:
            value = next(rest, "-")
        if value.startswith("-") or " " in value:
            return None
        if option.choices and value not in option.choices:
            return None
        setattr(options, field, value)
    options.paths = paths or options.paths
    return options


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
    from gradtrail.integrations.arguments import parser

    room = max(len(example) for example, _ in _EXAMPLES) + 2
    examples = "".join(f"  {example:<{room}}{says}\n" for example, says in _EXAMPLES)
    made = parser(
        "check",
        say("Look for autograd mistakes in files and folders. Nothing is run or imported."),
        say("examples:") + "\n" + examples,
    )
    what = say("files, folders, or - for standard input (default: .)")
    made.add_argument("paths", nargs="*", metavar="PATH", default=["."], help=what)
    for option in OPTIONS:
        if not option.value:
            made.add_argument(option.name, action="store_true", help=str(option.help))
        elif option.choices:
            made.add_argument(option.name, choices=option.choices, help=str(option.help))
        else:
            made.add_argument(option.name, metavar=option.value, help=str(option.help))
    return made


def _wrong(message: str) -> NoReturn:
    """End with a usage error."""
    _parser().error(message)


def _rules(option: str, listed: str | None) -> tuple[str, ...]:
    """The names in a list with commas; one that no rule has is a usage error, and so is a list without names."""
    if listed is None:
        return ()
    names = tuple(name.strip() for name in listed.split(",") if name.strip())
    if not names:
        _wrong(say("{option}: names no rule", option=option))
    from gradtrail.integrations.nearest import nearest

    known = known_names()
    for name in names:
        if name not in known:
            near = nearest(name, known)
            question = (
                say("did you mean `{near}`?", near=near) if near else say("`gradtrail rule` lists them")
            )
            _wrong(
                say(
                    "{option}: there is no rule `{name}`; {question}",
                    option=option,
                    name=name,
                    question=question,
                )
            )
    return names


def _standard_input(options: Options) -> StandardInput | None:
    if "-" not in options.paths:
        return None
    data = b"" if sys.stdin is None else sys.stdin.buffer.read()
    return StandardInput(data, options.stdin_filename or STANDARD_INPUT)


def _torch_version(asked: str | None) -> str | None:
    """The release that was asked for; None when nobody did."""
    from gradtrail.integrations.torch_version import release

    version = None if asked is None else release(asked)
    if asked is not None and version is None:
        _wrong(say("--torch-version: `{asked}` is not a version such as 2.13.0", asked=asked))
    return version


def _rendered(report: Report, options: Options) -> str:
    folder = current_folder()
    if options.statistics:
        from gradtrail.reports import statistics

        return statistics.render(report.findings, report.not_looked_at, report.files, folder)
    if options.output_format == "json":
        from gradtrail.reports import json_report

        return json_report.render(report.findings, report.not_looked_at)
    if options.output_format == "concise":
        from gradtrail.reports import concise

        return concise.render(report.findings, report.not_looked_at, folder)
    if options.output_format == "markdown":
        from gradtrail.reports import markdown

        sources = report.sources.get
        return markdown.render(report.findings, report.not_looked_at, report.files, sources, folder)
    from gradtrail.reports import terminal

    style = terminal.Style(output_width(), wants_colour(options.color), folder)
    return terminal.render(report.findings, report.not_looked_at, report.files, report.sources.get, style)
