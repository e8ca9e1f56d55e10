"""Findings in a notebook, told by its cells: until then a notebook is one text, with rows that run through."""

from __future__ import annotations

from gradtrail.findings.diagnostic import Diagnostic, Fix
from gradtrail.laws.text import Text, text
from gradtrail.source.notebook import Cells
from gradtrail.source.place import Edit, Place


def in_cells(finding: Diagnostic, cells: Cells) -> Diagnostic:
    """A finding in a notebook with its places, and the rows that its sentences name, as they are in the cells."""
    filename = finding.place.filename

    def place(one: Place) -> Place:
        return cells.place(one) if one.filename == filename and one.cell is None else one

    def said(words: Text | None) -> Text | None:
        return None if words is None else _with_cells(words, cells)

    return finding._replace(
        place=place(finding.place),
        message=_with_cells(finding.message, cells),
        label=said(finding.label),
        help=said(finding.help),
        trail=tuple(
            step._replace(place=place(step.place), text=_with_cells(step.text, cells))
            if step.place.filename == filename
            else step
            for step in finding.trail
        ),
        fixes=tuple(
            Fix(
                _with_cells(fix.title, cells),
                tuple(Edit(place(edit.place), edit.content) for edit in fix.edits),
                fix.applicability,
            )
            for fix in finding.fixes
        ),
    )


def in_text(finding: Diagnostic, cells: Cells) -> Diagnostic:
    """The same finding with its places in the one text that the cells are read as; its sentences stay."""
    filename = finding.place.filename

    def place(one: Place) -> Place:
        return cells.whole(one) if one.filename == filename else one

    return finding._replace(
        place=place(finding.place),
        trail=tuple(step._replace(place=place(step.place)) for step in finding.trail),
        fixes=tuple(
            fix._replace(edits=tuple(Edit(place(edit.place), edit.content) for edit in fix.edits))
            for fix in finding.fixes
        ),
    )


def _with_cells(words: Text, cells: Cells) -> Text:
    """A sentence whose fields called `row` say the cell as well."""
    if not any(name == "row" or isinstance(value, Text) for name, value in words.fields):
        return words
    return Text(words.template, tuple((name, _field(name, value, cells)) for name, value in words.fields))


def _field(name: str, value: object, cells: Cells) -> object:
    if isinstance(value, Text):
        return _with_cells(value, cells)
    if name == "row" and isinstance(value, int):
        cell, row = cells.in_cell(value)
        return text("{row} of cell {cell}", row=row, cell=cell)
    return value
