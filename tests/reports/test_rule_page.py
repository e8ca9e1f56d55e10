"""The page of a rule."""

from __future__ import annotations

from collections.abc import Iterator

from gradtrail.findings.rule import Example, NearMiss, Rule
from gradtrail.reports.rule_page import folded, list_of_rules, markdown_page, text_page


class Sample(Rule):
    """A non-leaf is handed to an optimizer. It is refused.

    ## Why
    An optimizer updates leaves:

        torch.optim.SGD([w])
    """

    name = "non-leaf-in-sample"
    hears = ("sample",)
    examples = (
        Example(
            "arithmetic",
            bad="""
                w = torch.ones(3, requires_grad=True) * 2  # cause
                torch.optim.SGD([w])  # error
            """,
            good="""
                w = (torch.ones(3) * 2).requires_grad_()
                torch.optim.SGD([w])
            """,
            raises="can't optimize a non-leaf Tensor",
        ),
        Example("silent", bad="x = 1", good="x = 2", proof="x == 1", off_cpu=True),
    )
    near_misses = (NearMiss("a leaf", "torch.optim.SGD([w])  # no error"),)

    def check(self, event: object, journal: object) -> Iterator[object]:  # type: ignore[override]
        return iter(())


TEXT = """\
non-leaf-in-sample (error)

A non-leaf is handed to an optimizer. It is refused.

## Why
An optimizer updates leaves:

    torch.optim.SGD([w])

Example: arithmetic

    w = torch.ones(3, requires_grad=True) * 2  # <- cause
    torch.optim.SGD([w])  # <- error

  torch raises: can't optimize a non-leaf Tensor
  Put right:

    w = (torch.ones(3) * 2).requires_grad_()
    torch.optim.SGD([w])

Example: silent

    x = 1

  It runs (on a device that is not the CPU), and afterwards this is true: x == 1
  Put right:

    x = 2

Looks like it, and is right: a leaf

    torch.optim.SGD([w])  # no error
"""


def test_as_text() -> None:
    assert text_page(Sample) == TEXT


def test_as_markdown() -> None:
    page = markdown_page(Sample)
    assert page.startswith("# non-leaf-in-sample\n\nSeverity: error\n\nA non-leaf is handed")
    assert "```python\nw = torch.ones(3, requires_grad=True) * 2  # <- cause\n" in page
    assert "### a leaf\n\n```python\ntorch.optim.SGD([w])  # no error\n```\n" in page


def test_a_list_that_is_too_wide_has_its_sentences_below() -> None:
    assert list_of_rules([Sample], 40) == (
        "non-leaf-in-sample (error)\n    A non-leaf is handed to an optimizer\n"
    )


def test_paragraphs_and_items_are_folded_and_code_stays() -> None:
    page = "One two three\nfour.\n\n## Why it is so and how\n\n- an item of\n  a list\n- another\n\n    x = [1, 2, 3, 4, 5]\n"
    assert folded(page, 12).splitlines() == [
        "One two",
        "three four.",
        "",
        "## Why it is so and how",
        "",
        "- an item of",
        "  a list",
        "- another",
        "",
        "    x = [1, 2, 3, 4, 5]",
    ]


def test_the_list_has_the_first_sentence() -> None:
    assert list_of_rules([Sample]) == "non-leaf-in-sample  error    A non-leaf is handed to an optimizer\n"
