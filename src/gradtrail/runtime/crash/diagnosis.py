"""From an exception to a diagnostic, by what is certain.

First the interpreter is asked: where it tells the same refusal at the same place, and nothing that it says of the tensor differs
from the live one, its finding holds, with trail and repairs. Else the rule of the refusal hears an event made of the live
facts, with the trail that was recorded. Where neither goes, the law is all that is told.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gradtrail.findings import registry
from gradtrail.findings.diagnostic import Diagnostic, Step
from gradtrail.findings.rule import Rule
from gradtrail.interp.events import Event, Seen
from gradtrail.interp.journal import Journal
from gradtrail.laws import messages
from gradtrail.laws.messages import Message
from gradtrail.laws.text import text
from gradtrail.laws.wordings import Went, recognise
from gradtrail.runtime import facts
from gradtrail.runtime.crash import subjects
from gradtrail.runtime.crash.scene import Scene
from gradtrail.runtime.crash.subjects import Subject
from gradtrail.runtime.places import Sources
from gradtrail.runtime.static import Static
from gradtrail.runtime.torch_compat import TORCH
from gradtrail.runtime.user_code import file_of, is_users
from gradtrail.source import traceback
from gradtrail.source.place import Place

Trail = Callable[[object], tuple[Step, ...]]
"""What was recorded of the way of a live tensor."""


class Known(NamedTuple):
    """What an explanation is made of: the interpreter's findings, the sources, and what was recorded of tensors."""

    static: Static
    sources: Sources
    trail: Trail = lambda tensor: ()


class Explained(NamedTuple):
    """A diagnostic, the law it speaks of, and who knew: "static", "live" or "law". `differs` is where the two disagreed.

    `elsewhere`: another process raised it, and its traceback stands in the words.
    """

    diagnostic: Diagnostic
    law: Message
    by: str
    differs: str = ""
    elsewhere: bool = False


def explain(error: BaseException, known: Known) -> Explained | None:
    """What an exception is about; None for one that is none of autograd's.

    Of several that led to one another the first is explained: the others came of it.
    """
    for one in reversed(list(_chain(error))):
        found = _explain_one(one, known)
        if found is not None:
            return found
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those that it came of, as Python shows them: the newest first."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting.extend(inner for inner in getattr(one, "exceptions", ()) if isinstance(inner, BaseException))
        if one.__cause__ is not None:
            waiting.append(one.__cause__)
        elif one.__context__ is not None and not one.__suppress_context__:
            waiting.append(one.__context__)


def _explain_one(error: BaseException, known: Known) -> Explained | None:
    scene = Scene(error.__traceback__, known.sources, str(error))
    law, rows = _law(error, scene)
    place = scene.place
    if law is None:
        return _by_its_place(error, scene, place, known.static)
    if place is None and not rows:
        return None
    rules = _rules(law.key)
    names = {rule.name for rule in rules}
    here = place is not None and not rows and TORCH.module is not None
    subject = subjects.of(law.key, scene) if here else None
    differs = ""
    found = _static_finding(law.key, names, [*rows, *scene.rows], place, known.static)
    if found is not None:
        differs = _difference(found[1], subject)
        if not differs:
            return Explained(_as_raised(found[0]), law, "static", elsewhere=bool(rows))
    if place is None or rows:
        place = rows[0]
    live = _live(law, rules, subject, place, known)
    if live is not None:
        return Explained(live, law, "live", differs)
    return Explained(_law_alone(law, error, place, names), law, "law", differs, bool(rows))


def _by_its_place(
    error: BaseException, scene: Scene, place: Place | None, static: Static
) -> Explained | None:
    """An error in words that no law has, where the interpreter tells a refusal of the same type by the same expression."""
    if place is None or TORCH.module is None:
        return None
    kinds = frozenset(messages.keys())
    for finding, event in static.found_in(dict.fromkeys(row.filename for row in scene.rows)):
        if finding.place == place and event.certainty == "raises" and event.kind in kinds:
            law = messages.message(event.kind)
            if law.error == _kind(error):
                return Explained(_as_raised(finding), law, "static")
    return None


