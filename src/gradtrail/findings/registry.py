"""Finding the rules: all of them by looking into the folder, or a few by the generated index.

A rule module carries pages and examples. A run of `check` imports it only when an event that one of
its rules hears occurs for the first time; `gradtrail.findings.index` says which module that is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from gradtrail.findings import rules as rules_package
from gradtrail.findings.rule import Rule
from gradtrail.source.words import Word

_KEBAB_CASE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")


OWN = ("unused-ignore",)
"""Names by which the engine itself finds something, without an event: `gradtrail.findings.ignoring`."""


class BadRule(Exception):
    """A rule file that breaks the form of a rule: a mistake of ours."""


class Index:
    """What a start needs to know of the rules without importing one.

    `modules` maps the name of a rule to its module, `hears` a kind of event to the modules whose rules
    hear it, and `words` are the byte strings of which a file must hold one; none when a rule matters in
    every file that says `torch`.
    """

    __slots__ = ("hears", "modules", "words")

    def __init__(
        self, modules: dict[str, str], hears: dict[str, tuple[str, ...]], words: tuple[Word, ...]
    ) -> None:
        self.modules = modules
        self.hears = hears
        self.words = words


def index() -> Index:
    """The generated index; in a checkout whose rule files are newer, one made on the spot."""
    if _outdated():
        return make_index(all_rules())
    from gradtrail.findings import index as generated

    return Index(generated.MODULES, generated.HEARS, generated.WORDS)


def known_names() -> tuple[str, ...]:
    """The names that may be selected or ignored."""
    return (*index().modules, *OWN)


def make_index(rules: Iterable[type[Rule]]) -> Index:
    """The index of `rules`."""
    modules: dict[str, str] = {}
    hears: dict[str, set[str]] = {}
    words: set[Word] = set()
    matters_everywhere = False
    for rule in rules:
        module = rule.__module__.rpartition(".")[2]
        modules[rule.name] = module
        for kind in rule.hears:
            hears.setdefault(kind, set()).add(module)
        declared = tuple(getattr(rule, "words", ()))
        words.update(declared)
        matters_everywhere = matters_everywhere or not declared
    return Index(
        dict(sorted(modules.items())),
        {kind: tuple(sorted(names)) for kind, names in sorted(hears.items())},
        () if matters_everywhere else tuple(sorted(words)),
    )


def all_rules() -> list[type[Rule]]:
    """Every rule, by name. Raises `BadRule` when a name is taken twice or has not the form of a name."""
    found: dict[str, type[Rule]] = {}
    for module in module_names():
        for rule in rules_of(module):
            if rule.name in found:
                raise BadRule(f"{rule.name}: named in {found[rule.name].__module__} and {rule.__module__}")
            found[rule.name] = rule
    return [found[name] for name in sorted(found)]


def rule_named(name: str) -> type[Rule] | None:
    """The rule called `name`, or None."""
    if name in OWN:
        from gradtrail.findings.ignoring import UnusedIgnore

        return UnusedIgnore
    module = index().modules.get(name)
    if module is None:
        return None
    return next((rule for rule in rules_of(module) if rule.name == name), None)


def module_names() -> list[str]:
    """The names of the rule modules, those starting with an underscore left out."""
    names = set()
    for folder in rules_package.__path__:
        for entry in os.listdir(folder):
            if entry.endswith(".py") and not entry.startswith("_"):
                names.add(entry[:-3])
    return sorted(names)


def rules_of(module: str) -> list[type[Rule]]:
    """The rules that the module `module` of `gradtrail.findings.rules` defines, in their order there."""
    full = rules_package.__name__ + "." + module
    __import__(full)
    found = [value for value in vars(sys.modules[full]).values() if _is_rule(value, full)]
    for rule in found:
        _check_form(rule)
    return found


def _is_rule(value: Any, module: str) -> bool:
    return (
        isinstance(value, type)
        and issubclass(value, Rule)
        and value.__module__ == module
        and "name" in vars(value)
    )


def _check_form(rule: type[Rule]) -> None:
    where = f"{rule.__module__}.{rule.__name__}"
    if not _KEBAB_CASE.match(rule.name):
        raise BadRule(f"{where}: the name {rule.name!r} is not in kebab-case")
    if not rule.__doc__:
        raise BadRule(f"{where}: a rule needs a docstring, which is its page")
    if not getattr(rule, "hears", ()):
        raise BadRule(f"{where}: a rule needs the kinds of events that it hears")


def _outdated() -> bool:
    """Whether the generated index may be older than the rules: only in a checkout, where they are edited."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not os.path.exists(os.path.join(package, os.pardir, os.pardir, "pyproject.toml")):
        return False
    try:
        made = os.stat(os.path.join(package, "findings", "index.py")).st_mtime
    except OSError:
        return True
    folder = os.path.join(package, "findings", "rules")
    return any(entry.stat().st_mtime > made for entry in os.scandir(folder) if entry.name.endswith(".py"))
