"""Print how often the source and the running program both speak of a mistake, and every place where they differ.

usage: python scripts/agreement.py [FOLDER ...]

Runs each field case of `tests/cases` (or of the folders) that runs here, wrong and put right, in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

WHO = {
    "static": "raised, and the source says the same",
    "live": "raised, and only the live facts say why",
    "law": "raised, and only the law is known",
    "both": "silent, and both see it",
    "source": "silent, and only the source says so",
    "only live": "silent, and only the run shows it",
    "against": "the source says so, and the run denies it",
}


def watched(path: str) -> None:
    """Run one program under observation, and print who knew of what as the last line."""
    from gradtrail.runtime import program
    from gradtrail.runtime.session import Session

    sys.argv = [path]
    session = Session(path, failed=lambda wrong: print("failed", repr(wrong)))
    loaded = program.script(path)
    main = program.take_the_place_of_main(loaded, [])
    session.begin()
    raised = program.execute(loaded, main)
    session.end()
    if raised is None:
        session.ended()
    else:
        session.crashed(raised)
    told = [(one.by, one.differs, one.diagnostic.rule) for one in session.explained]
    told += [("only live" if one.by == "live" else one.by, "", one.finding.rule) for one in session.silent]
    print("\n@@" + json.dumps(told))


def programs(folders: list[Path]) -> Iterator[Path]:
    """The programs of the field cases."""
    for folder in folders:
        for case in sorted(folder.glob("**/case.toml")):
            if "runs_here = false" not in case.read_text(encoding="utf-8"):
                yield from (
                    path for path in (case.parent / "case.py", case.parent / "fixed.py") if path.exists()
                )


def main() -> None:
    """Run all, and print the table."""
    folders = [Path(one) for one in sys.argv[1:]] or [ROOT / "tests" / "cases"]
    counts: Counter[str] = Counter()
    different: list[str] = []
    for path in programs(folders):
        with tempfile.TemporaryDirectory() as empty:
            environment = {**os.environ, "MPLBACKEND": "Agg", "TMPDIR": empty}
            command = [sys.executable, "-W", "ignore", __file__, "--watched", str(path)]
            done = subprocess.run(
                command,
                cwd=path.parent,
                env=environment,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
        last = next((line for line in reversed(done.stdout.splitlines()) if line.startswith("@@")), None)
        if last is None:
            different.append(f"{path.parent.name}/{path.name}: no answer: {done.stderr[-200:]!r}")
            continue
        for by, differs, rule in json.loads(last[2:]):
            counts[by] += 1
            if differs or by == "against":
                different.append(f"{path.parent.name}/{path.name}: {rule}: {differs or 'the run denies it'}")
    for by, told in WHO.items():
        print(f"{counts[by]:5}  {told}")
    print(f"{len(different):5}  differ" + ("" if not different else ":"))
    for line in different:
        print(f"         {line}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--watched"]:
        watched(sys.argv[2])
    else:
        main()
