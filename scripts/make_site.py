"""Make the documentation site: the pages under `docs/`, a page for each rule and language, and the operations.

usage: python scripts/make_site.py [--serve]

The pages are gathered in `build/site-source` and built by Zensical into `build/site`, strictly: a warning or a dead link
is an error.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build" / "site-source"

sys.path.insert(0, str(ROOT / "src"))

from gradtrail.findings.claims import CLAIMS  # noqa: E402
from gradtrail.findings.registry import all_rules  # noqa: E402
from gradtrail.integrations import language  # noqa: E402
from gradtrail.laws import operations  # noqa: E402
from gradtrail.laws.text import say  # noqa: E402
from gradtrail.reports import claims_page, op_page, rule_page  # noqa: E402

NAMES = {"en": "English", "zh_CN": "简体中文", "ja": "日本語"}


def main() -> int:
    """Gather the pages and build the site; the exit status of the generator comes back."""
    gather()
    options = ["serve"] if "--serve" in sys.argv[1:] else ["build", "--strict"]
    command = [sys.executable, "-m", "zensical", *options, "--config-file", str(ROOT / "mkdocs.yml")]
    told = subprocess.run(command, cwd=ROOT, check=False)
    return told.returncode


def gather() -> None:
    """Write every page of the site."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    SOURCE.mkdir(parents=True)
    for page in sorted((ROOT / "docs").glob("*.md")):
        shutil.copy(page, SOURCE)
    for name, readme in (
        ("index.md", "README.md"),
        ("index.zh_CN.md", "README.zh_CN.md"),
        ("index.ja.md", "README.ja.md"),
    ):
        (SOURCE / name).write_text(_readme((ROOT / readme).read_text(encoding="utf-8")), encoding="utf-8")
    for code in language.LANGUAGES:
        language.use(code)
        _rules(code)
        ending = "" if code == "en" else f".{code}"
        (SOURCE / f"claims{ending}.md").write_text(claims_page.markdown_list(CLAIMS), encoding="utf-8")
    language.use("en")
    (SOURCE / "operations.md").write_text(_operations(), encoding="utf-8")


def _readme(text: str) -> str:
    for old, new in (
        ("README.zh_CN.md", "index.zh_CN.md"),
        ("README.ja.md", "index.ja.md"),
        ("README.md", "index.md"),
    ):
        text = text.replace(f"({old})", f"({new})")
    return text.replace("(docs/", "(")


def _rules(code: str) -> None:
    """A page for each rule, at an address that stays: `rules/NAME`, with the language behind it."""
    folder = SOURCE / "rules"
    folder.mkdir(exist_ok=True)
    ending = "" if code == "en" else f".{code}"
    rows = [f"# {say('Rules')} · {NAMES[code]}", ""]
    for rule in all_rules():
        others = " · ".join(
            f"[{NAMES[other]}]({rule.name}{'' if other == 'en' else '.' + other}.md)"
            for other in language.LANGUAGES
            if other != code
        )
        page = rule_page.markdown_page(rule)
        (folder / f"{rule.name}{ending}.md").write_text(page + f"\n{others}\n", encoding="utf-8")
        rows.append(f"- [{rule.name}]({rule.name}{ending}.md): {rule_page.first_sentence(rule)}")
    (folder / f"index{ending}.md").write_text("\n".join(rows) + "\n", encoding="utf-8")


def _operations() -> str:
    """The reference of the operations, from the rows of the laws."""
    parts = [
        "# Operations",
        "",
        "What each operation does to autograd's facts; every row is judged by torch.",
        "",
    ]
    for name in sorted(operations.names()):
        row = operations.operation(name)
        assert row is not None
        parts += [f"## {name}", "", "```text", op_page.render(row).rstrip(), "```", ""]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
