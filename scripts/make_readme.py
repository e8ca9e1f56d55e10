"""Renew the reports in the READMEs and the guides: what `gradtrail check` says, in each language, of their programs.

usage: python scripts/make_readme.py [--check]

With `--check` nothing is written, and the exit status is 1 when the report is not what gradtrail says now.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
READMES = {"en": ROOT / "README.md", "zh_CN": ROOT / "README.zh_CN.md", "ja": ROOT / "README.ja.md"}
GUIDES = {
    "en": ROOT / "docs" / "getting_started.md",
    "zh_CN": ROOT / "docs" / "getting_started.zh_CN.md",
    "ja": ROOT / "docs" / "getting_started.ja.md",
}
PROGRAM = re.compile(r"<!-- program -->\n```python\n(.*?)```", re.S)
REPORT = re.compile(r"(<!-- report: [^\n]*-->\n```text\n\$ gradtrail check train\.py\n).*?(```)", re.S)


def report_on(program: str, language: str) -> str:
    """What `gradtrail check train.py` prints in a language when `train.py` holds `program`."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(program, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80", "NO_COLOR": "1"}
        environment |= {"GRADTRAIL_LANG": language, "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-m", "gradtrail", "check", "train.py", "--torch-version", "2.13.0"]
        told = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False
        )
    if told.returncode != 1:
        raise SystemExit(f"gradtrail exits with {told.returncode}: {told.stdout}{told.stderr}")
    return told.stdout


def renewed(readme: str, language: str) -> str:
    """`readme`, or a guide, with the report as it is now."""
    program = PROGRAM.search(readme)
    if program is None or REPORT.search(readme) is None:
        raise SystemExit(f"a page in {language} has lost its program or its report")
    report = report_on(program.group(1), language)
    return REPORT.sub(lambda found: found.group(1) + report + found.group(2), readme)


def main() -> int:
    """Write the pages, or with `--check` compare them."""
    stale = 0
    for language, path in (*READMES.items(), *GUIDES.items()):
        before = path.read_text(encoding="utf-8")
        after = renewed(before, language)
        if "--check" in sys.argv[1:]:
            if before != after:
                print(f"the report in {path.name} is stale: run python scripts/make_readme.py")
                stale = 1
        else:
            path.write_text(after, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
