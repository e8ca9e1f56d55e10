"""The command `gradtrail`: which subcommand is meant, and how the process ends.

Each subcommand is a module with `run(arguments)`, imported when it is asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from gradtrail.integrations import language
from gradtrail.integrations.output import complain, current_folder, open_closed_streams, put
from gradtrail.laws.text import say, text

NOTHING, FOUND, USAGE, OUR_MISTAKE, INTERRUPTED = 0, 1, 2, 3, 130
"""The exit statuses: nothing found; findings; usage, or a path that could not be read and nothing was
found; a mistake of ours; stopped by Ctrl-C."""

COMMANDS = {
    "check": "look for mistakes in files and folders, without running them",
    "run": "run a program, and explain where and why autograd refuses what it does",
    "rule": "what a rule finds and why it is a mistake; without a name, all rules",
    "explain": "what an error of autograd means, from a pasted traceback or message",
    "claims": "what people say about autograd, whether it is true, and the proof",
    "op": "what an operation of torch does to autograd's facts",
    "why": "what is known of a tensor at FILE:LINE, and how it became so",
    "tiny": "run a program on an autograd small enough to read, without torch",
}

_EXAMPLES = (
    ("gradtrail check", text("the Python files of this folder")),
    ("gradtrail check train.py", text("one file")),
    ("cat snippet.txt | gradtrail check -", text("code from a forum, as it was pasted")),
    ("gradtrail explain error.txt", text("a traceback, as it was pasted")),
    ("gradtrail rule non-leaf-in-optimizer", text("why that is a mistake")),
    ("gradtrail op detach_", text("what `detach_` does")),
    ("gradtrail why train.py:14:W", text("what `W` is on line 14")),
    ("gradtrail tiny train.py", text("the program on a small autograd")),
)


def console() -> None:
    """Run the command as a process of its own, and end it at once.

    The process ends without taking its memory apart piece by piece, which for a large project takes as
    long as a good part of the check. Where a program of the user's ran, it ends as Python ends: with its threads, its
    files, and what it left for the exit.
    """
    import gc

    gc.disable()
    open_closed_streams()
    status = main(own_process=True)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        status = status or FOUND
    ran = "gradtrail.tiny" in sys.modules or "gradtrail.runtime.program" in sys.modules
    if os.environ.get("GRADTRAIL_DEBUG") == "1" or ran:
        sys.exit(status)  # what watches the process (a profiler, coverage) may finish its work
    os._exit(status)


def main(arguments: Sequence[str] | None = None, own_process: bool = False) -> int:
    """Run the command with `arguments` (those of the process by default); the exit status comes back."""
    asked, rest = language.taken_from(list(sys.argv[1:] if arguments is None else arguments))
    try:
        language.use(language.chosen(asked, os.environ, language.configured(rest, current_folder())))
    except ValueError:
        known = ", ".join(language.LANGUAGES)
        complain("gradtrail: --lang: " + say("`{asked}` is none of {known}", asked=asked or "", known=known))
        return USAGE
    try:
        status = _run(rest, own_process)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the report has gone: what is left must not be written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except OSError as error:
        return _cannot_go_on(error)
    except Exception as error:
        return _our_mistake(error)
    except SystemExit as end:  # argparse: help, or a usage error
        return end.code if isinstance(end.code, int) else NOTHING
    return status


def _run(arguments: list[str], own_process: bool = False) -> int:
    command = arguments[0] if arguments else ""
    if command == "check":
        return _check(arguments[1:], own_process)
    if command == "explain":
        from gradtrail.integrations import explain

        return explain.run(arguments[1:])
    if command == "claims":
        from gradtrail.integrations import claims

        return claims.run(arguments[1:])
    if command in ("rule", "op", "why"):
        from gradtrail.integrations import pages

        return pages.run(command, arguments[1:])
    if command == "run":
        from gradtrail.integrations import run

        return run.run(arguments[1:])
    if command == "tiny":
        from gradtrail.integrations import tiny

        return tiny.run(arguments[1:], to_the_end=own_process)
    if command in ("-V", "--version"):
        from gradtrail import __version__

        sys.stdout.write(f"gradtrail {__version__}\n")
        return NOTHING
    if command in ("-h", "--help", "help"):
        sys.stdout.write(_help())
        return NOTHING
    if not command:
        sys.stderr.write(_help())
        return USAGE
    return _unknown(command)


def _check(arguments: list[str], own_process: bool) -> int:
    """`gradtrail check`, or what it has printed before where nothing has changed since."""
    from gradtrail.integrations import remembered

    memory = remembered.memory(arguments, language.spoken()) if own_process else None
    known = None if memory is None else memory.recall()
    if known is not None:
        put(known[0])
        return known[1]
    if memory is not None:
        memory.watch()
    from gradtrail.integrations import check

    return check.run(arguments, memory, own_process)


def _cannot_go_on(error: OSError) -> int:
    """What is wrong with a file that is read is told in the report; this is the place around us."""
    try:
        os.getcwd()
        reason = error.strerror or str(error)
    except OSError:
        reason = say("the current folder does not exist any more")
    complain("gradtrail: " + say("cannot go on: {reason}", reason=reason))
    return USAGE


def _our_mistake(error: Exception) -> int:
    if os.environ.get("GRADTRAIL_STRICT") == "1":
        raise error
    if os.environ.get("GRADTRAIL_DEBUG") == "1":
        import traceback

        traceback.print_exc()
    cause = (str(error).splitlines() or [""])[0][:200]
    told = say(
        "internal error, a mistake of gradtrail: {kind}: {cause} (GRADTRAIL_DEBUG=1 shows where)",
        kind=type(error).__name__,
        cause=cause,
    )
    complain("gradtrail: " + told)
    return OUR_MISTAKE


def _help() -> str:
    from gradtrail.reports.cells import wrap

    lines = [say("usage: ") + "gradtrail COMMAND ...", ""]
    lines += [
        *wrap(say("Finds and explains autograd mistakes in PyTorch programs."), 80),
        "",
        say("commands:"),
    ]
    for name, what in COMMANDS.items():
        first, *rest = wrap(say(what), 69)
        lines += [f"  {name:<8} {first}", *(" " * 11 + line for line in rest)]
    lines += ["", say("examples:")]
    for example, says in _EXAMPLES:
        first, *rest = wrap(str(says), 38)
        lines += [f"  {example:<37}   {first}", *(" " * 42 + line for line in rest)]
    lines += [
        "",
        *wrap(
            say("`gradtrail COMMAND --help` says more; `gradtrail --version` says which version this is."), 80
        ),
    ]
    lines += [*wrap(say("--lang LANG, or GRADTRAIL_LANG, chooses the language: en, zh_CN or ja."), 80), ""]
    status = say(
        "exit status: 0 nothing found; 1 findings; 2 wrong usage, or a path could not be read and nothing was found;"
        " 3 a mistake of gradtrail itself"
    )
    return "\n".join([*lines, *wrap(status, 80)]) + "\n"


def _unknown(command: str) -> int:
    from gradtrail.integrations.nearest import nearest

    near = nearest(command, COMMANDS)
    if near:
        hint = say("did you mean `{near}`?", near=f"gradtrail {near}")
    elif os.path.exists(command):
        hint = say("did you mean `{near}`?", near=f"gradtrail check {command}")
    else:
        hint = say("`{listing}` lists them", listing="gradtrail --help")
    told = say("there is no command `{command}`", command=command)
    complain("gradtrail: " + say("{told}; {hint}", told=told, hint=hint))
    return USAGE
