"""What is known of a value."""

from __future__ import annotations

from gradtrail.laws.text import text
from gradtrail.reports.why import Reach, ValueSeen, render
from reports.sample import CREATED, FILENAME, FOLDER, MOVED, place


def test_a_value_with_its_trail_and_its_tree() -> None:
    tree = Reach(
        text("`loss`"),
        place(20, 1, 2),
        (
            Reach(text("`W`, a leaf"), place(8, 1, 2, FOLDER + "/model.py")),
            Reach(text("AddBackward0"), None, (Reach(text("`b`"), cut=text("detached on line 9")),)),
        ),
    )
    value = ValueSeen(
        "loss",
        {"leaf": text("no"), "requires grad": text("yes, for `{name}` does", name="W")},
        (CREATED, MOVED),
        tree,
    )
    assert (
        render(place(20, 1, 1), "    loss = f(W)", [value], FOLDER)
        == """\
train.py:20
    loss = f(W)

  loss
    leaf           no
    requires grad  yes, for `W` does
    trail
      1. line 8  a leaf: you created it
      2. line 11  a move to another device returns a new, computed tensor: not a
                  leaf
    the gradient reaches
      `loss`  (line 20)
      ├─ `W`, a leaf  (model.py:8)
      └─ AddBackward0
         └─ `b`  ✂ detached on line 9
"""
    )


def test_neighbours_that_look_the_same_are_drawn_once() -> None:
    leaf = Reach(text("a leaf"), place(3, 1, 2))
    tree = Reach(text("LinearBackward0"), None, (leaf, leaf, Reach(text("`x`")), leaf))
    page = render(place(20, 1, 1), "y = f(x)", [ValueSeen("y", {}, (), tree)], FOLDER)
    assert page.endswith("""\
      LinearBackward0
      ├─ a leaf  (line 3)  × 2
      ├─ `x`
      └─ a leaf  (line 3)
""")


def test_nothing_is_known() -> None:
    assert render(place(2, 1, 1, FILENAME), "x = 1", [], FOLDER) == (
        "train.py:2\n    x = 1\n\n  nothing is known of a tensor here\n"
    )
