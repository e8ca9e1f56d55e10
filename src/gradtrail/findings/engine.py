"""From paths to diagnostics: read, interpret, let the rules hear the journal, put the findings in order."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtrail.findings import registry
from gradtrail.findings.diagnostic import Diagnostic, Fix, NotLookedAt
from gradtrail.findings.rule import Rule
from gradtrail.laws.text import Text, text
from gradtrail.source.files import LeavesOut, Skipped, SourceFiles, discover, is_usually_left_out
from gradtrail.source.place import Place
from gradtrail.source.reading import Unreadable, make_room
from gradtrail.source.words import Word, Words

if TYPE_CHECKING:
    from gradtrail.findings.ignoring import Ignoring
    from gradtrail.findings.looked import Kept, Looked
    from gradtrail.interp.events import Event
    from gradtrail.interp.journal import Journal
    from gradtrail.interp.project import Given, Project
    from gradtrail.source.edits import Editor
    from gradtrail.source.notebook import Cells
    from gradtrail.source.text import SourceText

FEWEST_TO_SHARE = 40
FEWEST_TO_SHARE_BY_WORDS = 500
"""Fewer files one process looks at sooner than several, each of which has to follow the imports they share. Where the
words of the rules choose what is walked, a file takes a few milliseconds."""

FEW_FILES = 100
"""Up to so many files every one that says `torch` is walked whole. Beyond, the words of the rules choose the
files, and the functions that are walked without a caller: few of a large project's can hold a mistake."""

EVERYTHING = "GRADTRAIL_EVERYTHING"
"""Set to 1, every file and every function is walked: the oracle for what the byte filter leaves out."""

Interpret = Callable[..., "Journal"]

Identity = tuple[str, Place, str]
"""What makes two findings the same to a reader: the rule, the place, and what is said there."""

Heard = dict[Identity, tuple[Diagnostic, Rule, "Event"]]
"""What the rules have found in one file, and what each finding comes from."""

_IN_TWO_BYTES = b"t\0o\0r\0c\0h"
"""How a file says `torch` that is written in UTF-16, which Python does not read: that is to be told.

Spelled out, since asking the codec for it would load the codec in every run."""

KEPT_SOURCE = 2_000_000
"""How many bytes of source may keep their trees from one file to the next: some 100 MB of memory."""

YOUNG_OBJECTS = 1_500_000
"""How many objects may come into being, with the collector off, before circles among them are looked for."""

IGNORE_COMMENT = b"gradtrail:"
"""The bytes without which a file has no comment that hides findings."""

STANDARD_INPUT = "<stdin>"
"""The name of what comes from standard input when no other name is given."""


class Report(NamedTuple):
    """What a run found.

    `files` counts the files that were looked at, those that the byte filter put aside included.
    `crashed` says that a mistake of ours kept a file from being looked at. `sources` holds the texts
    that the places of the findings speak of. `names` are the files that the paths stand for, which repairs
    may change.
    """

    findings: list[Diagnostic]
    not_looked_at: list[NotLookedAt]
    files: int
    crashed: bool
    sources: SourceFiles
    settled: frozenset[str] = frozenset()
    """The files that were looked at as far as they can be."""
    names: frozenset[str] = frozenset()
    behind: Mapping[Identity, Event] = {}
    """The event that each finding comes from."""

    def event_of(self, finding: Diagnostic) -> Event | None:
        """What `finding` comes from; None for one that no event gave rise to."""
        return self.behind.get(identity(finding))


