"""Gather every sentence of gradtrail, and keep the catalogues under `src/gradtrail/locale` up to date.

usage: python scripts/make_catalogues.py [--check]

Writes `gradtrail.pot`, merges it into each `gradtrail.po` (new sentences untranslated, changed ones fuzzy) and compiles
`gradtrail.mo`. With `--check` nothing is written, and the exit status is 1 when something is stale. Needs Babel.
"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "gradtrail"
LOCALE = SOURCE / "locale"

sys.path.insert(0, str(ROOT / "src"))

from gradtrail.findings.answers import PAGES  # noqa: E402
from gradtrail.findings.ignoring import UnusedIgnore  # noqa: E402
from gradtrail.findings.registry import all_rules  # noqa: E402
from gradtrail.laws import messages  # noqa: E402
from gradtrail.reports import rule_page  # noqa: E402

TABLES = (
    "SENTENCES",
    "_COMES_BACK",
    "_SAME_WHEN",
    "_OTHERWISE",
    "_ARGUMENT_KINDS",
    "_REFUSES",
    "COMMANDS",
    "LABELS",
    "_GROUP_ERRORS",
)
"""Names of tables whose strings are sentences."""

SAID = ("text", "say", "said")
"""Functions whose first argument is a sentence."""

LANGUAGES = ("zh_CN", "ja")

KEYS = frozenset(messages.keys())


def sentences() -> dict[str, set[str]]:
    """Every sentence, and the files that it stands in."""
    found: dict[str, set[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        if path.is_relative_to(SOURCE / "tiny"):
            continue  # it speaks as torch does
        name = str(path.relative_to(SOURCE))
        for sentence in in_source(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(sentence, set()).add(name)
    for rule in (*all_rules(), UnusedIgnore):
        name = rule.__module__.replace("gradtrail.", "").replace(".", "/") + ".py"
        titles = [one.title for one in rule.examples] + [one.title for one in rule.near_misses if one.shown]
        for sentence in (*rule_page.paragraphs(rule), *titles):
            if not sentence.startswith("    "):
                found.setdefault(sentence, set()).add(name)
    for page in PAGES.values():
        for example in page.examples:
            found.setdefault(example.title, set()).add("findings/answers.py")
    for key in sorted(KEYS):
        found.setdefault(messages.message(key).law, set()).add("laws/messages.py")
    for word in ("error", "warning", "info", "cause"):
        found.setdefault(word, set()).add("findings/diagnostic.py")
    return {sentence: files for sentence, files in found.items() if any(sign.isalpha() for sign in sentence)}


def in_source(tree: ast.AST) -> Iterator[str]:
    """The sentences that stand in a file: what may be the first argument of `text` and its like, and the tables."""
    assigned: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                pairs: list[tuple[ast.AST, ast.AST]] = [(target, node.value)]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    pairs = list(zip(target.elts, node.value.elts, strict=True))
                for bound, value in pairs:
                    if isinstance(bound, ast.Name):
                        assigned.setdefault(bound.id, []).append(value)
    for name in TABLES:
        for value in assigned.get(name, ()):
            yield from _strings(value)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in SAID
            and node.args
        ):
            yield from _strings(node.args[0])
            for part in ast.walk(node.args[0]):
                if isinstance(part, ast.Name):
                    for value in assigned.get(part.id, ()):
                        yield from _strings(value)


def _strings(node: ast.AST) -> Iterator[str]:
    """The strings that an expression may give: not the keys of a dict, and not what is compared or asked for."""
    if isinstance(node, ast.Dict):
        for value in node.values:
            yield from _strings(value)
    elif isinstance(node, ast.IfExp):
        yield from _strings(node.body)
        yield from _strings(node.orelse)
    elif isinstance(node, ast.Call):
        yield from _strings(node.func)
        for argument in node.args[1:]:
            yield from _strings(argument)
    elif isinstance(node, (ast.Compare, ast.Lambda, ast.JoinedStr)):
        return
    elif isinstance(node, ast.Subscript):
        yield from _strings(node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_key(node.value):
        yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _strings(child)


def _is_key(word: str) -> bool:
    return word in KEYS


def template() -> Catalog:
    """The catalogue without translations."""
    catalogue = Catalog(project="gradtrail", charset="utf-8", fuzzy=False)
    for sentence, files in sorted(sentences().items()):
        catalogue.add(sentence, locations=[(name, None) for name in sorted(files)])
    return catalogue


def merged(language: str) -> Catalog:
    """The catalogue of a language with the sentences of today."""
    path = LOCALE / language / "LC_MESSAGES" / "gradtrail.po"
    if path.exists():
        with path.open("rb") as file:
            catalogue = read_po(file, locale=language)
    else:
        catalogue = Catalog(locale=language, project="gradtrail", charset="utf-8", fuzzy=False)
    catalogue.update(template(), no_fuzzy_matching=False, keep_user_comments=True)
    catalogue.obsolete.clear()
    return catalogue


def as_po(catalogue: Catalog) -> bytes:
    """The catalogue as it stands in a `.po` file, without dates."""
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=120, omit_header=True, sort_output=True, ignore_obsolete=True)
    head = b'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n\n'
    return head + buffer.getvalue()


def as_mo(catalogue: Catalog) -> bytes:
    """The catalogue as `gettext` reads it."""
    buffer = io.BytesIO()
    write_mo(buffer, catalogue)
    return buffer.getvalue()


def main() -> int:
    """Write the catalogues, or with `--check` compare them."""
    stale = []
    for language in LANGUAGES:
        catalogue = merged(language)
        folder = LOCALE / language / "LC_MESSAGES"
        path = folder / "gradtrail.po"
        content = as_po(catalogue)
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_bytes() != content:
                stale.append(str(path.relative_to(ROOT)))
            continue
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        with path.open("rb") as file:
            (folder / "gradtrail.mo").write_bytes(as_mo(read_po(file, locale=language)))
        done = sum(bool(entry.string) and not entry.fuzzy for entry in catalogue if entry.id)
        print(f"{language}: {done} of {len(catalogue)} sentences")
    for name in stale:
        print(f"{name} is stale: run python scripts/make_catalogues.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
