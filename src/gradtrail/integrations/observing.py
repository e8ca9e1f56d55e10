"""A program under observation: the session, the hooks that feed it, and where its report goes."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any, ClassVar

from gradtrail.findings.diagnostic import NotLookedAt
from gradtrail.findings.engine import Report, identity
from gradtrail.integrations.output import complain, current_folder, output_width, wants_colour
from gradtrail.laws.text import say, text
from gradtrail.runtime import program
from gradtrail.runtime.processes import children, termination
from gradtrail.runtime.processes.node import Node, locked, node, removed, temporary
from gradtrail.runtime.processes.words import (
    ENDED,
    GOES_ON,
    RAISED,
    TERMINATED,
    Word,
    hand_over,
    words,
)
from gradtrail.runtime.session import STEPS, Session
from gradtrail.runtime.torch_compat import record_for_torchrun
from gradtrail.runtime.user_code import PACKAGE

_PATIENCE = 2.0
"""Seconds that a rank which has failed waits for what the others say."""


class Options:
    """How to report; every option has its default."""

    def __init__(self) -> None:
        self.output_format = "terminal"
        self.output_file: str | None = None
        self.color = "auto"
        self.steps = STEPS
        self.full = False


class Observer:
    """Watches the program of this process, and tells what is found.

    A mistake of ours is one line on standard error, and never hides what the program itself raised.
    """

    running: ClassVar[list[Observer]] = []
    """Those that observe now, the newest last."""

    def __init__(self, options: Options, main: str | None) -> None:
        self.quiet = False
        self.options = options
        self.session = Session(main, options.steps, self.complain, _look, options.full)
        self._file = None if options.output_file is None else os.path.abspath(options.output_file)
        self._folder = current_folder()
        self._main = main
        self._before: Any = None
        self._children: str | None = None
        self._has_ended = False
        self._speaks: threading.Event | None = None

    def begin(self) -> None:
        """Observe from now on."""
        self._hook()
        self._attend()
        self._write()

    def _hook(self) -> None:
        Observer.running.append(self)
        self._before = threading.excepthook
        threading.excepthook = self._thread_raised
        self.session.begin()

    def _attend(self) -> None:
        """Have the children of the program observed too: they write what they have to say into a folder of ours."""
        if len(Observer.running) > 1:
            return
        folder = os.path.join(temporary(), f"gradtrail-{os.urandom(12).hex()}")
        self._children = folder
        self._have_children_say(folder)
        program.at_the_very_end(self._very_last)

    def _make_room(self) -> None:
        if self._children is not None and self.session.is_ours:
            with suppress(OSError):  # it is there, or there is no room: then nobody is heard
                os.mkdir(self._children, 0o700)

    def _have_children_say(self, folder: str) -> None:
        begin = f"{__name__}:begin_in_child"
        children.attend(
            {"begin": begin, "folder": folder, "main": self._main, "steps": self.options.steps},
            self._make_room,
        )

    def begin_again(self) -> None:
        """A part of the program is about to run that is observed anew."""
        try:
            self.session.begin_again()
        except Exception as wrong:
            self.complain(wrong)

    def leave(self) -> None:
        """Observe no more, and leave what was hooked as it was."""
        self.session.end()
        self._unhook()
        self._forget_children()

    def _unhook(self) -> None:
        if self in Observer.running:
            Observer.running.remove(self)
        if threading.excepthook == self._thread_raised:
            threading.excepthook = self._before

    def drop(self) -> None:
        """In a copy of the process: leave everything to the one that it was copied from."""
        self._children = None
        self.session.drop()
        self._unhook()

    def ended(self) -> None:
        """Tell what is known of a program that has come to its end; once its children have, too."""
        try:
            if self.session.is_ours:
                if self._children is not None and not self._has_ended and children.are_running():
                    self._has_ended = True
                    return  # Python waits for them, and so do we
                self.session.ended(self._others())
                self._tell_news()
        except Exception as wrong:
            self.complain(wrong)

    def crashed(self, error: BaseException, ends: bool = True) -> None:
        """Tell what an exception is about, after its traceback. Unless it `ends` the program, that is observed further."""
        try:
            if self.session.is_ours:
                if ends:
                    self.session.end()
                self.session.crashed(error, self._others())
                self._tell_news()
        except Exception as wrong:
            self.complain(wrong)

    def _terminated(self, frame: FrameType | None) -> None:
        """A signal ends this process: say so, or let it say to the end what it has begun."""
        if self._speaks is None:
            self._last_word(TERMINATED, frame)
        else:
            self._speaks.wait(2 * _PATIENCE)

    def _last_word(self, how: str, frame: FrameType | None = None) -> None:
        """Say what there is to say to other processes."""

    def _others(self) -> list[Word]:
        return [] if self._children is None else list(words(self._children))

    def _very_last(self) -> None:
        """Everything has ended, the children included."""
        if self.session.is_ours and self._has_ended:
            self.ended()
        self._forget_children()

    def _forget_children(self) -> None:
        folder, self._children = self._children, None
        if folder is None or not self.session.is_ours:
            return
        children.attend_no_more()
        removed(folder)

    def raised(self, error: BaseException) -> None:
        """Tell what an exception is about with which a shell goes on, as often as it is raised."""
        try:
            about = self.session.crashed(error)
            self.session.news()
            self._tell(about)
        except Exception as wrong:
            self.complain(wrong)

    def _thread_raised(self, hooked: threading.ExceptHookArgs) -> None:
        """An exception that ends a thread; the program goes on."""
        if hooked.exc_value is not None:
            program.without_frames_of(PACKAGE, hooked.exc_value)
            hooked = threading.ExceptHookArgs(
                (hooked.exc_type, hooked.exc_value, hooked.exc_value.__traceback__, hooked.thread)
            )
        self._before(hooked)
        if hooked.exc_value is not None and not isinstance(hooked.exc_value, SystemExit):
            self.crashed(hooked.exc_value, ends=False)

    def _news(self) -> Report:
        return self.session.news()

    def _tell_news(self) -> None:
        self._tell(self._news())

    def _tell(self, news: Report) -> None:
        if self._file is not None:
            self._write()
        elif (news.findings or news.not_looked_at) and not self.quiet:
            _to_standard_error(self._rendered(news))

    def _write(self) -> None:
        """Write the file anew: it holds what is known so far, whatever becomes of the process."""
        if self._file is None:
            return
        beside = f"{self._file}.{os.getpid()}"
        try:
            with open(beside, "w", encoding="utf-8") as file:
                file.write(self._rendered(self.session.report()))
            os.replace(beside, self._file)
        except OSError as error:
            complain(
                "gradtrail: "
                + say("cannot write `{name}`: {reason}", name=self._file, reason=error.strerror or str(error))
            )
            self._file = None

    def _rendered(self, report: Report) -> str:
        output_format = self.options.output_format
        if output_format == "json":
            from gradtrail.reports import json_report

            return json_report.render(report.findings, report.not_looked_at)
        if output_format == "concise":
            from gradtrail.reports import concise

            return concise.render(report.findings, report.not_looked_at, self._folder)
        if output_format == "markdown":
            from gradtrail.reports import markdown

            return markdown.render(
                report.findings, report.not_looked_at, report.files, report.sources.get, self._folder
            )
        told = one_by_one(report, self._file is None and wants_colour(self.options.color), self._folder)
        reason = self.session.unrecorded
        if report.not_looked_at:
            from gradtrail.reports import concise

            told += ("\n" if told else "") + concise.render([], report.not_looked_at, self._folder)
        if reason is None or not report.findings:
            return told
        return (
            told + "\n" + say("which lines made the tensors was not recorded: {reason}", reason=reason) + "\n"
        )

    def complain(self, wrong: Exception) -> None:
        """Tell of a mistake of ours, in one line."""
        if os.environ.get("GRADTRAIL_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        cause = (str(wrong).splitlines() or [""])[0][:200]
        complain(
            "gradtrail: "
            + say(
                "internal error, a mistake of gradtrail: {kind}: {cause} (GRADTRAIL_DEBUG=1 shows where)",
                kind=type(wrong).__name__,
                cause=cause,
            )
        )


class InChild(Observer):
    """Watches a child of the program, and says what is found to the process that reports."""

    def __init__(self, folder: str, main: str | None, steps: int) -> None:
        options = Options()
        options.steps = steps
        super().__init__(options, main)
        self._listening = folder

    def begin(self) -> None:
        """Observe from now on, to the end of what the child was started for; or to what may be its end."""
        self.session.has_seen_enough = lambda: self._last_word(GOES_ON)
        self.session.trains = lambda: termination.watch(self._terminated)
        self._hook()
        children.at_the_end(self._over)

    def _over(self, error: BaseException | None) -> None:
        self._speaks = threading.Event()
        behind = None if error is None else children.error_behind(error)
        if behind is None:
            self._last_word(ENDED)
        else:
            self.crashed(behind)
        self._speaks.set()

    def _tell_news(self) -> None:
        """After something was raised, by a thread or by the child's function."""
        self._last_word(RAISED)

    def _last_word(self, how: str, frame: FrameType | None = None) -> None:
        try:
            word = self.session.word(how, frame)
            if not word.is_empty:
                hand_over(word, self._listening, str(word.process))
        except Exception as wrong:
            self.complain(wrong)


