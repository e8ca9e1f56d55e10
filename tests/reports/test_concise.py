"""One line for each finding."""

from __future__ import annotations

from gradtrail.findings.diagnostic import NotLookedAt
from gradtrail.laws.text import text
from gradtrail.reports.concise import render
from reports.sample import FINDING, FOLDER


def test_findings_and_what_was_left_out() -> None:
    left_out = [
        NotLookedAt(FOLDER + "/bad.py", text("does not parse: line 3: invalid syntax")),
        NotLookedAt("/elsewhere/deep.py", text("a limit"), failed=False),
    ]
    in_a_cell = FINDING._replace(place=FINDING.place._replace(cell=4), severity="warning")
    assert render([FINDING, in_a_cell], left_out, FOLDER) == (
        "train.py:14:25: error[non-leaf-in-optimizer] Adam will refuse `W` wherever `device` is not the CPU\n"
        "train.py:cell 4:14:25: warning[non-leaf-in-optimizer] "
        "Adam will refuse `W` wherever `device` is not the CPU\n"
        "bad.py: not looked at: does not parse: line 3: invalid syntax\n"
        "/elsewhere/deep.py: note: a limit\n"
    )


def test_many_limits_are_told_once() -> None:
    limits = [NotLookedAt(FOLDER + f"/{number}.py", text("a limit"), failed=False) for number in range(9)]
    assert render([], limits, FOLDER).splitlines()[2:] == [
        "2.py: note: a limit",
        "note: 6 notes more of this kind (the JSON report has them all)",
    ]


def test_a_message_stays_on_its_line() -> None:
    finding = FINDING._replace(message=text("{name}", name="a\nb"))
    assert render([finding], [], FOLDER).count("\n") == 1
