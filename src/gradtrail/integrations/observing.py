"""A program under observation: the session, the hooks that feed it, and where its report goes."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, ClassVar

from gradtrail.findings.engine import Report
from gradtrail.integrations.output import complain, current_folder, output_width, wants_colour
from gradtrail.laws.text import say
from gradtrail.runtime import program
from gradtrail.runtime.session import STEPS, Session
from gradtrail.runtime.user_code import PACKAGE


class Options:
    """How to report; every option has its default."""

    def __init__(self) -> None:
        self.output_format = "terminal"
        self.output_file: str | None = None
        self.color = "auto"
        self.steps = STEPS


class Observer:
    """Watches the program of this process, and tells what is found.

    A mistake of ours is one line on standard error, and never hides what the program itself raised.
    """

    running: ClassVar[list[Observer]] = []
    """Those that observe now, the newest last."""

    def __init__(self, options: Options, main: str | None) -> None:
        self.quiet = False
        self.options = options
        self.session = Session(main, options.steps, self.complain, _look)
        self._file = None if options.output_file is None else os.path.abspath(options.output_file)
        self._folder = current_folder()
        self._before: Any = None

    def begin(self) -> None:
        """Observe from now on."""
        Observer.running.append(self)
        self._before = threading.excepthook
        threading.excepthook = self._thread_raised
        self.session.begin()
        self._write()

    def begin_again(self) -> None:
        """A part of the program is about to run that is observed anew."""
        try:
            self.session.begin_again()
        except Exception as wrong:
            self.complain(wrong)

    def leave(self) -> None:
        """Observe no more, and leave what was hooked as it was."""
        self.session.end()
        if self in Observer.running:
            Observer.running.remove(self)
        if threading.excepthook == self._thread_raised:
            threading.excepthook = self._before

    def ended(self) -> None:
        """Tell what is known of a program that has come to its end."""
        try:
            if self.session.is_ours:
                self.session.ended()
                self._tell_news()
        except Exception as wrong:
            self.complain(wrong)

    def crashed(self, error: BaseException) -> None:
        """Tell what an exception is about, after its traceback."""
        try:
            if self.session.is_ours:
                self.session.end()
                self.session.crashed(error)
                self._tell_news()
        except Exception as wrong:
            self.complain(wrong)

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
            self.crashed(hooked.exc_value)

    def _tell_news(self) -> None:
        self._tell(self.session.news())

    def _tell(self, news: Report) -> None:
        if self._file is not None:
            self._write()
        elif news.findings and not self.quiet:
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
        if reason is None or not told:
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
