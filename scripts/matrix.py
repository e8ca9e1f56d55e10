"""What people ask about, and what gradtrail does for each: found, explained, repaired, on tiny, in three languages.

usage: python scripts/matrix.py [--write | --check]

Each row is a program. What torch does with it is written beside it, and a test asks torch. Everything else is found by
running gradtrail. `--write` renews `docs/matrix.md`; with `--check` the exit status is 1 when that page is stale.
"""

from __future__ import annotations

import gettext
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "matrix.md"

sys.path.insert(0, str(ROOT / "src"))

from gradtrail.findings.engine import check_source  # noqa: E402
from gradtrail.findings.registry import rule_named  # noqa: E402
from gradtrail.integrations.language import FOLDER  # noqa: E402
from gradtrail.laws import messages, wordings  # noqa: E402


class Subject(NamedTuple):
    """What is asked about: an example of a rule (`rule` and `title`), or a program that is right (`program`)."""

    name: str
    rule: str = ""
    title: str = ""
    program: str = ""


SUBJECTS = (
    Subject("derived tensor", "non-leaf-in-optimizer", "scaled after requires_grad"),
    Subject("move to a device", "non-leaf-in-optimizer", "moved to the device after it was made"),
    Subject("view", "non-leaf-in-optimizer", "a slice of a parameter"),
    Subject("clone or clamp in a helper", "non-leaf-in-optimizer", "computed in a helper"),
    Subject("model output to numpy", "numpy-of-tensor-that-requires-grad", "the output of a model"),
    Subject(
        "list of losses to numpy", "numpy-of-tensor-that-requires-grad", "a list of losses handed to numpy"
    ),
    Subject("numpy off the CPU", "numpy-of-tensor-off-cpu", "a mask computed on the device"),
    Subject("plain tensor", program="w = torch.zeros(3, requires_grad=True)\ntorch.optim.SGD([w], lr=0.1)"),
    Subject("Parameter", program="w = torch.nn.Parameter(torch.zeros(3))\ntorch.optim.SGD([w], lr=0.1)"),
    Subject("Parameter, converted", "parameter-lost-by-conversion", "cast after nn.Parameter"),
    Subject(
        "registered Parameter",
        program="net = torch.nn.Linear(2, 1).double()\ntorch.optim.SGD(net.parameters(), lr=0.1)",
    ),
    Subject("tensor over a Parameter", "tensor-over-parameter", "a rescaled weight"),
    Subject("dropped detach", "dropped-result", "detach as a statement"),
    Subject("dropped conversion", "dropped-result", "a conversion as a statement"),
    Subject(
        "order of detach, cpu, numpy",
        program="y = torch.ones(2, requires_grad=True) * 2\ny.detach().cpu().numpy()\ny.cpu().detach().numpy()",
    ),
    Subject("detach_", program="y = torch.ones(2, requires_grad=True) * 2\ny.detach_()\ny.numpy()"),
    Subject("detach_ of a view", "detach-of-view-in-place", "a row"),
    Subject(
        "no_grad",
        program="net = torch.nn.Linear(2, 1)\nwith torch.no_grad():\n    net(torch.ones(1, 2)).numpy()",
    ),
    Subject("no_grad without parentheses", "uncalled-grad-mode", "no parentheses"),
    Subject("grad mode left off", "backward-without-graph", "grad mode left off"),
    Subject("in place on a leaf", "in-place-on-leaf", "a parameter"),
    Subject("in place on a saved tensor", "in-place-on-saved-tensor", "the result of sigmoid is written"),
    Subject("backward twice", "second-backward", "two losses that share a layer"),
    Subject("state carried on", "second-backward", "a state carried from step to step"),
    Subject("loss of several numbers", "backward-from-non-scalar", "one loss for each sample"),
    Subject("grad of a non-leaf", "grad-of-non-leaf", "the gradient of an intermediate result"),
    Subject(
        "requires_grad of a computed tensor", "requires-grad-on-non-leaf", "the flag of a computed tensor"
    ),
    Subject("deepcopy", "deepcopy-of-non-leaf", "a computed tensor"),
    Subject("devices mixed", "mixed-devices", "positions made on the CPU"),
    Subject("dtypes mixed", "mixed-dtypes", "numpy's float64 into a layer"),
    Subject("DDP", "unused-parameters-in-ddp", "a layer that forward leaves out"),
    Subject("checkpoint", "reentrant-checkpoint-without-grad", "the first block of a network"),
)

