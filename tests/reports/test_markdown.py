"""The report as Markdown: the steps in order, the code of each, and nothing that Markdown would swallow."""

from __future__ import annotations

from gradtrail.findings.engine import check_source
from gradtrail.reports import markdown
from gradtrail.source.files import SourceFiles

CODE = """\
import torch
w = torch.zeros(3, requires_grad=True)
w = w * 2
torch.optim.SGD([w], lr=0.1)
"""


def test_a_finding() -> None:
    told = markdown.render(check_source(CODE, "a.py"), [], 1, SourceFiles({"a.py": CODE}).get)
    assert told.startswith("**error: `w` is not a leaf, so SGD cannot optimize it** (`a.py:4:18`)")
    assert (
        told.index("1. line 2: a leaf")
        < told.index("2. line 3: `*` returns")
        < told.index("3. line 4: ValueError")
    )
    assert "   ```python\n   w = w * 2\n   ```" in told
    assert told.count("```") % 2 == 0
    assert told.endswith("Found 1 error in 1 file.\n")


def test_nothing_found() -> None:
    assert markdown.render([], [], 2, SourceFiles().get) == "Found nothing in 2 files.\n"
