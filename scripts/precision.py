"""Check public repositories, keep every finding with the verdicts of its readers, and make the page of it.

usage: python scripts/precision.py FOLDER [--only OWNER/NAME ...]   check the copies in FOLDER, renew the page
       python scripts/precision.py --page                           renew the page only

A copy that is not in FOLDER, or that takes longer than `--longest` seconds, is passed over: its findings stay as they are.
With `--usual` the slower look at everything is left out, and what it found stays as it is.
`docs/precision/repositories.toml` lists the repositories and their commits, or `pypi:VERSION` for the files of a release;
`looks = ["usual"]` leaves out the slower look at everything. FOLDER holds a copy of each as `OWNER+NAME`, for example
from `git clone` and `git checkout COMMIT`; nothing of them is run. Every finding stands in
`docs/precision/findings.toml`. One that has been judged keeps its verdicts; one that is not told any more stays,
marked as gone. The page is `docs/precision/README.md`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "precision"
LONGEST = 1800
EXCERPT_ROWS, EXCERPT_WIDTH = 6, 110

JUDGED = ("verdict_first", "reason_first", "verified_first", "verdict_second", "reason_second", "program")
"""What a reader writes: "true", "false" or, where the excerpt does not decide, "unclear"; why; how it was verified; the
smallest program of a false alarm."""

KEYS = (
    "repo",
    "commit",
    "path",
    "row",
    "column",
    "rule",
    "severity",
    "message",
    "look",
    "told",
    "excerpt",
    *JUDGED,
)
LOOKS: dict[str, dict[str, str]] = {"usual": {}, "everything": {"GRADTRAIL_EVERYTHING": "1"}}
OWN_MISTAKE = "a mistake of gradtrail"
"""What the report says of a file when gradtrail itself failed there."""

Finding = dict[str, Any]


# Checking


def checked(folder: Path, environment: dict[str, str], longest: float) -> dict[str, Any]:
    """The JSON report of `gradtrail check` on a folder."""
    done = subprocess.run(
        [sys.executable, "-m", "gradtrail", "check", "--output-format", "json", "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "GRADTRAIL_LANG": "en", **environment},
        capture_output=True,
        text=True,
        timeout=longest,
        check=False,
    )
    try:
        return dict(json.loads(done.stdout))
    except ValueError:
        raise SystemExit(
            f"{folder.name}: no report, status {done.returncode}: {done.stderr[-300:]}"
        ) from None


def excerpt(folder: Path, told: dict[str, Any]) -> list[str]:
    """The rows that the trail names in the file of the finding, the last ones when there are many."""
    steps = [step for step in told["trail"] if step["filename"] == told["filename"]]
    rows = sorted({told["location"]["row"], *(step["location"]["row"] for step in steps)})[-EXCERPT_ROWS:]
    lines = (folder / told["filename"]).read_text(encoding="utf-8", errors="replace").splitlines()
    return [f"{row}: {lines[row - 1].strip()[:EXCERPT_WIDTH]}" for row in rows if row <= len(lines)]


def found_in(
    folder: Path, repository: dict[str, Any], looks: Iterable[str] = LOOKS, longest: float = LONGEST
) -> tuple[list[Finding], list[str]]:
    """What is found in a repository: as a user finds it, and what a look at everything adds.

    The second list are the files on which gradtrail itself failed, each with the reason.
    """
    found: dict[tuple[Any, ...], Finding] = {}
    failed: dict[str, str] = {}
    for look in looks:
        report = checked(folder, LOOKS[look], longest)
        for each in report.get("not_looked_at", []):
            if OWN_MISTAKE in each["reason"]:
                path = os.path.relpath(folder / each["filename"], folder)
                failed[path] = f"{path}: {each['reason'].partition(' (')[0]}"
        for told in report["findings"]:
            finding = {
                "repo": repository["name"],
                "commit": repository["commit"],
                "path": os.path.relpath(folder / told["filename"], folder),
                "row": told["location"]["row"],
                "column": told["location"]["column"],
                "rule": told["rule"],
                "severity": told["severity"],
                "message": told["message"],
                "look": look,
                "told": True,
                "excerpt": excerpt(folder, told),
                **dict.fromkeys(JUDGED, ""),
            }
            found.setdefault(key_of(finding), finding)
    return list(found.values()), sorted(failed.values())


def size_of(folder: Path, repository: dict[str, str]) -> dict[str, Any]:
    """What was checked: files, those that say torch, and lines."""
    texts = [path.read_bytes() for path in sorted(folder.glob("**/*.py"))]
    return {
        **repository,
        "files": len(texts),
        "torch_files": sum(b"torch" in text for text in texts),
        "lines": sum(text.count(b"\n") for text in texts),
        "checked": datetime.date.today().isoformat(),
    }


# Keeping


def key_of(finding: Finding) -> tuple[Any, ...]:
    """What makes a finding the same one in a later run."""
    return tuple(finding[key] for key in ("repo", "commit", "path", "row", "column", "rule"))


def merged(
    kept: list[Finding], found: list[Finding], repos: Iterable[str], looks: Iterable[str] = LOOKS
) -> list[Finding]:
    """The findings after a run with `looks` over `repos`: verdicts stay, and what is not told any more is marked."""
    before, now, run = (
        {key_of(each): each for each in kept},
        {key_of(each): each for each in found},
        set(repos),
    )
    result = []
    for key, old in before.items():
        if key in now:
            judged = {name: old.get(name, "") for name in JUDGED}
            result.append({**now[key], **judged})
        elif old["repo"] in run and old["look"] in looks:
            result.append({**old, "told": False})
        else:
            result.append(old)
    result += [each for key, each in now.items() if key not in before]
    return sorted(result, key=lambda each: (each["repo"].lower(), each["path"], each["row"], each["rule"]))


def as_toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, str) and "\n" in value and "'''" not in value:
        return f"'''\n{value.rstrip()}\n'''"
    if isinstance(value, list):
        return "[" + "".join(f"\n    {as_toml(each)}," for each in value) + ("\n]" if value else "]")
    return json.dumps(value, ensure_ascii=False)


def written(repositories: list[dict[str, Any]], findings: list[Finding]) -> str:
    """The text of `findings.toml`."""
    parts = [
        "# Written by scripts/precision.py; the verdicts, their reasons and `program` are written by readers."
    ]
    tables = [("repository", each, list(each)) for each in repositories]
    tables += [("finding", each, list(KEYS)) for each in findings]
    for name, table, keys in tables:
        rows = [
            f"{key} = {as_toml(table[key])}" for key in keys if table.get(key, "") != "" or key in JUDGED[:2]
        ]
        parts.append("\n".join([f"[[{name}]]", *rows]))
    return "\n\n".join(parts) + "\n"


def kept_in(path: Path) -> tuple[list[dict[str, Any]], list[Finding]]:
    """What `findings.toml` holds: the repositories as they were checked, and the findings."""
    if not path.exists():
        return [], []
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    findings = [{**dict.fromkeys(JUDGED, ""), **each} for each in data.get("finding", [])]
    return data.get("repository", []), findings


# The page


def share(findings: list[Finding], reader: str) -> str:
    """How many of the findings that this reader judged are true."""
    count = Counter(each[f"verdict_{reader}"] for each in findings)
    whole = count["true"] + count["false"]
    return f"{count['true']} of {whole} ({count['true'] / whole:.0%})" if whole else "not judged"


def table(head: list[str], rows: list[list[Any]]) -> list[str]:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(str(cell) for cell in line)} |" for line in lines] + [""]


def shares(title: str, groups: dict[str, list[Finding]]) -> list[str]:
    """How many findings of each group are true, after both readers."""
    rows = [
        [name, len(each), share(each, "first"), share(each, "second")]
        for name, each in groups.items()
        if each
    ]
    return table([title, "findings", "true, first reader", "true, second reader"], rows)


def by_rule(findings: list[Finding]) -> dict[str, list[Finding]]:
    """The findings of each rule, by its name."""
    rules = sorted({each["rule"] for each in findings})
    return {f"`{rule}`": [each for each in findings if each["rule"] == rule] for rule in rules}


def entry(finding: Finding, *, reader: str = "first") -> list[str]:
    """One finding with the reason of a reader, as an item of a list."""
    where = f"{finding['repo']}@{finding['commit'][:12]} `{finding['path']}:{finding['row']}`"
    how = f" Verified: {finding['verified_first']}" if finding["verified_first"] else ""
    lines = [f"- {where}, `{finding['rule']}`: {finding['message']}. {finding[f'reason_{reader}']}{how}"]
    if finding["program"]:
        lines += [
            "",
            "  ```python",
            *(f"  {line}".rstrip() for line in finding["program"].splitlines()),
            "  ```",
            "",
        ]
    return lines


def judged(findings: list[Finding], verdict: str, reader: str = "first") -> list[Finding]:
    """Those that the reader judged so."""
    return [each for each in findings if each[f"verdict_{reader}"] == verdict]


def listing(title: str, findings: list[Finding]) -> list[str]:
    """A section with one item for each finding; nothing when there are none."""
    if not findings:
        return []
    return [f"## {title}", "", *(line for each in findings for line in entry(each)), ""]


def page(repositories: list[dict[str, Any]], findings: list[Finding]) -> str:
    """The text of the page."""
    told = [each for each in findings if each["told"]]
    split = [each for each in told if {each["verdict_first"], each["verdict_second"]} == {"true", "false"}]
    lines = sum(each["lines"] for each in repositories)
    usual = [each for each in told if each["look"] == "usual"]
    text = [
        "# Precision over public code",
        "",
        "<!-- Made by scripts/precision.py from findings.toml. -->",
        "",
        f"`gradtrail check` over {len(repositories)} public repositories, {lines:,} lines of Python, each at one commit or release: every",
        "finding, judged by readers who looked at the code around it. **True** means that the sentence is true at that place"
        " and that",
        "a maintainer would agree that it is a mistake or worth the warning; all else is false. The second reader sees the"
        " excerpt and the finding alone, and may leave open what these do not decide.",
        "",
        "`python scripts/precision.py FOLDER` checks the copies in FOLDER again and keeps the verdicts in"
        " [findings.toml](findings.toml).",
        "In a large project `check` looks only at definitions that hold a word of some rule; *everything* is what"
        " `GRADTRAIL_EVERYTHING=1` adds.",
        "",
        *shares(
            "look",
            {
                "as a user": usual,
                "added by everything": [e for e in told if e["look"] != "usual"],
                "**all**": told,
            },
        ),
        *shares("rule", by_rule(told)),
        *listing("Mistakes that were found", judged(told, "true")),
        *listing("False alarms", judged(told, "false")),
        *listing("Told no more", [each for each in findings if not each["told"]]),
    ]
    if split:
        both = [[*entry(each), *entry(each, reader="second")] for each in split]
        text += ["## Where the readers differ", "", *(line for each in both for line in each), ""]
    failed = [f"- {each['name']} `{one}`" for each in repositories for one in each.get("failed", [])]
    if failed:
        text += ["## Where gradtrail failed", "", *failed, ""]
    rows = [
        [each["name"], f"`{each['commit'][:12]}`", each["files"], each["torch_files"], each["lines"], number]
        for each in repositories
        for number in [sum(one["repo"] == each["name"] for one in told)]
    ]
    text += [
        "## Repositories",
        "",
        *table(["name", "commit", "files", "say torch", "lines", "findings"], rows),
    ]
    return "\n".join(text).rstrip() + "\n"


def run_over(folder: Path, only: list[str], looks: list[str], longest: float, pages: Path) -> None:
    """Check the copies in `folder` and write what is found to `findings.toml`."""
    listed = tomllib.loads((pages / "repositories.toml").read_text(encoding="utf-8"))["repository"]
    kept_repositories, kept = kept_in(pages / "findings.toml")
    sizes, names = {each["name"]: each for each in kept_repositories}, [each["name"] for each in listed]
    run = [(each, folder / each["name"].replace("/", "+")) for each in listed]
    run = [(each, copy) for each, copy in run if copy.is_dir() and (not only or each["name"] in only)]
    if not run:
        raise SystemExit(f"no copy of a repository of the list in {folder}")
    for each, copy in run:
        own_looks = [look for look in each.get("looks", LOOKS) if look in looks]
        try:
            found, failed = found_in(copy, each, own_looks, longest)
        except subprocess.TimeoutExpired:
            print(f"{each['name']}: longer than {longest:g} s", flush=True)
            continue
        print(f"{each['name']}: {len(found)} findings", flush=True)
        sizes[each["name"]] = {**size_of(copy, each), "failed": failed}
        kept = merged(kept, found, [each["name"]], own_looks)
        text = written([sizes[name] for name in names if name in sizes], kept)
        (pages / "findings.toml").write_text(text, encoding="utf-8")


def main() -> int:
    """Check, keep, and make the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="where the copies are")
    parser.add_argument("--only", nargs="*", default=[], metavar="OWNER/NAME")
    parser.add_argument("--usual", action="store_true", help="leave out the look at everything")
    parser.add_argument("--longest", type=float, default=LONGEST, metavar="SECONDS", help="for one look")
    parser.add_argument("--page", action="store_true", help="renew the page from the findings that are kept")
    options = parser.parse_args()
    if options.folder:
        looks = ["usual"] if options.usual else list(LOOKS)
        run_over(options.folder.resolve(), options.only, looks, options.longest, PAGES)
    elif not options.page:
        parser.error("say where the copies are, or --page")
    (PAGES / "README.md").write_text(page(*kept_in(PAGES / "findings.toml")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
