"""The report for people, as it is drawn."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradtrail.findings.diagnostic import Diagnostic, Fix, NotLookedAt, Step
from gradtrail.laws.text import text
from gradtrail.reports.cells import width
from gradtrail.reports.terminal import Style, render, render_one, summary
from gradtrail.source.files import SourceFiles
from gradtrail.source.place import Edit, Place
from reports.sample import CREATED, FILENAME, FINDING, FOLDER, files, place

STYLE = Style(width=80, folder=FOLDER)


def drawn(
    finding: Diagnostic, sources: SourceFiles | None = None, style: Style = STYLE, first: bool = True
) -> str:
    return render_one(finding, (sources or files()).get, style, first)


def test_a_finding_with_its_trail_at_100_columns() -> None:
    assert (
        drawn(FINDING, style=Style(width=100, folder=FOLDER))
        == """\
error[non-leaf-in-optimizer]: Adam will refuse `W` wherever `device` is not the CPU
  train.py:14:25
    8 | W = torch.randn(10, 10, requires_grad=True)
      |     --------------------------------------- 1. a leaf: you created it
   11 | W = W.to(device)
      |     ------------ 2. a move to another device returns a new, computed tensor: not a leaf
   14 | optimizer = optim.Adam([W], lr=0.01)
      |                         ^ 3. ValueError: can't optimize a non-leaf Tensor
  why: an optimizer updates leaves, the tensors you created; gradients are kept only there
  fix: line 8   W = torch.randn(10, 10)
       line 11  W = W.to(device).requires_grad_()
  more: gradtrail rule non-leaf-in-optimizer
"""
    )


def test_a_finding_with_its_trail_at_60_columns() -> None:
    assert (
        drawn(FINDING, style=Style(width=60, folder=FOLDER))
        == """\
error[non-leaf-in-optimizer]: Adam will refuse `W` wherever
    `device` is not the CPU
  train.py:14:25
    8 | W = torch.randn(10, 10, requires_grad=True)
      |     ---------------------------------------
      |     1. a leaf: you created it
   11 | W = W.to(device)
      |     ------------ 2. a move to another device returns
      |                     a new, computed tensor: not a
      |                     leaf
   14 | optimizer = optim.Adam([W], lr=0.01)
      |                         ^
      |             3. ValueError: can't optimize a non-leaf
      |                Tensor
  why: an optimizer updates leaves, the tensors you created;
       gradients are kept only there
  fix: line 8   W = torch.randn(10, 10)
       line 11  W = W.to(device).requires_grad_()
  more: gradtrail rule non-leaf-in-optimizer
"""
    )


def test_the_second_finding_of_a_rule_tells_no_law() -> None:
    second = drawn(FINDING, first=False)
    assert "why:" not in second
    assert "more:" not in second
    assert "fix:" in second


def test_a_report_says_why_once_for_each_rule_and_ends_with_the_sum() -> None:
    other = FINDING._replace(rule="another-rule", severity="warning")
    report = render([FINDING, FINDING, other], [], 2, files().get, STYLE)
    assert report.count("why:") == 2
    assert report.count("more: gradtrail rule non-leaf-in-optimizer\n") == 1
    assert report.endswith("\n\nFound 2 errors and 1 warning in 2 files.\nFixes: 3 with `--fix`.\n")


def test_nothing_found() -> None:
    assert render([], [], 1, files().get, STYLE) == "Found nothing in 1 file.\n"


def test_what_was_not_looked_at() -> None:
    left_out = [
        NotLookedAt(FOLDER + "/a.py", text("does not parse: line 3: invalid syntax")),
        NotLookedAt("missing.py", text("no such file or folder")),
        *(NotLookedAt(FOLDER + "/b.py", text("limit {number}", number=number), False) for number in range(7)),
    ]
    assert (
        render([], left_out, 1, files().get, STYLE)
        == """\
