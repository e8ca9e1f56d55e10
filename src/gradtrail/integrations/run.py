"""`gradtrail run SCRIPT`: run a program as Python would, and tell what autograd has to say of it."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence

from gradtrail.integrations import observing
from gradtrail.integrations.arguments import give_back, parser
from gradtrail.integrations.command import FOUND, USAGE
from gradtrail.integrations.output import complain
from gradtrail.laws.text import say, text
from gradtrail.runtime import program
from gradtrail.runtime.session import STEPS
from gradtrail.runtime.user_code import PACKAGE
from gradtrail.source.reading import Unreadable

_EXAMPLES = (
    ("gradtrail run train.py --epochs 3", text("a script, with its arguments")),
    ("gradtrail run -m package.train", text("a module")),
    ("gradtrail run --output-format json --output-file found.json train.py", text("for other programs")),
)


def run(arguments: Sequence[str]) -> int:
    """Run what `arguments` name; the exit status of the program comes back."""
    ours, is_module, target, theirs = split(arguments)
    reader = _parser()
    options = reader.parse_args(ours, namespace=Options())
    if target is None:
        reader.error(say("name a script, or a module with -m"))
    give_back()
    name = f"-m {target}" if is_module else target
    try:
        if is_module:
            sys.path.insert(0, os.getcwd())
            try:
                loaded = program.module(target)
            finally:
                del sys.path[0]
        else:
            loaded = program.script(target)
    except Unreadable as unreadable:
        complain(f"gradtrail run: {name}: {unreadable.reason}")
        return USAGE
    except BaseException as error:  # it does not compile, or a package that it lies in raises
        return _end(error)
    observing.be_ready()
    observer = observing.observer_of(options, str(loaded.knows["__file__"]))
    main = program.take_the_place_of_main(loaded, theirs)
    observer.begin()
    gc.enable()  # off since the command began
    raised = program.execute(loaded, main)
    if raised is not None:
        return _end(raised, observer)
    observer.ended()
    return 0


class Options(observing.Options):
    """What the arguments ask for; every option has its default."""


def split(arguments: Sequence[str]) -> tuple[list[str], bool, str | None, list[str]]:
    """Our options, whether a module is meant, the script or module, and the arguments that are its own."""
    rest = list(arguments)
    ours: list[str] = []
    while rest:
        one = rest.pop(0)
        if one == "-m":
            return ours, True, rest.pop(0) if rest else None, rest
        if one == "--":
            return ours, False, rest.pop(0) if rest else None, rest
        if not one.startswith("-") or one == "-":
            return ours, False, one, rest
        ours.append(one)
        if one in _WITH_VALUE and rest:
            ours.append(rest.pop(0))
    return ours, False, None, rest


_WITH_VALUE = frozenset(("--output-format", "--output-file", "--color", "--lang", "--steps"))


def _end(error: BaseException, observer: observing.Observer | None = None) -> int:
    """What Python does at the end of a program that raised, and what we add to it; the exit status comes back."""
    program.without_frames_of(PACKAGE, error)
    if isinstance(error, SystemExit):
        if observer is not None:
            observer.ended()
        return program.status_of(error)
    program.tell(error)
    if isinstance(error, KeyboardInterrupt):
        program.end_by_interrupt()
        return FOUND
    if observer is not None:
        observer.crashed(error)
    return FOUND


def _parser() -> argparse.ArgumentParser:
    room = max(len(example) for example, _ in _EXAMPLES) + 2
    examples = "".join(f"  {example:<{room}}{says}\n" for example, says in _EXAMPLES)
    made = parser(
        "run",
        say(
            "Run a program as Python would, and tell what autograd has to say of it: when it fails, the tensor, its way and"
            " the law behind the error. What the program prints, its arguments and its exit status are its own."
        ),
        say("examples:") + "\n" + examples,
    )
    made.usage = "gradtrail run [-h] [OPTION ...] (SCRIPT | -m MODULE) [ARGUMENT ...]"
    made.add_argument(
        "--output-format", choices=("terminal", "concise", "json", "markdown"), help=say("how to report")
    )
    made.add_argument(
        "--output-file", metavar="FILE", help=say("write the report there, not to standard error")
    )
    made.add_argument("--color", choices=("auto", "always", "never"), help=say("colour in the report"))
    made.add_argument(
        "--steps",
        type=int,
        metavar="N",
        help=say("watch the first N steps of each optimizer ({usual} by default)", usual=STEPS),
    )
    made.add_argument(
        "--full",
        action="store_true",
        help=say("record every line to the end, with the calls that lead to it"),
    )
    return made
