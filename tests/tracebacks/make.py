"""Make the tracebacks under `made/`: run programs the way people run them, and keep what is printed.

usage: python tests/tracebacks/make.py

Needs torch and IPython. Each field case, and each program of `foreign.py`, is run under one of python, IPython, pytest
and torchrun. Folders of this machine are replaced. `made/index.toml` says which law each speaks of: the judge
is the exception itself, by its type and its text, before anybody has pasted it. Those of `foreign.py` speak of none.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import tomllib

HERE = Path(__file__).resolve().parent
CASES = HERE.parent / "cases"
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "src")]

from gradtrail.laws.wordings import recognise  # noqa: E402
from tracebacks.foreign import PROGRAMS  # noqa: E402

RUNNERS = ("python", "ipython", "pytest", "torchrun", "last-line")
SECONDS = 100


def main() -> None:
    """Write all files anew."""
    made = HERE / "made"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    index: list[str] = []
    for case in sorted(CASES.glob("*/*/case.toml")):
        facts = tomllib.loads(case.read_text(encoding="utf-8"))
        entry = recognise(str(facts.get("error_type", "")), str(facts.get("error", "")))
        if facts.get("kind") != "raises" or entry is None or "world_size" in facts:
            continue
        runner = runner_of(case.parent.name)
        text = printed(runner, case.parent)
        if str(facts["error"])[:30] not in " ".join(text.split()):
            continue
        said = re.findall(rf"^(?!FAILED).*{facts['error_type']}: (.*)", text, re.M)
        entry = recognise(str(facts["error_type"]), said[-1]) if said else entry
        name = f"{runner}-{case.parent.name}.txt"
        (made / name).write_text(text, encoding="utf-8")
        law = "dataloader-grad" if "DataLoader worker" in text else entry.key
        index.append(f'[{json.dumps(name)}]\nlaw = "{law}"\n')
    for title, program in PROGRAMS.items():
        runner = runner_of(title)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "case.py").write_text(program.lstrip(), encoding="utf-8")
            text = printed(runner, Path(folder))
        name = f"{runner}-{title}.txt"
        (made / name).write_text(text, encoding="utf-8")
        index.append(f'[{json.dumps(name)}]\nlaw = ""\n')
    (made / "index.toml").write_text("\n".join(index), encoding="utf-8")
    print(f"{len(index)} tracebacks, {len(PROGRAMS)} of them foreign")


def runner_of(title: str) -> str:
    """How a program is run: always the same way, whatever other programs there are."""
    return RUNNERS[zlib.crc32(title.encode()) % len(RUNNERS)]


def printed(runner: str, case: Path) -> str:
    """What a run of a case prints, cut to its end."""
    with tempfile.TemporaryDirectory() as folder:
        for file in case.glob("*.py"):
            shutil.copy(file, folder)
        command = {
            "python": [sys.executable, "case.py"],
            "last-line": [sys.executable, "case.py"],
            "ipython": [sys.executable, "-m", "IPython", "--colors=Linux", "--no-banner", "case.py"],
            "pytest": [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "--no-header",
                "-p",
                "no:cacheprovider",
                "test_case.py",
            ],
            "torchrun": [sys.executable, "-m", "torch.distributed.run", "--standalone", "--tee=3", "case.py"],
        }[runner]
        if runner == "pytest":
            body = (
                "def test_training():\n    import runpy\n    runpy.run_path('case.py', run_name='__main__')\n"
            )
            Path(folder, "test_case.py").write_text(body, encoding="utf-8")
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", "COLUMNS": "100"}
        ran = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        text = without_folders(ran.stdout + ran.stderr, folder)
    lines = [line for line in text.split("\n") if "Warning" not in line]
    if runner == "last-line":
        return next(line for line in reversed(lines) if re.match(r"\w+Error", line)) + "\n"
    return without_code_of_libraries("\n".join(lines[-60:]), runner)


_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RANK = re.compile(r"\[(?:rank|default)\d+\]: ?")
_KEPT_OF_A_TEST = re.compile(r"(E |E$|\S+\.py:\d+|_ _|={5}|-{5}|FAILED|\d+ failed|\s*$)")
_FRAME = re.compile(r"\s*(?:File |Cell In)")
_NO_CODE = re.compile(r"\w*(?:Error|Exception|Warning)|-{10}|Traceback|During|The above|\s*$")


def without_code_of_libraries(text: str, runner: str) -> str:
    """`text` without the lines of other people's code: the frames stay, and where the arrow of a notebook points."""
    kept: list[str] = []
    library = False
    for line in text.split("\n"):
        plain = _RANK.sub("", _ANSI.sub("", line), count=1)
        arrow = re.match(r"\s*-+> \d+", plain)
        if runner == "pytest":
            kept += [line] if _KEPT_OF_A_TEST.match(plain) else []
        elif _FRAME.match(plain):
            library = any(part in plain for part in ("site-packages", "lib/python3", "<frozen"))
            kept.append(line)
        elif _NO_CODE.match(plain):
            library = library and not plain.strip()
            kept.append(line)
        elif not library:
            kept.append(line)
        elif arrow is not None:
            kept.append(arrow.group())
    return "\n".join(kept)


def without_folders(text: str, folder: str) -> str:
    """`text` with the folders of this machine told as anybody's."""
    text = text.replace(os.path.realpath(folder), "/home/user/project").replace(folder, "/home/user/project")
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    text = re.sub(
        r"[\w./-]*/site-packages", "/usr/lib/python3/site-packages", text.replace(packages, "/site-packages")
    )
    return text.replace(str(Path(sys.executable).parent.parent), "/usr").replace(
        os.path.expanduser("~"), "/home/user"
    )


if __name__ == "__main__":
    main()
