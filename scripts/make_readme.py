"""Renew the report in README.md: what `gradtrail check` says of the program that stands there.

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
README = ROOT / "README.md"
PROGRAM = re.compile(r"<!-- program -->\n```python\n(.*?)```", re.S)
REPORT = re.compile(r"(<!-- report: [^\n]*-->\n```text\n\$ gradtrail check train\.py\n).*?(```)", re.S)


def report_on(program: str) -> str:
    """What `gradtrail check train.py` prints when `train.py` holds `program`."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(program, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "80", "NO_COLOR": "1"}
        command = [sys.executable, "-m", "gradtrail", "check", "train.py", "--torch-version", "2.13.0"]
        told = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
    if told.returncode != 1:
        raise SystemExit(f"gradtrail exits with {told.returncode}: {told.stdout}{told.stderr}")
    return told.stdout


def renewed(readme: str) -> str:
    """`readme` with the report as it is now."""
    program = PROGRAM.search(readme)
    if program is None or REPORT.search(readme) is None:
        raise SystemExit("README.md has lost its program or its report")
    report = report_on(program.group(1))
    return REPORT.sub(lambda found: found.group(1) + report + found.group(2), readme)


def main() -> int:
    """Write README.md, or with `--check` compare it."""
    before = README.read_text(encoding="utf-8")
    after = renewed(before)
    if "--check" in sys.argv[1:]:
        if before != after:
            print("the report in README.md is stale: run python scripts/make_readme.py")
        return int(before != after)
    README.write_text(after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