def _law(error: BaseException, scene: Scene) -> tuple[Message | None, list[Place]]:
    """The law that an exception speaks of; and the rows of another process, where its traceback is told in the words."""
    frames = [
        Went(file_of(one.code), one.code.co_name, linecache.getline(file_of(one.code), one.row).strip())
        for one in scene.stations
    ]
    said = str(error)
    if "Traceback (most recent call last)" in said:
        for raised in reversed(traceback.read(said)):
            went = [Went(frame.filename, frame.function, frame.code) for frame in raised.frames]
            for kind, words in raised.wordings():
                law = recognise(kind, words, went)
                if law is not None:
                    went_through = [Place(frame.filename, frame.row) for frame in reversed(raised.frames)]
                    return law, [one for one in went_through if is_users(one.filename)]
    return recognise(_kind(error), said, frames), []


def _kind(error: BaseException) -> str:
    """The type of an exception by its name; one of torch's own that derives from the type of the law passes for it."""
    return type(error).__name__


def _rules(key: str) -> tuple[Rule, ...]:
    from gradtrail.findings.answers import answer

    try:
        return tuple(rule() for rule in answer(key).rules)
    except KeyError:
        return ()


def _static_finding(
    key: str, names: set[str], rows: Sequence[Place], place: Place | None, static: Static
) -> tuple[Diagnostic, Event] | None:
    """What the interpreter finds of this kind where the exception went through, the innermost place first."""
    candidates = [
        (finding, event)
        for finding, event in static.found_in(dict.fromkeys(row.filename for row in rows))
        if (finding.rule in names and (event.kind == key or key not in _heard(finding.rule)))
        or (finding.place == place and event.certainty == "raises")
    ]
    for row in rows:
        here = [one for one in candidates if _covers(one[0].place, row)]
        if place is not None and len(here) > 1:
            here.sort(key=lambda one: abs(one[0].place.column - place.column))
        if here:
            return here[0]
    return None


def _heard(rule: str) -> tuple[str, ...]:
    found = registry.rule_named(rule)
    return found.hears if found is not None else ()


def _covers(place: Place, row: Place) -> bool:
    same = place.filename == row.filename and place.cell == row.cell
    return same and place.row <= row.row <= (place.end_row or place.row)


def _difference(event: Event, subject: Subject | None) -> str:
    if subject is None or event.subject is None or not TORCH.is_tensor(subject.value):
        return ""
    if not subject.exact:
        return ""
    return facts.contradiction(event.subject.facts, facts.of(subject.value))


def _as_raised(found: Diagnostic) -> Diagnostic:
    """The finding of something that has happened."""
    return found._replace(certainty="raises", severity="error")


def _live(
    law: Message, rules: Sequence[Rule], subject: Subject | None, place: Place, known: Known
) -> Diagnostic | None:
    """What the rules of a refusal make of the live facts."""
    if subject is None:
        return None
    told = facts.of(subject.value) if TORCH.is_tensor(subject.value) else {}
    way = known.trail(subject.value) if told else ()
    name = subject.name or (known.sources.said(way[-1].place) if way else "")
    if not name:
        return None
    seen = Seen(name, told, way)
    event = Event(law.key, place, "raises", seen, (), subject.fields, ())
    for rule in rules:
        if law.key not in rule.hears:
            continue
        try:
            for found in rule.check(event, Journal(place.filename)):
                return found if _is_whole(found) else None
        except (KeyError, AssertionError, AttributeError, TypeError):
            return None  # the rule asks for what only the interpreter knows
    return None


def _is_whole(found: Diagnostic) -> bool:
    """Whether nothing is missing in what is said: a word that only the interpreter knows would leave a gap."""
    said = (found.message, found.label, found.help)
    return all(value not in ("", None) for one in said if one is not None for _, value in one.fields)


def _law_alone(law: Message, error: BaseException, place: Place, names: set[str]) -> Diagnostic:
    """The refusal, its place and its law."""
    said = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    if law.piece and law.piece not in said:
        said = f"{law.error}: ... {law.piece} ..."
    label = text("{error}", error=said)
    return Diagnostic(
        min(names, default=law.key),
        "error",
        "raises",
        place,
        text("torch refuses this: {law}", law=text(law.law)),
        label,
        (Step(place, "refused", label),),
        text(law.law),
    )
