"""The language in which sentences are said: English, 简体中文 or 日本語.

Chosen by `--lang`, else `GRADTRAIL_LANG`, else `lang` of the settings that hold here (`configuration`), else the
locale. Code, names and torch's own messages are never translated.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from gradtrail.integrations import configuration
from gradtrail.laws.text import speak

LANGUAGES = ("en", "zh_CN", "ja")
"""The languages, by the names of their catalogues."""

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "locale")

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


def chosen(asked: str | None, environment: Mapping[str, str], configured: str = "") -> str:
    """The language for a run; `asked` is what `--lang` says, `configured` what the settings say.

    Raises ValueError when what is asked for is not spoken.
    """
    if asked is not None:
        found = language_of(asked)
        if found is None:
            raise ValueError(asked)
        return found
    named = environment.get("GRADTRAIL_LANG") or configured
    if not named:
        named = next(
            (environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), ""
        )
    return language_of(named) or "en"


_spoken = ["en"]


def spoken() -> str:
    """The language that sentences are said in."""
    return _spoken[0]


def use(language: str) -> None:
    """Say every sentence in `language` from here on; what its catalogue lacks is said in English."""
    _spoken[:] = [language]
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


def configured(arguments: list[str], folder: str) -> str:
    """What the settings say that hold in a folder, or those that the arguments of `check` name; "" for nothing."""
    if arguments[:1] == ["check"] and any(one.startswith(("--config", "--isolated")) for one in arguments):
        if "--isolated" in arguments:
            return ""
        for one, after in zip(arguments, [*arguments[1:], ""], strict=True):
            if one == "--config" or one.startswith("--config="):
                return configuration.language_in(one.partition("=")[2] or after) or ""
    return configuration.language(folder)
