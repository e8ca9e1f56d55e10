"""The JSON report keeps its contract."""

from __future__ import annotations

import json

from gradtrail.findings.diagnostic import NotLookedAt
from gradtrail.laws.text import text
from gradtrail.reports.json_report import render
from gradtrail.source.place import Place
from reports.sample import FILENAME, FINDING


def test_the_whole_report() -> None:
    left_out = [NotLookedAt("/a/bad.py", text("{what} is missing", what="it"))]
    assert json.loads(render([FINDING], left_out)) == {
        "version": 1,
        "findings": [
            {
                "rule": "non-leaf-in-optimizer",
                "severity": "error",
                "certainty": "raises-off-cpu",
                "message": "Adam will refuse `W` wherever `device` is not the CPU",
                "help": None,
                "filename": FILENAME,
                "cell": None,
                "rank": None,
                "count": 1,
                "location": {"row": 14, "column": 25},
                "end_location": {"row": 14, "column": 26},
                "trail": [
                    {
                        "filename": FILENAME,
                        "cell": None,
                        "location": {"row": 8, "column": 5},
                        "end_location": {"row": 8, "column": 44},
                        "kind": "created",
                        "text": "a leaf: you created it",
                    },
                    {
                        "filename": FILENAME,
                        "cell": None,
                        "location": {"row": 11, "column": 5},
                        "end_location": {"row": 11, "column": 17},
                        "kind": "moved",
                        "text": "a move to another device returns a new, computed tensor: not a leaf",
                    },
                    {
                        "filename": FILENAME,
                        "cell": None,
                        "location": {"row": 14, "column": 25},
                        "end_location": {"row": 14, "column": 26},
                        "kind": "refused",
                        "text": "ValueError: can't optimize a non-leaf Tensor",
                    },
                ],
                "fixes": [
                    {
                        "title": "make it a leaf after the move",
                        "applicability": "safe",
                        "edits": [
                            {
                                "filename": FILENAME,
                                "cell": None,
                                "location": {"row": 8, "column": 5},
                                "end_location": {"row": 8, "column": 44},
                                "content": "torch.randn(10, 10)",
                            },
                            {
                                "filename": FILENAME,
                                "cell": None,
                                "location": {"row": 11, "column": 17},
                                "end_location": {"row": 11, "column": 17},
                                "content": ".requires_grad_()",
                            },
                        ],
                    }
                ],
            }
        ],
        "not_looked_at": [{"filename": "/a/bad.py", "reason": "it is missing"}],
    }


def test_a_place_without_an_end_has_none() -> None:
    finding = FINDING._replace(
        place=Place(FILENAME, 3, 1), trail=(), fixes=(), help=text("do {it}", it="this")
    )
    told = json.loads(render([finding], []))["findings"][0]
    assert told["end_location"] is None
    assert told["help"] == "do this"


def test_nothing_found_is_still_a_report() -> None:
    assert json.loads(render([], [])) == {"version": 1, "findings": [], "not_looked_at": []}