class OfRank(Observer):
    """Watches one of the ranks that torchrun has started. They tell one report on each machine.

    Each says its last word in a folder of theirs. Who is the last tells what all say; so does one that has failed, and who
    comes after it tells what is new.
    """

    def __init__(self, options: Options, main: str | None, rank: Node, folder: str) -> None:
        super().__init__(options, main)
        self._rank = rank
        self._shared = folder

    def begin(self) -> None:
        """Observe from now on."""
        self.session.trains = lambda: termination.watch(self._terminated)
        self._hook()
        self._have_children_say(self._shared)
        if self._rank.local == 0:
            self._rank.remove_what_is_left()
            self._write()

    def ended(self) -> None:
        """The program of this rank has come to its end."""
        self._speaks = threading.Event()
        self._last_word(ENDED)
        self._speaks.set()

    def crashed(self, error: BaseException, ends: bool = True) -> None:
        """An exception has ended it, or a thread of it."""
        self._speaks = threading.Event()
        try:
            if isinstance(error, Exception) and threading.current_thread() is threading.main_thread():
                record_for_torchrun(error)
            if self.session.is_ours:
                if ends:
                    self.session.end()
                self.session.crashed(error)
        except Exception as wrong:
            self.complain(wrong)
        self._last_word(RAISED)
        self._speaks.set()

    def _last_word(self, how: str, frame: FrameType | None = None) -> None:
        try:
            if self.session.is_ours:
                self._say(how, frame)
        except Exception as wrong:
            self.complain(wrong)

    def _say(self, how: str, frame: FrameType | None) -> None:
        own = self.session.word(how, frame)
        hand_over(own, self._shared, self._rank.name)
        if how == RAISED:
            self._wait()
        with locked(self._shared):
            all_have = self._rank.have_all_spoken(self._shared)
            if how == ENDED and not all_have:
                return
            said = list(words(self._shared))
            if all(word.how in (ENDED, GOES_ON) for word in said):
                self.session.ended([word for word in said if word.process != own.process])
            else:
                self.session.hear(said)
            self._tell_news()
            if all_have:
                removed(self._shared)

    def _wait(self) -> None:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and not self._rank.have_all_spoken(self._shared):
            time.sleep(0.05)

    def _news(self) -> Report:
        """What no rank has told yet."""
        news = super()._news()
        path = os.path.join(self._shared, "told")
        known: set[str] = set()
        with suppress(OSError), open(path, encoding="utf-8") as file:
            known = set(file.read().split("\0"))
        findings = [one for one in news.findings if repr(identity(one)) not in known]
        notes = [one for one in news.not_looked_at if repr(one) not in known]
        known.update(repr(identity(one)) for one in findings)
        known.update(map(repr, notes))
        with open(path, "w", encoding="utf-8") as file:
            file.write("\0".join(known))
        if findings and self._rank.here < self._rank.world:
            notes.append(_of_this_node(self._rank))
        return news._replace(findings=findings, not_looked_at=notes)