class Settings(NamedTuple):
    """What holds for one file: its rules by name, none selected means all, and what is taken for given there.

    `modules` and `optimizers` are dotted names of classes that count as `torch.nn.Module` and as an optimizer
    of torch; `device` is what a device is that the program chooses by what is available.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    torch_version: str | None = None
    modules: tuple[str, ...] = ()
    optimizers: tuple[str, ...] = ()
    device: str | None = None

    def takes(self, rule: str) -> bool:
        """Whether a rule is looked for."""
        return (not self.select or rule in self.select) and rule not in self.ignore

    def given(self) -> Given:
        """What the interpreter is to take for given."""
        from gradtrail.interp.project import Given

        return Given(frozenset(self.modules), frozenset(self.optimizers), self.device)


SettingsOf = Callable[[str], Settings]
"""The settings of a file by its name."""


class StandardInput(NamedTuple):
    """What came from standard input, and the name it goes by."""

    data: bytes
    filename: str = STANDARD_INPUT


class Chosen:
    """The rules of a run, imported when an event that they hear first occurs."""

    __slots__ = ("_hears", "_listeners", "_rules", "_takes")

    def __init__(self, hears: dict[str, tuple[str, ...]], takes: Callable[[str], bool]) -> None:
        self._hears = hears
        self._listeners: dict[str, tuple[Rule, ...]] = {}
        self._rules: dict[str, Rule] = {}
        self._takes = takes

    def hearing(self, kind: str) -> tuple[Rule, ...]:
        """The rules that hear events of `kind`."""
        listeners = self._listeners.get(kind)
        if listeners is None:
            listeners = self._listeners[kind] = tuple(self._load(kind))
        return listeners

    def _load(self, kind: str) -> Iterable[Rule]:
        for module in self._hears.get(kind, ()):
            for rule in registry.rules_of(module):
                if kind in rule.hears and self._takes(rule.name):
                    yield self._rules.setdefault(rule.name, rule())


def check_paths(
    paths: Sequence[str],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    stdin: StandardInput | None = None,
    torch_version: str | None = None,
    interpret: Interpret | None = None,
    settings_of: SettingsOf | None = None,
    leaves_out: LeavesOut = is_usually_left_out,
    comments_hide: bool = True,
    texts: Mapping[str, bytes] | None = None,
    kept: Kept | None = None,
    processes: Callable[[], int] | None = None,
) -> Report:
    """Look at the files that `paths` name, and at `stdin` when it is given.

    `select` and `ignore` are names of rules; none selected means all. With `settings_of` each file may have fewer,
    and `leaves_out` says what is not taken from a folder. Unless `comments_hide` findings, comments are not read.
    `texts` holds what files are taken to say, by name, whatever the disk holds. `kept` knows what earlier runs have
    found in files that have not changed, and keeps what this one finds. Many files are shared out among as many
    `processes` as it says. `interpret` stands in for `gradtrail.interp.machine.interpret` in tests.
    Nothing raises for what is wrong with a file: it comes back in `Report.not_looked_at`. A mistake of ours raises
    only under GRADTRAIL_STRICT=1.
    """
    index = registry.index()
    found = list(discover(paths, leaves_out))
    many = len(found) > FEW_FILES and os.environ.get(EVERYTHING) != "1"
    everywhere = Settings(tuple(select), tuple(ignore), torch_version)
    run = _Run(Chosen(index.hears, everywhere.takes), settings_of or (lambda filename: everywhere), interpret)
    run.known = tuple(index.modules)
    run.comments_hide = comments_hide
    run.kept = kept if len(found) > 1 else None
    for filename, data in (texts or {}).items():
        run.sources.add(filename, data)
    if many and index.words:
        run.words = Words((*index.words, Word(IGNORE_COMMENT)))
    named = {os.path.abspath(path) for path in paths}
    was_collecting = gc.isenabled()
    gc.disable()
    limit = sys.getrecursionlimit()
    make_room()
    try:
        run.foresee([one for one in found if isinstance(one, str)], named, processes)
        for one in found:
            if isinstance(one, Skipped):
                run.leave_out(one.filename, one.reason)
            else:
                run.look_at(one, one in named)
        if stdin is not None:
            name = stdin.filename
            filename = name if name == STANDARD_INPUT else os.path.abspath(name)
            if not texts or filename not in texts:
                run.sources.add(filename, stdin.data)
            run.look_at(filename, True)
    finally:
        sys.setrecursionlimit(limit)
        if was_collecting:
            gc.enable()
    report = run.report()
    run.keep()
    return report


def check_source(
    source: str,
    filename: str = "example.py",
    select: Sequence[str] = (),
    *,
    torch_version: str | None = None,
    interpret: Interpret | None = None,
) -> list[Diagnostic]:
    """The diagnostics of a program that is given as text. Raises `Unreadable`, and any mistake of ours."""
    files = SourceFiles({filename: source})
    files.read(filename)
    index = registry.make_index(registry.all_rules())
    settings = Settings(tuple(select), (), torch_version)
    run = _Run(Chosen(index.hears, settings.takes), lambda filename: settings, interpret, files)
    run.known = tuple(index.modules)
    run.hear(filename)
    return run.report().findings


class _Run:
    """One run: what it has found so far."""

    def __init__(
        self,
        chosen: Chosen,
        settings_of: SettingsOf,
        interpret: Interpret | None,
        sources: SourceFiles | None = None,
    ) -> None:
        self.sources = SourceFiles() if sources is None else sources
        self._chosen = chosen
        self.words: Words | None = None
        self.known: tuple[str, ...] = ()
        self.comments_hide = True
        self._settings_of = settings_of
        self._heard: list[str] = []
        self._named: set[str] = set()
        self._alone: dict[str, list[tuple[int, int]]] = {}
        """In files that were named, whose callers were perhaps not looked at: the functions that only others call."""
        self._settled: set[str] = set()
        self._raised: dict[str, int | None] = {}
        """The first row of a file at which torch refuses: what comes after it was not looked at."""
        self._ignoring: dict[str, Ignoring | None] = {}
        self._interpret = interpret
        self._project: Project | None = None
        self._found: dict[Identity, Diagnostic] = {}
        self._seen: Heard = {}
        """What each finding comes from, those left out that an earlier run has made with their fixes."""
        self._fixes: dict[Identity, tuple[Fix, ...]] = {}
        self._editor: Editor | None = None
        self.kept: Kept | None = None
        self._known: dict[str, Looked] = {}
        """What looking at files would give, known from earlier runs and other processes."""
        self._taken_over: list[Looked] = []
        self._heard_here: Heard = {}
        self._left_out_here: list[NotLookedAt] = []
        self._to_be_kept: list[tuple[str, Heard, list[NotLookedAt]]] = []
        self._names: set[str] = set()
        self._not_looked_at: list[NotLookedAt] = []
        self._files = 0
        self._crashed = False

    def foresee(
        self, filenames: Sequence[str], named: Container[str], processes: Callable[[], int] | None
    ) -> None:
        """Gather what is known of files without looking at them, and have other processes look at the rest."""
        if self.kept is not None:
            for filename in filenames:
                looked = self.kept.recall(filename, self._state(filename))
                if looked is not None:
                    self._known[filename] = looked
        left = [filename for filename in filenames if filename not in self._known]
        fewest = FEWEST_TO_SHARE if self.words is None else FEWEST_TO_SHARE_BY_WORDS
        number = 1 if processes is None or len(left) < fewest else processes()
        if number < 2:
            return
        from gradtrail.findings.looked import Told, decoded
        from gradtrail.findings.processes import shared_out

        def look(share: list[str]) -> list[Any]:
            kept, told = self.kept, Told()
            self.kept = told
            for filename in share:
                self.look_at(filename, filename in named)
            self.report()
            self.keep()
            return [told.rows, None if kept is None else kept.heard()]

        for rows, heard in shared_out(left, number, look):
            if self.kept is not None:
                self.kept.hear(heard)
            for state, depends, told in rows:
                looked = decoded(told)
                self._known[looked.filename] = looked
                if self.kept is not None:
                    self.kept.keep(looked, state, depends)

    def look_at(self, filename: str, named: bool) -> None:
        """Look at one file, if it holds what matters or was asked for by name."""
        self._names.add(filename)
        if filename in self._known:
            self._take_over(self._known[filename])
            return
        self._heard_here, self._left_out_here = {}, []
        try:
            if named or self._may_matter(filename):
                if named:
                    self._named.add(filename)
                self._tell_left_out(self._read(filename))
                self.hear(filename)
            self._files += 1
            if self.kept is not None:
                self._to_be_kept.append((filename, self._heard_here, self._left_out_here))
        except Unreadable as unreadable:
            self.leave_out(unreadable.filename, unreadable.reason)
        except RecursionError:
            self.leave_out(filename, text("is nested too deeply to be followed"), failed=False)
        except Exception as error:
            self._our_mistake(filename, error)
        self.sources.let_go_of_trees(KEPT_SOURCE)
        _collect_what_is_young()

    def _may_matter(self, filename: str) -> bool:
        data = self.sources.data(filename)
        if b"torch" not in data:
            return IGNORE_COMMENT in data or _IN_TWO_BYTES in data
        return self.words is None or bool(self._the_project().rows_of_words(filename))

    def _read(self, filename: str) -> SourceText:
        return self.sources.read(filename) if self._interpret else self._the_project().read(filename, True)

    def hear(self, filename: str) -> None:
        """Interpret `filename` as entry and let the rules hear its journal."""
        journal = self._journal(filename)
        self._heard.append(filename)
        if filename in self._named:
            self._alone[filename] = journal.alone
        for limit in journal.limits:
            self.leave_out(filename, limit, failed=False)
        raised = [event.place for event in journal.events if event.certainty == "raises"]
        source = self.sources.get(filename)
        in_part = bool(journal.limits or (source is not None and source.cells and source.cells.left_out))
        if not in_part and all(place.filename == filename for place in raised):
            self._settled.add(filename)
            self._raised[filename] = min((place.row for place in raised), default=None)
        heard = self._heard_here = {}
        for event in journal.events:
            for rule in self._chosen.hearing(event.kind):
                for diagnostic in rule.check(event, journal):
                    if not self._settings_of(diagnostic.place.filename).takes(rule.name):
                        continue
                    key = identity(diagnostic)
                    if key in heard:
                        first, by, at = heard[key]
                        heard[key] = first._replace(count=first.count + diagnostic.count), by, at
                    else:
                        heard[key] = diagnostic, rule, event
        for key, found in heard.items():
            if self._add(key, found[0]):
                self._seen[key] = found

    def _add(self, key: Identity, diagnostic: Diagnostic) -> bool:
        """Take a finding of one file; whether no other file has told the same."""
        known = self._found.get(key)
        if known is None:
            self._found[key] = diagnostic
        elif diagnostic.count > known.count:
            self._found[key] = known._replace(count=diagnostic.count)
        return known is None

    def _state(self, filename: str) -> str:
        """What the findings in a file depend on beside what files say."""
        return f"{self.words is None} {self._settings_of(filename)!r}"

    def _take_over(self, looked: Looked) -> None:
        """Take what others have found in a file for what would be found here."""
        filename = looked.filename
        self._taken_over.append(looked)
        self._files += 1
        for left_out in looked.not_looked_at:
            self.leave_out(*left_out)
        if looked.interpreted:
            self._heard.append(filename)
        if looked.alone is not None:
            self._alone[filename] = list(looked.alone)
        if looked.settled:
            self._settled.add(filename)
            self._raised[filename] = looked.raised
        if not looked.comments:
            self._ignoring[filename] = None
        for diagnostic in looked.findings:
            self._add(identity(diagnostic), diagnostic)

    def keep(self) -> None:
        """Have kept what looking at files has given, for the runs that come."""
        if self.kept is None or self._crashed:
            return
        interpreted = frozenset(self._heard)
        for filename, heard, left_out in self._to_be_kept:
            looked = self._looked(filename, heard, left_out, filename in interpreted)
            if looked is not None:
                depends = self._the_project().behind(filename) if looked.interpreted else {filename}
                self.kept.keep(looked, self._state(filename), depends)

    def _looked(
        self, filename: str, heard: Heard, left_out: list[NotLookedAt], interpreted: bool
    ) -> Looked | None:
        """What looking at a file has given; None where a text was not read as it stands."""
        from gradtrail.findings.looked import Looked

        if not interpreted:
            return Looked(filename, not_looked_at=tuple(left_out))
        findings = []
        for key, found in heard.items():
            if self._seen.get(key) is found:
                findings.append(found[0]._replace(fixes=self._fixes.get(key, ())))
            else:
                findings.append(self._with_fixes(found))
        names = {filename, *(place.filename for one in findings for place in _places(one))}
        sources = {name: self.sources.get(name) for name in names}
        if any(one is None or one.is_repaired for one in sources.values()):
            return None
        own = sources[filename]
        return Looked(
            filename,
            tuple(findings),
            tuple(left_out),
            True,
            own is not None and IGNORE_COMMENT in own.data,
            filename in self._settled,
            self._raised.get(filename),
            tuple(self._alone[filename]) if filename in self._alone else None,
        )

    def leave_out(self, filename: str, reason: Text, failed: bool = True, partly: bool = False) -> None:
        """Remember what was not looked at, once."""
        left_out = NotLookedAt(filename, reason, failed, partly)
        self._left_out_here.append(left_out)
        if left_out not in self._not_looked_at:
            self._not_looked_at.append(left_out)

    def report(self) -> Report:
        """What was found, in the order of files and rows."""
        for looked in self._taken_over:
            for filename in {finding.place.filename for finding in looked.findings}:
                self.sources.know(filename)
            if looked.comments:
                self.sources.know(looked.filename)
        shown = [one for one in self._all_with_fixes() if not self._is_ignored(one)]
        found = [self._in_cells(one) for one in (*shown, *self._unused_ignores())]
        findings = sorted(found, key=_order)
        settled = frozenset(
            name for name in self._settled if self._raised.get(name) is None and not self._alone.get(name)
        )
        return Report(
            findings,
            self._not_looked_at,
            self._files,
            self._crashed,
            self.sources,
            settled,
            frozenset(self._names),
            {self._told_as(key, found): event for key, (found, _, event) in self._seen.items()},
        )

    def _told_as(self, key: Identity, finding: Diagnostic) -> Identity:
        """The identity of a finding as it is told, which in a notebook names its cell."""
        told = self._in_cells(finding)
        return key if told is finding else identity(told)

    def _in_cells(self, finding: Diagnostic) -> Diagnostic:
        source = self.sources.get(finding.place.filename)
        if source is None or source.cells is None:
            return finding
        from gradtrail.findings.in_cells import in_cells

        return in_cells(finding, source.cells)

    def _looked_at(self, filename: str) -> int | None:
        """Up to which row a file was looked at, as far as is known; None: all of it was."""
        return self._raised.get(filename) if filename in self._settled else 0

    def _is_ignored(self, finding: Diagnostic) -> bool:
        ignoring = self._ignoring_in(finding.place.filename)
        return ignoring is not None and ignoring.hides(finding)

    def _ignoring_in(self, filename: str) -> Ignoring | None:
        """The comments of a file that hide findings; None without any."""
        if filename not in self._ignoring:
            source = self.sources.get(filename)
            found = None
            if self.comments_hide and source is not None and IGNORE_COMMENT in source.data:
                from gradtrail.findings.ignoring import Ignoring

                found = Ignoring(source)
            self._ignoring[filename] = found
        return self._ignoring[filename]

    def _unused_ignores(self) -> Iterable[Diagnostic]:
        """What is wrong with the comments in the files that were looked at."""
        for filename in self._heard:
            ignoring = self._ignoring_in(filename)
            settings = self._settings_of(filename)
            if ignoring is not None and settings.takes("unused-ignore"):
                looked_for = [rule for rule in self.known if settings.takes(rule)]
                known = (*self.known, *registry.OWN)
                yield from ignoring.unused(
                    looked_for, known, self._looked_at(filename), self._alone.get(filename, ())
                )

    def _all_with_fixes(self) -> Iterator[Diagnostic]:
        """The findings with their fixes."""
        for key, found in self._found.items():
            if key in self._seen:
                _, rule, event = self._seen[key]
                found = self._with_fixes((found, rule, event))
                self._fixes[key] = found.fixes
            yield found

    def _with_fixes(self, heard: tuple[Diagnostic, Rule, Event]) -> Diagnostic:
        """A finding with its fixes; how edits are made is imported where there is one to make."""
        found, rule, event = heard
        if type(rule).repairs is Rule.repairs:
            return found
        from gradtrail.findings.repairs import with_fixes
        from gradtrail.source.edits import Editor

        if self._editor is None:
            self._editor = Editor(self.sources.get)
        try:
            return with_fixes(found, rule, event, self._editor, self.sources)
        except Exception as error:
            self._our_mistake(found.place.filename, error)
            return found

    def _tell_left_out(self, source: SourceText) -> None:
        """A paste may be cut off, and then a file that is kept may not pass for one that was looked at."""
        rows = source.left_out
        if source.cells is not None:
            self._tell_left_out_cells(source.filename, source.cells)
            return
        if len(rows) == 1:
            reason = text("line {row} is not Python and was left out", row=rows[0])
        elif rows:
            reason = text(
                "lines {first} to {last} are not Python and were left out", first=rows[0], last=rows[-1]
            )
        elif source.is_repaired:
            told = _how_repaired(source)
            if told is None:
                return
            reason = told
        else:
            return
        failed = bool(rows) and source.filename != STANDARD_INPUT
        self.leave_out(source.filename, reason, failed, partly=bool(rows))

    def _tell_left_out_cells(self, filename: str, cells: Cells) -> None:
        if cells.language:
            reason = text("is a notebook in {language}, not in Python", language=cells.language)
            self.leave_out(filename, reason, failed=False)
        for reason in cells.left_out:
            self.leave_out(filename, reason, partly=True)

    def _journal(self, filename: str) -> Journal:
        settings = self._settings_of(filename)
        if self._interpret is not None:
            return self._interpret(None, filename, torch_version=settings.torch_version)
        from gradtrail.interp.machine import interpret

        project, version = self._the_project(), settings.torch_version
        return interpret(project, filename, torch_version=version, given=settings.given())

    def _the_project(self) -> Project:
        if self._project is None:
            from gradtrail.interp.project import Project

            self._project = Project(self.sources, self.words)
        return self._project

    def _our_mistake(self, filename: str, error: Exception) -> None:
        if os.environ.get("GRADTRAIL_STRICT") == "1":
            raise error
        if os.environ.get("GRADTRAIL_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        self._crashed = True
        cause = (str(error).splitlines() or [""])[0][:200]
        reason = text(
            "internal error, a mistake of gradtrail: {kind}: {cause} (GRADTRAIL_DEBUG=1 shows where)",
            kind=type(error).__name__,
            cause=cause,
        )
        self.leave_out(filename, reason)


def _collect_what_is_young() -> None:
    """Free the circles that the last files have left behind; what is older is not looked at.

    The collector is off during a run because it would walk all trees again and again. Without this the
    heaps of a large project pile up.
    """
    if gc.get_count()[0] > YOUNG_OBJECTS:
        gc.collect(0)


def _places(diagnostic: Diagnostic) -> Iterator[Place]:
    """Every place that a finding speaks of."""
    yield diagnostic.place
    for step in diagnostic.trail:
        yield step.place
    for fix in diagnostic.fixes:
        for edit in fix.edits:
            yield edit.place


def identity(diagnostic: Diagnostic) -> Identity:
    """By what a diagnostic is known."""
    return diagnostic.rule, diagnostic.place, str(diagnostic.message)


def _order(diagnostic: Diagnostic) -> tuple[str, int, int, int, str, tuple[tuple[str, int, int], ...]]:
    place = diagnostic.place
    trail = tuple((step.place.filename, step.place.row, step.place.column) for step in diagnostic.trail)
    return place.filename, place.cell or 0, place.row, place.column, diagnostic.rule, trail


def _how_repaired(source: SourceText) -> Text | None:
    """How a text was read that does not parse as it is; None where there is nothing to say of it."""
    from gradtrail.source.snippet import full_width_sign

    found = full_width_sign(source)
    if found is not None:
        row, sign, read = found
        return text(
            "line {row} has the full-width sign `{sign}`, which Python does not know: it was read as `{read}`",
            row=row,
            sign=sign,
            read=read,
        )
    if source.filename == STANDARD_INPUT:
        return None
    return text("does not parse as it is, and was read as a pasted snippet")
