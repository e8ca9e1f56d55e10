"""Checkers: one TOML file says how each is installed, called and read."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .programs import Spot, tomllib
from .score import Finding

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
LONGEST_RUN = 900
"""Seconds of wall time after which a checker is stopped."""


class NoResult(Exception):
    """The checker could not be installed, or gave nothing that can be read. The text is the reason."""


@dataclass(frozen=True)
class Checker:
    """What the TOML file of a checker says. The README beside this file explains each key."""

    name: str
    command: str
    pattern: str = ""
    json: dict[str, Any] = field(default_factory=dict)
    install: list[str] = field(default_factory=list)
    install_alone: list[str] = field(default_factory=list)
    distribution: str = ""
    version: str = ""
    torch: str = ""
    levels: str = ""
    with_torch: str = ""
    one_by_one: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot work before anything is run."""
        if bool(self.pattern) == bool(self.json):
            raise ValueError(f"{self.name}: say either a pattern or a [json] table")
        groups = re.compile(self.pattern).groupindex if self.pattern else self.json
        missing = [key for key in ("file", "row") if key not in groups]
        if missing:
            raise ValueError(f"{self.name}: nothing says what the {' and the '.join(missing)} is")

    def is_strict(self, finding: Finding) -> bool:
        """Whether the finding belongs to the codes that the file declares to speak of torch."""
        said = f"{finding.code} {finding.message}"
        heavy = not self.levels or re.fullmatch(self.levels, finding.level) is not None
        return heavy and re.search(self.torch, said) is not None


def read_checker(path: Path) -> Checker:
    """The checker that a TOML file describes."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    unknown = sorted(set(table) - set(Checker.__dataclass_fields__))
    if unknown:
        raise ValueError(f"{path.name}: unknown keys: {', '.join(unknown)}")
    return Checker(**table)


def known_checkers() -> list[Checker]:
    """The checkers that stand beside this file, gradtrail first."""
    found = [read_checker(path) for path in sorted((HERE / "checkers").glob("*.toml"))]
    return sorted(found, key=lambda each: (not each.name.startswith("gradtrail"), each.name.lower()))


class Torch(NamedTuple):
    """An interpreter that has torch, for checkers that read the types of libraries."""

    python: str
    packages: str
    version: str


def torch_of(python: str) -> Torch | None:
    """What torch this interpreter has. It is looked for, not imported."""
    look = (
        "import importlib.util as u, importlib.metadata as m, os\n"
        "s = u.find_spec('torch')\n"
        "print(os.path.dirname(os.path.dirname(s.origin)) if s else '')\n"
        "print(m.version('torch') if s else '')"
    )
    told = subprocess.run(
        [python, "-c", look], capture_output=True, text=True, check=False
    ).stdout.splitlines()
    return Torch(python, told[0], told[1]) if told and told[0] else None


# Reading what a checker printed


def reached(value: Any, path: str) -> Any:
    """What a dotted path leads to; None when there is no such thing."""
    for part in path.split(".") if path else []:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def items_below(data: Any, path: str) -> list[dict[str, Any]]:
    """The items of a list that `path` names. `files[].findings` also gives each finding what its file says."""
    head, _, rest = path.partition("[].")
    items = reached(data, head) or []
    if not rest:
        return list(items)
    return [{"outer": outer, **inner} for outer in items for inner in items_below(outer, rest)]


def places_of(item: dict[str, Any], table: dict[str, Any]) -> frozenset[Spot]:
    """The places that a finding names beside its own, by the paths of a `[json.trail]` table."""
    steps = items_below(item, table["list"]) if table else []
    first = int(table.get("first_row", 1))
    told = ((reached(step, table["file"]), reached(step, table["row"])) for step in steps)
    return frozenset(
        (Path(file).name, int(row) + 1 - first) for file, row in told if file and row is not None
    )


def read_json(text: str, table: dict[str, Any], folder: Path) -> list[Finding]:
    """The findings of a JSON report, by the paths of the `[json]` table."""
    try:
        items = items_below(json.loads(text), table.get("list", ""))
    except ValueError as error:
        raise NoResult(f"its report is no JSON ({error})") from error
    found = []
    for item in items:
        file, row = reached(item, table["file"]), reached(item, table["row"])
        if file is None or row is None:
            continue
        # A checker that counts rows from 0 says so with first_row.
        row = int(row) + 1 - int(table.get("first_row", 1))
        code, message, level = (
            str(reached(item, table[key]) or "") if key in table else ""
            for key in ("code", "message", "level")
        )
        path, trail = Path(os.path.realpath(folder / file)), places_of(item, table.get("trail", {}))
        found.append(Finding(path, row, code, message, level, trail))
    return found


def read_lines(text: str, pattern: str, folder: Path) -> list[Finding]:
    """The findings of a report with one line each, by the named groups of the pattern."""
    found = []
    for match in re.finditer(pattern, text, re.MULTILINE):
        said = {name: value or "" for name, value in match.groupdict().items()}
        file = Path(os.path.realpath(folder / said["file"].strip()))
        more = (said.get(name, "") for name in ("code", "message", "level"))
        found.append(Finding(file, int(said["row"]), *more))
    return found


def findings_of(checker: Checker, text: str, folder: Path) -> list[Finding]:
    """What the checker found; `folder` is where relative paths start."""
    if checker.json:
        return read_json(text, checker.json, folder)
    return read_lines(text, checker.pattern, folder)


# Installing and running


class Run(NamedTuple):
    """One call of a checker: what it printed, its CPU time in seconds, its status."""

    out: str
    errors: str
    seconds: float
    status: int


class Installed(NamedTuple):
    """A checker that can be called. `environment` is its virtual environment, if it has one."""

    checker: Checker
    environment: Path | None
    torch: Torch | None

    @property
    def python(self) -> str:
        """The interpreter that the checker runs on."""
        return str(self.environment / "bin" / "python") if self.environment else sys.executable

    def words(self, command: str, folder: Path) -> list[str]:
        """The command as a list, with what stands in braces put in."""
        places = {"python": [self.python], "folder": [str(folder)], "with_torch": []}
        places["files"] = [str(path) for path in sorted(folder.glob("**/*.py"))]
        if self.torch:
            spoken = self.checker.with_torch.replace("{torch_python}", self.torch.python)
            places["with_torch"] = shlex.split(spoken.replace("{torch_packages}", self.torch.packages))
        words = []
        for word in shlex.split(command):
            words.extend(places[word[1:-1]] if word[1:-1] in places and word[0] == "{" else [word])
        if self.environment and (self.environment / "bin" / words[0]).exists():
            words[0] = str(self.environment / "bin" / words[0])
        return words

    def run(self, command: str, folder: Path) -> Run:
        """Call it in `folder`."""
        extra = {
            key: value.replace("{repository}", str(REPOSITORY))
            for key, value in self.checker.environment.items()
        }
        return timed(self.words(command, folder), folder, {**os.environ, **extra})

    def version(self) -> str:
        """The checker's version in its own words."""
        if self.checker.version:
            told = self.run(self.checker.version, HERE)
            match = re.search(r"\d+(\.\d+)+\S*", told.out + told.errors)
        else:
            ask = f"import importlib.metadata as m; print(m.version({self.checker.distribution or self.checker.name!r}))"
            match = re.search(r"\S+", timed([self.python, "-c", ask], HERE, dict(os.environ)).out)
        return match[0].strip(",;()") if match else "?"