HEADS = ("subject", "torch", "check", "explain", "repair", "tiny", "zh", "ja")
NOT_YET = "not yet"


def program_of(subject: Subject) -> str:
    """The program of a row."""
    if subject.program:
        return "import torch\n" + subject.program + "\n"
    return dedent(_example(subject).bad).strip() + "\n"


def verdict_of(subject: Subject) -> str:
    """What torch does with it, as `tests/test_matrix.py` holds."""
    if subject.program:
        return "runs"
    example = _example(subject)
    if not example.raises:
        return f"runs, and `{example.proof}`"
    return f"raises `{example.raises}`" + (" off the CPU" if example.off_cpu else "")


def rows() -> list[tuple[str, ...]]:
    """The table, without its head."""
    return [_row(subject) for subject in SUBJECTS]


def _row(subject: Subject) -> tuple[str, ...]:
    found = check_source(program_of(subject))
    said = "quiet" if not found else "found" if found[0].rule == subject.rule else f"says {found[0].rule}"
    explained = repaired = "-"
    spoken = ["-", "-"]
    if subject.rule:
        explained = _explained(subject)
        repaired = "yes" if found and found[0].fixes else NOT_YET
        template = found[0].message.template if found else ""
        spoken = [_translated(template, language) for language in ("zh_CN", "ja")]
    return (subject.name, verdict_of(subject), said, explained, repaired, _on_tiny(subject), *spoken)


def _on_tiny(subject: Subject) -> str:
    """Whether the program does on `gradtrail.tiny` what it does on torch."""
    raises = _example(subject).raises if subject.rule else ""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.py")
        program.write_text(program_of(subject), encoding="utf-8")
        command = [sys.executable, "-m", "gradtrail", "tiny", str(program)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "GRADTRAIL_LANG": "en"}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ran.returncode == 2:
        return "needs numpy"
    if raises and raises in ran.stderr:
        return "raises"
    if "gradtrail.tiny has no" in ran.stderr:
        return "not in tiny"
    return "runs" if ran.returncode == 0 and not raises else "differs"


def _explained(subject: Subject) -> str:
    example = _example(subject)
    if not example.raises:
        return "no error to explain"
    rule = rule_named(subject.rule)
    said, known = wordings.fold(example.raises), messages.keys()
    pieces = [wordings.fold(messages.message(key).piece) for key in rule.hears if key in known]
    return "yes" if any(said in piece or piece in said for piece in pieces) else NOT_YET


def _translated(template: str, language: str) -> str:
    spoken = gettext.translation("gradtrail", FOLDER, [language])
    return "yes" if template and spoken.gettext(template) != template else NOT_YET


def _example(subject: Subject):  # type: ignore[no-untyped-def]
    rule = rule_named(subject.rule)
    assert rule is not None
    return next(example for example in rule.examples if example.title == subject.title)


def page() -> str:
    """The table as Markdown."""
    lines = ["# What people ask about", "", "Made by `scripts/matrix.py`; `not yet` is what is to come.", ""]
    lines += ["| " + " | ".join(HEADS) + " |", "|" + "---|" * len(HEADS)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows()]
    return "\n".join(lines) + "\n"


def plain() -> str:
    """The table for a terminal, without torch's words."""
    short = [(row[0], row[1].partition(" `")[0].partition(",")[0], *row[2:]) for row in (HEADS, *rows())]
    widths = [max(len(row[column]) for row in short) for column in range(len(HEADS))]
    return "".join(
        "  ".join(f"{cell:<{room}}" for cell, room in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in short
    )


def main() -> int:
    """Print the table, or write or compare its page."""
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if "--check" in sys.argv[1:]:
        stale = not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page()
        if stale:
            print("docs/matrix.md is stale: run python scripts/matrix.py --write")
        return int(stale)
    print(plain(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
