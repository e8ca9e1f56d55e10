"""Reading the table `[tool.gradtrail]`, and saying what is wrong with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from gradtrail.integrations.configuration import TABLE, Configuration, WrongConfiguration
from gradtrail.laws.text import Text, text


def parsed(filename: str, data: bytes) -> Mapping[str, Any] | None:
    """The table in the bytes of a TOML file; None without it. Raises `WrongConfiguration`."""
    # tomllib came with Python 3.11; tomli is the same code for those before.
    toml: Any = __import__("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        whole = toml.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise WrongConfiguration(filename, text("is not UTF-8")) from None
    except (toml.TOMLDecodeError, RecursionError) as error:
        message = (str(error).splitlines() or [""])[0]
        raise WrongConfiguration(filename, text("is not TOML: {message}", message=message)) from None
    tools = whole.get("tool", {})
    table = tools.get("gradtrail") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise WrongConfiguration(filename, text("`{key}` must be a table", key="tool.gradtrail"))
    return table


DEVICES = ("cpu", "cuda", "mps", "xpu")
"""What `device` may say."""


class Reader:
    """Reads one table, and says what is wrong with it."""

    def __init__(self, filename: str, rules: Callable[[], Iterable[str]]) -> None:
        self._filename = filename
        self._rules = rules
        self._known: frozenset[str] | None = None

    def configuration(self, table: Mapping[str, Any]) -> Configuration:
        """What the table says. Raises `WrongConfiguration`."""
        readers: dict[str, Callable[[str, Any], Any]] = {
            "select": self._chosen,
            "ignore": self._rule_names,
            "per-file-ignores": self._per_file,
            "exclude": self._globs,
            "extend-exclude": self._globs,
            "modules": self._paths,
            "optimizers": self._paths,
            "device": self._device,
            "torch-version": self._version,
            "lang": self._language,
            "baseline": self._baseline,
        }
        found: dict[str, Any] = {}
        for key, value in table.items():
            reader = readers.get(key)
            if reader is None:
                raise self._no_such(text("there is no setting `{key}`", key=key), key, readers)
            found[key.replace("-", "_")] = reader(key, value)
        return Configuration(self._filename, os.path.dirname(self._filename), **found)

    def _wrong(self, told: Text) -> WrongConfiguration:
        return WrongConfiguration(self._filename, text("{table}: {told}", table=TABLE, told=told))

    def _no_such(self, told: Text, name: str, names: Iterable[str]) -> WrongConfiguration:
        from gradtrail.integrations.nearest import nearest

        near = nearest(name, names)
        if near is None:
            return self._wrong(told)
        question = text("did you mean `{near}`?", near=near)
        return self._wrong(text("{told}; {hint}", told=told, hint=question))

    def _string(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self._wrong(text("`{key}` must be a string", key=key))
        return value

    def _strings(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._wrong(text("`{key}` must be a list of strings", key=key))
        return tuple(value)

    def _globs(self, key: str, value: Any) -> tuple[str, ...]:
        return self._strings(key, value)

    def _rule_names(self, key: str, value: Any) -> tuple[str, ...]:
        names = self._strings(key, value)
        if self._known is None:
            self._known = frozenset(self._rules())
        for name in names:
            if name not in self._known:
                told = text("`{key}`: there is no rule `{name}`", key=key, name=name)
                raise self._no_such(told, name, self._known)
        return names

    def _chosen(self, key: str, value: Any) -> tuple[str, ...]:
        names = self._rule_names(key, value)
        if not names:
            raise self._wrong(text("`{key}` names no rule", key=key))
        return names

    def _per_file(self, key: str, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
        if not isinstance(value, dict):
            raise self._wrong(text("`{key}` must be a table from globs to lists of rules", key=key))
        return tuple((glob, self._rule_names(f"{key}.{glob}", names)) for glob, names in value.items())

    def _paths(self, key: str, value: Any) -> tuple[str, ...]:
        names = self._strings(key, value)
        for name in names:
            parts = name.split(".")
            if len(parts) < 2 or not all(part.isidentifier() for part in parts):
                told = text("`{key}`: `{name}` is not the dotted name of a class", key=key, name=name)
                raise self._wrong(told)
        return names

    def _device(self, key: str, value: Any) -> str:
        device = self._string(key, value)
        if device not in DEVICES:
            known = ", ".join(DEVICES)
            raise self._wrong(
                text("`{key}`: `{value}` is none of {known}", key=key, value=device, known=known)
            )
        return device

    def _version(self, key: str, value: Any) -> str:
        from gradtrail.integrations.torch_version import release

        version = release(self._string(key, value))
        if version is None:
            told = text("`{key}`: `{value}` is not a version such as 2.13.0", key=key, value=value)
            raise self._wrong(told)
        return version

    def _language(self, key: str, value: Any) -> str:
        from gradtrail.integrations import language

        if language.language_of(self._string(key, value)) is None:
            known = ", ".join(language.LANGUAGES)
            raise self._wrong(
                text("`{key}`: `{value}` is none of {known}", key=key, value=value, known=known)
            )
        return str(value)

    def _baseline(self, key: str, value: Any) -> str:
        return os.path.join(os.path.dirname(self._filename), self._string(key, value))