def timed(words: list[str], folder: Path, environment: dict[str, str]) -> Run:
    """Run a command to its end. Its own CPU time counts, and that of the processes it waited for."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        before = os.times()
        try:
            status = subprocess.run(
                words,
                cwd=folder,
                env=environment,
                stdout=out,
                stderr=errors,
                timeout=LONGEST_RUN,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired as error:
            raise NoResult(f"not done after {LONGEST_RUN} s") from error
        except OSError as error:
            raise NoResult(f"cannot be called: {error}") from error
        after = os.times()
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return Run(texts[0], texts[1], seconds, status)


def pip(environment: Path, *words: str) -> None:
    """Install into the environment, with the pip of this interpreter."""
    python = str(environment / "bin" / "python")
    command = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        python,
        "install",
        "--quiet",
    ]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if re.match(r"(ERROR|error)", line.strip())]
        raise NoResult(f"pip: {' '.join((said or done.stderr.splitlines())[-1:])[:200]}")


def install(checker: Checker, cache: Path, torch: Torch | None) -> Installed:
    """Make the checker's own environment, unless an earlier run has made it."""
    if not checker.install and not checker.install_alone:
        return Installed(checker, None, torch)
    environment = cache / re.sub(r"\W+", "-", checker.name)
    asked = json.dumps([checker.install, checker.install_alone])
    done = environment / "installed.json"
    if not done.exists() or done.read_text(encoding="utf-8") != asked:
        shutil.rmtree(environment, ignore_errors=True)
        venv.create(environment, with_pip=False)
        if checker.install:
            pip(environment, *checker.install)
        if checker.install_alone:
            pip(environment, "--no-deps", *checker.install_alone)
        done.write_text(asked, encoding="utf-8")
    return Installed(checker, environment, torch)


def result_of(installed: Installed, folder: Path) -> tuple[list[Finding], float]:
    """What the checker says of the files below `folder`, and the CPU time of that one call."""
    run = installed.run(installed.checker.command, folder)
    found = findings_of(installed.checker, run.out, folder)
    # Statuses differ from checker to checker. Nothing found, a status and an error text together are a crash.
    if run.status < 0 or (run.status and not found and run.errors.strip()):
        last = run.errors.strip().splitlines()[-1:]
        raise NoResult(f"status {run.status}: {' '.join(last)[:200]}")
    return found, run.seconds
