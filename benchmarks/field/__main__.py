"""Run checkers over the field cases and say what each caught, and what it said of right programs.

usage: python benchmarks/field [NAME ...] [options]

    python benchmarks/field                            every checker that stands in checkers/
    python benchmarks/field gradtrail ruff             only these
    python benchmarks/field --add mytool.toml          one more, described in a file
    python benchmarks/field --checker "mytool {files}" --pattern '^(?P<file>.+?):(?P<row>\\d+): (?P<code>\\w+)'

The README beside this file says what the figures mean.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from field.checkers import (
    REPOSITORY,
    Checker,
    Installed,
    NoResult,
    Torch,
    install,
    known_checkers,
    read_checker,
    result_of,
    torch_of,
)
from field.programs import Program, lay_out_all, lines_below
from field.score import Finding, scored, totals
from field.tables import Row, as_data, report


def default_cache() -> Path:
    """Where the environments of the checkers are kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gradtrail-field"


def one_by_one(installed: Installed, programs: list[Program]) -> list[Finding]:
    """The findings when each program is checked by a call of its own."""
    folders = [folder for each in programs for folder in (each.wrong, each.right) if folder]
    return [finding for folder in folders for finding in result_of(installed, folder)[0]]


def measured(checker: Checker, root: Path, programs: list[Program], cache: Path, torch: Torch | None) -> Row:
    """Install a checker, run it over everything below `root`, and judge what it says."""
    try:
        installed = install(checker, cache, torch)
        version = installed.version()  # the first start, which also writes the bytecode
        found, seconds = result_of(installed, root)
        if checker.one_by_one:
            found = one_by_one(installed, programs)
    except NoResult as reason:
        return Row(checker.name, reason=str(reason))
    strict = [finding for finding in found if checker.is_strict(finding)]
    speed = lines_below(root) / max(seconds, 1e-3)
    return Row(checker.name, version, scored(programs, strict), scored(programs, found), round(speed))


def given_checkers(options: argparse.Namespace) -> list[Checker]:
    """The checkers to run: those named, or all, and those that were given."""
    added = [read_checker(path) for path in options.add]
    if options.checker:
        name = options.name or options.checker.split()[0]
        added.append(
            Checker(name=name, command=options.checker, pattern=options.pattern, version=options.version)
        )
    known = known_checkers()
    unknown = sorted(set(options.names) - {each.name for each in known})
    if unknown:
        sys.exit(
            f"no such checker: {', '.join(unknown)} (there are {', '.join(each.name for each in known)})"
        )
    if options.names:
        known = [each for each in known if each.name in options.names]
    elif added:
        known = []
    return known + added


def options_of() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these of the known checkers")
    parser.add_argument("--list", action="store_true", help="name the known checkers, and stop")
    parser.add_argument(
        "--add", type=Path, action="append", default=[], metavar="FILE", help="a checker's TOML file"
    )
    parser.add_argument(
        "--checker", metavar="COMMAND", help="a command, with {files} or {folder} where they belong"
    )
    parser.add_argument(
        "--pattern", default="", metavar="REGEX", help="how to read it: groups file, row, code, message"
    )
    parser.add_argument("--name", default="", help="what to call the checker of --checker")
    parser.add_argument("--version", default="", metavar="COMMAND", help="what tells its version")
    parser.add_argument("--cases", type=Path, default=REPOSITORY / "tests" / "cases", metavar="FOLDER")
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), metavar="FOLDER", help="for environments"
    )
    parser.add_argument(
        "--torch-python", default=sys.executable, metavar="PYTHON", help="an interpreter with torch"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    parser.add_argument("--markdown", action="store_true", help="print the tables in Markdown")
    return parser.parse_args()


def main() -> int:
    """Measure each checker and print the tables."""
    options = options_of()
    if options.list:
        print("\n".join(f"{each.name:20} {each.note}" for each in known_checkers()))
        return 0
    torch, rows = torch_of(options.torch_python), []
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(os.path.realpath(scratch)) / "programs"
        programs = lay_out_all(options.cases, root)
        if not programs:
            sys.exit(f"no case.toml below {options.cases}")
        whole, lines = totals(programs), lines_below(root)
        about = {
            "date": datetime.date.today().isoformat(),
            "python": platform.python_version(),
            "torch": torch.version if torch else None,
            "lines": lines,
        }
        print(
            f"{about['date']}, Python {about['python']}, types of torch {about['torch'] or 'not at hand'}:"
            f" {whole.mistakes} programs with a mistake, {whole.right} right programs, {lines} lines\n"
        )
        for checker in given_checkers(options):
            print(f"{checker.name} ...", file=sys.stderr, flush=True)
            rows.append(measured(checker, root, programs, options.cache.resolve(), torch))
    print(report(rows, whole, markdown=options.markdown))
    if options.json:
        options.json.write_text(json.dumps(as_data(rows, whole, about), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
