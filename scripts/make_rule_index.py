"""Write `src/gradtrail/findings/index.py`: what a start of `gradtrail check` needs to know of the rules.

usage: python scripts/make_rule_index.py [--check]

With `--check` nothing is written, and the exit status is 1 when the file is stale.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "gradtrail" / "findings" / "index.py"

sys.path.insert(0, str(ROOT / "src"))

from gradtrail.findings.registry import Index, all_rules, make_index  # noqa: E402
from gradtrail.source.words import Word  # noqa: E402

HEADER = '''"""The rules by name and event. Made by `scripts/make_rule_index.py`; not to be edited."""

from __future__ import annotations

from gradtrail.source.words import Word

'''


def content(index: Index) -> str:
    """The text of the generated file."""
    modules = {name: quoted(module) for name, module in index.modules.items()}
    hears = {kind: row(map(quoted, modules)) for kind, modules in index.hears.items()}
    return (
        HEADER
        + mapping("MODULES: dict[str, str]", modules)
        + "\n"
        + mapping("HEARS: dict[str, tuple[str, ...]]", hears)
        + "\n"
        + words(index.words)
    )


def mapping(head: str, rows: dict[str, str]) -> str:
    """A dict literal with one row for each key."""
    if not rows:
        return f"{head} = {{}}\n"
    return f"{head} = {{\n" + "".join(f"    {quoted(key)}: {value},\n" for key, value in rows.items()) + "}\n"


def row(items: Iterable[str]) -> str:
    """A tuple literal on one line."""
    names = list(items)
    return "(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")"


def words(found: tuple[Word, ...]) -> str:
    """The words of the byte filter."""
    if not found:
        return "WORDS: tuple[Word, ...] = ()\n"
    rows = "".join(f"    {word_literal(word)},\n" for word in found)
    return f"WORDS: tuple[Word, ...] = (\n{rows})\n"


def word_literal(word: Word) -> str:
    """A word as it is made, without the parts that are empty."""
    parts = [repr(word.spelt)]
    parts += [f"{name}={part!r}" for name, part in list(word._asdict().items())[1:] if part]
    return f"Word({', '.join(parts)})"


def quoted(value: str) -> str:
    """A string literal in double quotes."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def main() -> int:
    """Write the file, or with `--check` compare it."""
    new = content(make_index(all_rules()))
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != new:
            print(f"{TARGET.relative_to(ROOT)} is stale: run python scripts/make_rule_index.py")
            return 1
        return 0
    TARGET.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