not looked at: a.py: does not parse: line 3: invalid syntax
not looked at: missing.py: no such file or folder
note: b.py: limit 0
note: b.py: limit 1
note: b.py: limit 2
note: 4 notes more of this kind (the JSON report has them all)
Found nothing in 1 file.
"""
    )


@pytest.mark.parametrize(
    ("severities", "said"),
    [
        ("", "Found nothing in 3 files."),
        ("e", "Found 1 error in 3 files."),
        ("ww", "Found 2 warnings in 3 files."),
        ("eewi", "Found 2 errors, 1 warning and 1 remark in 3 files."),
    ],
)
def test_the_sum(severities: str, said: str) -> None:
    names = {"e": "error", "w": "warning", "i": "info"}
    assert summary([FINDING._replace(severity=names[one]) for one in severities], 3) == said


def test_steps_with_one_span_are_underlined_once() -> None:
    sources = SourceFiles({FILENAME: "y = x.detach().numpy().sum()\nz = y\n"})
    finding = FINDING._replace(
        place=place(2, 5, 6),
        trail=(
            Step(place(1, 5, 15), "cut", text("cut off from the graph")),
            Step(place(1, 5, 15), "seen", text("seen once more")),
            Step(place(1, 5, 23), "array", text("an array")),
        ),
        label=text("used here"),
        fixes=(),
    )
    body = drawn(finding, sources, Style(width=100, folder=FOLDER), first=False).split("\n", 1)[1]
    assert (
        body
        == """\
  train.py:2:5
    1 | y = x.detach().numpy().sum()
      |     ---------- 1. cut off from the graph
      |                2. seen once more
      |     ------------------ 3. an array
    2 | z = y
      |     ^ 4. used here
"""
    )


def test_a_trail_over_two_files_names_the_files() -> None:
    sources = files(model="import torch\n\ndef make():\n    return torch.ones(3)\n")
    there = Step(place(4, 12, 25, FOLDER + "/model.py"), "created", text("made here"))
    finding = FINDING._replace(trail=(there, CREATED), fixes=())
    body = drawn(finding, sources, Style(width=100, folder=FOLDER), first=False).split("\n", 1)[1]
    assert (
        body
        == """\
  train.py:14:25
  in model.py
    4 | return torch.ones(3)
      |        ------------- 1. made here
  in train.py
    8 | W = torch.randn(10, 10, requires_grad=True)
      |     --------------------------------------- 2. a leaf: you created it
   14 | optimizer = optim.Adam([W], lr=0.01)
      |                         ^ 3. ValueError: can't optimize a non-leaf Tensor
