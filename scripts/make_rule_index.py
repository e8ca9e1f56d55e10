"""Write `src/gradtrail/findings/index.py`: what a start of `gradtrail check` needs to know of the rules.

usage: python scripts/make_rule_index.py [--check]

With `--check` nothing is written, and the exit status is 1 when the file is stale.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "gradtrail" / "findings" / "index.py"

sys.path.insert(0, str(ROOT / "src"))

from gradtrail.findings.registry import Index, all_rules, make_index  # noqa: E402

HEADER = '''"""The rules by name and by the events they hear. Made by `scripts/make_rule_index.py`; not to be edited."""

from __future__ import annotations

'''


def content(index: Index) -> str:
    """The text of the generated file."""
    return (
        HEADER
        + _mapping(
            "MODULES: dict[str, str]", {name: _quoted(module) for name, module in index.modules.items()}
        )
        + "\n"
        + _mapping(
            "HEARS: dict[str, tuple[str, ...]]",
            {kind: _row(map(_quoted, modules)) for kind, modules in index.hears.items()},
        )
        + "\n"
        + _words(index.words)
    )


def _mapping(head: str, rows: dict[str, str]) -> str:
    if not rows:
        return f"{head} = {{}}\n"
    return (
        f"{head} = {{\n" + "".join(f"    {_quoted(key)}: {value},\n" for key, value in rows.items()) + "}\n"
    )


def _row(items: object) -> str:
    names = list(items)  # type: ignore[call-overload]
    return "(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")"


def _words(words: tuple[bytes, ...]) -> str:
    if not words:
        return "WORDS: tuple[bytes, ...] = ()\n"
    return (
        "WORDS: tuple[bytes, ...] = (\n"
        + "".join(f"    b{_quoted(word.decode())},\n" for word in words)
        + ")\n"
    )


def _quoted(value: str) -> str:
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
