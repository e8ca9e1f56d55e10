"""The language in which sentences are said: English, 简体中文 or 日本語.

Chosen by `--lang`, else `GRADTRAIL_LANG`, else `lang` under `[tool.gradtrail]` of the pyproject.toml here, else the
locale. Code, names and torch's own messages are never translated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from gradtrail.laws.text import speak

LANGUAGES = ("en", "zh_CN", "ja")
"""The languages, by the names of their catalogues."""

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "locale")

_CONFIGURED = re.compile(r"^\[tool\.gradtrail\][^\[]*?^lang\s*=\s*[\"']([\w.-]+)[\"']", re.M)
_SIMPLIFIED = ("", "cn", "sg", "hans", "hans_cn")


def language_of(name: str) -> str | None:
    """The language that a name such as `ja_JP.UTF-8`, `zh-CN` or `en` means; None for one that is not spoken."""
    code = name.partition(".")[0].partition("@")[0].replace("-", "_").lower()
    head, _, region = code.partition("_")
    if head == "ja":
        return "ja"
    if head == "zh" and region in _SIMPLIFIED:
        return "zh_CN"
    return "en" if head in ("en", "c", "posix") else None


def chosen(asked: str | None, environment: Mapping[str, str], folder: str) -> str:
    """The language for a run; `asked` is what `--lang` says. Raises ValueError when that is not spoken."""
    if asked is not None:
        found = language_of(asked)
        if found is None:
            raise ValueError(asked)
        return found
    named = environment.get("GRADTRAIL_LANG") or _configured(folder)
    if not named:
        named = next(
            (environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), ""
        )
    return language_of(named) or "en"


def use(language: str) -> None:
    """Say every sentence in `language` from here on; what its catalogue lacks is said in English."""
    if language == "en":
        speak(None)
        return
    import gettext

    speak(gettext.translation("gradtrail", FOLDER, [language], fallback=True).gettext)


def taken_from(arguments: list[str]) -> tuple[str | None, list[str]]:
    """What `--lang` says, wherever it stands, and the other arguments; those of a script are the script's own."""
    rest: list[str] = []
    asked: str | None = None
    waiting = False
    for argument in arguments:
        if len(rest) > 1 and rest[0] == "tiny":
            rest.append(argument)
        elif waiting:
            asked, waiting = argument, False
        elif argument == "--lang":
            waiting = True
        elif argument.startswith("--lang="):
            asked = argument.partition("=")[2]
        else:
            rest.append(argument)
    return ("" if waiting else asked), rest


def _configured(folder: str) -> str:
    path = os.path.join(folder, "pyproject.toml")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = _CONFIGURED.search(file.read())
    except OSError:
        return ""
    return found.group(1) if found else ""