"""
    )


def test_a_place_over_several_lines_is_marked_to_the_end_of_its_first() -> None:
    sources = SourceFiles({FILENAME: "y = f(  \n  1)\n"})
    finding = FINDING._replace(place=Place(FILENAME, 1, 5, 2, 5), trail=(), fixes=(), label=text("here"))
    assert "    1 | y = f(\n      |     ^^ here\n" in drawn(finding, sources, first=False)


def test_a_long_line_is_cut_around_its_marks() -> None:
    line = "a = " + "b + " * 30 + "W.numpy()" + " + c" * 30
    sources = SourceFiles({FILENAME: line + "\n"})
    start = line.index("W.numpy") + 1
    finding = FINDING._replace(place=place(1, start, start + 9), trail=(), fixes=(), label=text("here"))
    rows = drawn(finding, sources, first=False).splitlines()
    code, signs = rows[-2:]
    assert width(code) <= 80
    assert code[8] == "…"
    assert code[-1] == "…"
    assert code[signs.index("^") : signs.rindex("^") + 1] == "W.numpy()"


def test_wide_and_combining_characters_and_tabs_keep_the_marks_in_place() -> None:
    line = "\t権重 = 'e\u0301' + W.numpy()"
    sources = SourceFiles({FILENAME: "if x:\n" + line + "\n"})
    start = line.index("W") + 1
    finding = FINDING._replace(
        place=place(2, start, start + 9),
        trail=(Step(place(2, 2, 4), "named", text("a name of four cells")),),
        fixes=(),
        label=text("here"),
    )
    assert "\n".join(drawn(finding, sources, first=False).splitlines()[3:]) == (
        "    2 | 権重 = 'e\u0301' + W.numpy()\n"
        "      | ---- 1. a name of four cells\n"
        "      |              ^^^^^^^^^ 2. here"
    )


def test_a_file_that_is_not_at_hand_still_gets_its_place_and_labels() -> None:
    report = render_one(FINDING, lambda filename: None, STYLE)
    assert "train.py:14:25" in report
    assert "1. a leaf: you created it" in report


def test_nothing_of_a_program_steers_the_terminal() -> None:
    sources = SourceFiles({FILENAME: "x = '\x1b[31m\u202e'\n"})
    finding = FINDING._replace(
        place=place(1, 1, 2), trail=(), fixes=(), message=text("{name}", name="\x1b]0;title\x07")
    )
    report = drawn(finding, sources)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", report)


def test_colour_repeats_what_the_signs_say() -> None:
    coloured = drawn(FINDING, style=Style(width=80, colour=True, folder=FOLDER))
    assert "\x1b[1;31merror[non-leaf-in-optimizer]:\x1b[0m" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == drawn(FINDING)


def fix(title: str, applicability: str, *edits: Edit) -> Fix:
    return Fix(text(title), edits, applicability)


def fixes_drawn(*fixes: Fix) -> str:
    finding = FINDING._replace(fixes=fixes, trail=(), label=None, help=text("move it first"))
    report = drawn(finding, first=False)
    return report[report.index("  help:") :]


def test_two_fixes_have_their_titles() -> None:
    one = fix("to train it", "safe", Edit(place(8, 5, 44), "torch.randn(10, 10)"))
    other = fix("to keep its numbers", "unsafe", Edit(Place(FILENAME, 11, 17), ".detach()"))
    third = fix("to say it yourself", "display", Edit(Place(FILENAME, 14, 1), "...\n"))
    assert (
        fixes_drawn(one, other, third)
        == """\
  help: move it first
  fix: to train it
       line 8  W = torch.randn(10, 10)
  fix (unsafe): to keep its numbers
       line 11  W = W.to(device).detach()
  fix (to be completed): to say it yourself
       line 14  ...
                optimizer = optim.Adam([W], lr=0.01)
"""
    )


def test_a_fix_that_takes_a_line_out() -> None:
    assert "fix: line 11  (taken out)\n" in fixes_drawn(
        fix("drop it", "safe", Edit(Place(FILENAME, 11, 1, 12, 1), ""))
    )


def test_a_fix_without_edits_is_its_title() -> None:
    assert "  fix (to be completed): think about it\n" in fixes_drawn(fix("think about it", "display"))


def test_a_fix_that_does_not_fit_its_file_is_its_title() -> None:
    assert "  fix: drop it\n" in fixes_drawn(fix("drop it", "safe", Edit(place(8, 5, 999), "")))


def test_a_fix_of_a_long_line_is_cut_around_the_change() -> None:
    content = "a + " * 40 + "detached" + " + b" * 40
    report = fixes_drawn(fix("change", "safe", Edit(place(8, 5, 44), content)))
    assert all(width(line) <= 80 for line in report.splitlines())


@given(
    st.lists(
        st.text(alphabet="ab (\t権é\u0301…🙂", max_size=120),
        min_size=1,
        max_size=4,
    ),
    st.integers(40, 120),
    st.data(),
)
def test_no_line_is_wider_than_asked_for(lines: list[str], columns: int, data: st.DataObject) -> None:
    sources = SourceFiles()
    sources.add(FILENAME, ("'''" + "\n".join(lines) + "'''").encode())

    def somewhere() -> Place:
        row = data.draw(st.integers(1, len(lines)))
        start = data.draw(st.integers(1, 125))
        return place(row, start, start + data.draw(st.integers(0, 30)))

    finding = FINDING._replace(
        place=somewhere(),
        trail=tuple(Step(somewhere(), "step", text("words of a label that are to be wrapped")) for _ in "ab"),
        fixes=(),
    )
    for line in drawn(finding, sources, Style(width=columns, folder=FOLDER)).splitlines():
        assert width(line) <= columns or line.startswith("  more: "), line
