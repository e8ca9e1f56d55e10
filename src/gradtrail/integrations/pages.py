"""`gradtrail rule`, `gradtrail op` and `gradtrail why`: pages to read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from gradtrail.integrations.arguments import parser
from gradtrail.integrations.command import NOTHING, USAGE
from gradtrail.integrations.nearest import nearest
from gradtrail.integrations.output import complain, current_folder, output_width, put
from gradtrail.laws.text import say
from gradtrail.source.place import Place

_IN_CELL = re.compile(r"(?P<row>\d{1,9})(?::(?P<name>.+))?\Z", re.S)
_SPOT = re.compile(r"(?P<file>.+?):(?P<row>\d{1,9})(?::(?P<name>.+))?\Z", re.S)


def run(command: str, arguments: Sequence[str]) -> int:
    """Print the page that `arguments` ask `command` for; the exit status comes back."""
    return {"rule": _rule, "op": _operation, "why": _why}[command](arguments)


def _rule(arguments: Sequence[str]) -> int:
    rules = parser(
        "rule", say("What a rule finds, why it is a mistake, and what to do. Without a name: all rules.")
    )
    rules.add_argument("name", nargs="?", default=None, metavar="NAME", help=say("the name of a rule"))
    rules.add_argument(
        "--output-format", choices=("text", "markdown"), default="text", help=say("how to print it")
    )
    options = rules.parse_args(arguments)
    from gradtrail.findings.ignoring import UnusedIgnore
    from gradtrail.findings.registry import all_rules, known_names, rule_named
    from gradtrail.reports import rule_page

    if options.name is None:
        put(rule_page.list_of_rules([*all_rules(), UnusedIgnore], output_width()))
        return NOTHING
    rule = rule_named(options.name)
    if rule is None:
        return _no_such("rule", options.name, nearest(options.name, known_names()), "gradtrail rule")
    put(
        rule_page.markdown_page(rule)
        if options.output_format == "markdown"
        else rule_page.text_page(rule, output_width())
    )
    return NOTHING


def _operation(arguments: Sequence[str]) -> int:
    asked = parser(
        "op",
        say("What an operation of torch does to autograd's facts, and what it saves for backward."),
        say(
            "examples: {examples}",
            examples="gradtrail op relu_ · gradtrail op Tensor.to · gradtrail op F.linear",
        ),
    )
    asked.add_argument("name", metavar="NAME", help=say("an operation, such as detach or torch.matmul"))
    name = asked.parse_args(arguments).name
    from gradtrail.laws.operations import operation
    from gradtrail.reports import op_page

    head, called = _what_it_is(name)
    found = next((row for row in map(operation, op_page.spellings(called)) if row is not None), None)
    if found is None and head:
        put(head)
        return NOTHING
    if found is None:
        from gradtrail.laws import modules, operations, optimizers

        names = (*operations.names(), *modules.names(), *optimizers.names())
        return _no_such("operation", name, nearest(op_page.spellings(name)[0], names), None)
    put((head + "\n" if head else "") + op_page.render(found, output_width()))
    return NOTHING


def _what_it_is(name: str) -> tuple[str, str]:
    """A line on `name` when it is a module, an optimizer or a factory, and the operation it amounts to."""
    from gradtrail.laws import factories, modules, optimizers

    path = name.removesuffix("()")
    for prefix in ("torch.", "nn.", "optim."):
        path = path.removeprefix(prefix)
    if path in ("no_grad", "enable_grad", "inference_mode", "set_grad_enabled"):
        return say("torch.{path} is a grad mode, not an operation", path=path) + "\n", name
    module = modules.module(path)
    if module is not None:
        called = module.call.removeprefix("torch.")
        if called:
            return say(
                "nn.{path} is a module; its forward is {called}", path=path, called=called
            ) + "\n", called
        return say("nn.{path} is a module; its forward is composed of operations", path=path) + "\n", path
    if optimizers.optimizer(path) is not None:
        told = say(
            "{path} is an optimizer; `{command}` says what it takes",
            path=path,
            command="gradtrail rule non-leaf-in-optimizer",
        )
        return told + "\n", path
    factory = factories.factory("torch." + path)
    if factory is None or not factory.leaf or factory.keeps_graph:
        return "", name
    if factory.accepts_requires_grad:
        return say(
            "{path} makes a new leaf; it requires grad with requires_grad=True", path=path
        ) + "\n", path
    return say("{path} makes a new leaf; it requires grad after requires_grad_()", path=path) + "\n", path


def _why(arguments: Sequence[str]) -> int:
    places = parser(
        "why",
        say("What is known of a tensor at a place, and how it became so. Nothing is run."),
        say("examples: {examples}", examples="gradtrail why train.py:14 · gradtrail why train.py:14:W"),
    )
    places.add_argument(
        "spot", metavar="FILE:LINE[:NAME]", help=say("a line, and the name of a tensor on it")
    )
    spot = _SPOT.match(places.parse_args(arguments).spot)
    if spot is None:
        places.error(say("give a file and a line, such as train.py:14 or train.py:14:W"))
    from gradtrail.reports import why
    from gradtrail.source.files import SourceFiles
    from gradtrail.source.reading import Unreadable, make_room

    filename, row, name = os.path.abspath(spot["file"]), int(spot["row"]), spot["name"]
    make_room()
    try:
        source = SourceFiles().read(filename)
    except Unreadable as unreadable:
        complain(f"gradtrail why: {spot['file']}: {unreadable.reason}")
        return USAGE
    shown = str(row)
    if source.cells is not None:
        in_cell = _IN_CELL.match(name or "")
        if in_cell is None:
            places.error(say("give a cell and a line in it, such as train.ipynb:3:14 or train.ipynb:3:14:W"))
        shown, name = f"{row}:{in_cell['row']}", in_cell["name"]
        row = source.cells.row(row, int(in_cell["row"]))
    if not 0 < row <= len(source.lines) or (
        source.cells is not None and "{}:{}".format(*source.cells.in_cell(row)) != shown
    ):
        complain("gradtrail why: " + say("{file} has no line {row}", file=spot["file"], row=shown))
        return USAGE
    if name and name.partition("[")[0] not in source.line(row):
        complain(
            "gradtrail why: "
            + say("there is no `{name}` on line {row} of {file}", name=name, row=shown, file=spot["file"])
        )
        return USAGE
    from gradtrail.findings.engine import Settings
    from gradtrail.findings.registry import known_names
    from gradtrail.integrations import configuration
    from gradtrail.interp.inspect import values_at

    try:
        merged = configuration.Merged(configuration.Configurations(known_names), Settings())
        values = values_at(filename, row, name, merged.of(filename).given())
    except configuration.WrongConfiguration as wrong:
        complain(f"gradtrail why: {wrong.filename}: {wrong.reason}")
        return USAGE
    except RecursionError:
        complain(f"gradtrail why: {spot['file']}: " + say("is nested too deeply to be followed"))
        return USAGE
    folder, in_cells = current_folder(), source.cells.place if source.cells else _as_it_is
    put(why.render(Place(filename, row), source.line(row), values, folder, output_width(), shown=in_cells))
    return NOTHING


def _as_it_is(place: Place) -> Place:
    return place


def _no_such(what: str, name: str, near: str | None, listing: str | None) -> int:
    told = say("there is no rule `{name}`", name=name)
    if what == "operation":
        told = say("there is no operation `{name}`", name=name)
    if near:
        told = say("{told}; {hint}", told=told, hint=say("did you mean `{near}`?", near=near))
    elif listing:
        told = say("{told}; {hint}", told=told, hint=say("`{listing}` lists them", listing=listing))
    complain("gradtrail: " + told)
    return USAGE