def _of_this_node(rank: Node) -> NotLookedAt:
    import socket

    told = text(
        "{here} of {world} ranks ran here: each node tells of its own", here=rank.here, world=rank.world
    )
    return NotLookedAt(socket.gethostname(), told, failed=False)


def observer_of(options: Options, main: str | None) -> Observer:
    """Who observes this process: one of several ranks, or a program of its own."""
    rank = node(os.environ)
    folder = rank.folder() if rank is not None and rank.here > 1 else None
    if rank is None or folder is None:
        return Observer(options, main)
    return OfRank(options, main, rank, folder)


_READS_SAMPLES = "torch.utils.data._utils.worker"
"""Where the function of a DataLoader's workers is."""


def begin_in_child(carried: Mapping[str, Any]) -> None:
    """Begin to observe this child of the program."""
    for observer in list(Observer.running):
        observer.drop()
    if getattr(children.target(), "__module__", "") == _READS_SAMPLES:
        return  # it trains nothing, and tells its parent in words what it raises
    InChild(carried["folder"], carried["main"], carried["steps"]).begin()


def _drop_in_copy() -> None:
    for observer in list(Observer.running):
        observer.drop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_in_copy)


def be_ready() -> None:
    """Import what a report needs, before a program changes where modules come from: a file beside it may be called `ast.py`."""
    for name in ("findings.repairs", "interp.inspect", "interp.machine", "reports.terminal", "source.edits"):
        import_module(f"gradtrail.{name}")


def one_by_one(report: Report, colour: bool, folder: str) -> str:
    """The findings of a report for people, without what `check` says of them all."""
    from gradtrail.reports import terminal

    style = terminal.Style(output_width(), colour, folder)
    told: set[str] = set()
    parts = []
    for finding in report.findings:
        parts.append(terminal.render_one(finding, report.sources.get, style, finding.rule not in told))
        told.add(finding.rule)
    return "\n".join(parts)


def _look(filename: str) -> Report:
    """What `gradtrail check` finds in a file, by its settings."""
    from gradtrail.findings.engine import Settings, check_paths
    from gradtrail.findings.registry import known_names
    from gradtrail.integrations import configuration
    from gradtrail.integrations.torch_version import found_version

    found = found_version(os.path.dirname(filename))
    settings = configuration.Merged(configuration.Configurations(known_names, None), Settings(), found)
    return check_paths([filename], settings_of=settings.of)


def _to_standard_error(words: str) -> None:
    try:
        encoding = sys.stderr.encoding or "ascii"
        sys.stderr.write("\n" + words.encode(encoding, "backslashreplace").decode(encoding))
        sys.stderr.flush()
    except (OSError, ValueError, AttributeError):
        return  # nobody can be told
