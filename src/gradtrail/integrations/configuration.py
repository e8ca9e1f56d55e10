"""Settings under `[tool.gradtrail]`: where they stand, what they may say, and what is wrong with them.

The settings of a file are those of the nearest `pyproject.toml` above it that has the table. A file that does
not hold the bytes of both words, `tool` and `gradtrail`, is not parsed: TOML has several ways to write the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gradtrail.integrations.output import current_folder
from gradtrail.laws.text import Text, text

if TYPE_CHECKING:
    from gradtrail.findings.engine import Settings

NAME = "pyproject.toml"
_MARKS = (b"tool", b"gradtrail")
TABLE = "[tool.gradtrail]"


class WrongConfiguration(Exception):
    """A file of settings that cannot be used, and why, in one sentence for people."""

    def __init__(self, filename: str, reason: Text) -> None:
        super().__init__(filename, reason)
        self.filename = filename
        self.reason = reason


class Configuration(NamedTuple):
    """What one table says; None is what it leaves open. Globs are counted from `folder`."""

    filename: str
    folder: str
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] | None = None
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    exclude: tuple[str, ...] | None = None
    extend_exclude: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    optimizers: tuple[str, ...] = ()
    device: str | None = None
    torch_version: str | None = None
    lang: str | None = None
    baseline: str | None = None


NONE = Configuration("", "")
"""No settings at all."""


class Configurations:
    """The settings of each folder, read when first asked for. `given` holds for all of them."""

    __slots__ = ("_given", "_of", "_rules")

    def __init__(self, rules: Callable[[], Iterable[str]], given: Configuration | None = None) -> None:
        """`rules` gives the names that rules have."""
        self._rules = rules
        self._given = given
        self._of: dict[str, Configuration | None] = {}

    def of(self, folder: str) -> Configuration | None:
        """The settings for what lies in `folder`; None where there are none. Raises `WrongConfiguration`."""
        if self._given is not None:
            return self._given
        if folder not in self._of:
            data = _marked(os.path.join(folder, NAME))
            above = os.path.dirname(folder)
            if data is not None:
                found = from_data(os.path.join(folder, NAME), data, self._rules)
                self._of[folder] = self.of(above) if found is None and above != folder else found
            else:
                self._of[folder] = None if above == folder else self.of(above)
        return self._of[folder]


def read(filename: str, rules: Callable[[], Iterable[str]]) -> Configuration:
    """The settings of a file that is named. Raises `WrongConfiguration`."""
    from gradtrail.source.reading import Unreadable, read_regular

    try:
        found = from_data(filename, read_regular(filename), rules)
    except Unreadable as unreadable:
        raise WrongConfiguration(filename, unreadable.reason) from None
    if found is None:
        raise WrongConfiguration(filename, text("has no table `{table}`", table=TABLE))
    return found


def from_data(filename: str, data: bytes, rules: Callable[[], Iterable[str]]) -> Configuration | None:
    """The settings in the bytes of a TOML file; None without the table. Raises `WrongConfiguration`."""
    from gradtrail.integrations import configuration_table

    table = configuration_table.parsed(filename, data)
    return None if table is None else configuration_table.Reader(filename, rules).configuration(table)


def language(folder: str) -> str:
    """What `lang` says for a folder, as it stands there; "" when nothing does or nobody can tell."""
    while True:
        found = language_in(os.path.join(folder, NAME))
        above = os.path.dirname(folder)
        if found is not None or above == folder:
            return found or ""
        folder = above


def language_in(filename: str) -> str | None:
    """What `lang` says in a file of settings, "" when nothing; None when the file holds no settings."""
    data = _marked(filename)
    if data is None:
        return None
    from gradtrail.integrations import configuration_table

    try:
        table = configuration_table.parsed(filename, data)
    except WrongConfiguration:
        return ""  # `check` tells what is wrong
    if table is None:
        return None
    found = table.get("lang", "")
    return found if isinstance(found, str) else ""


def _marked(path: str) -> bytes | None:
    """The bytes of a file that may hold settings of ours; None when it does not, or cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError):
        return None
    return data if all(mark in data for mark in _MARKS) else None


class Merged:
    """The settings of files: what the command line says, then what the configuration of the file says."""

    __slots__ = ("_asked", "_configurations", "_found", "_globs", "_of", "_usually")

    def __init__(self, configurations: Configurations, asked: Settings, found: str | None = None) -> None:
        """`asked` is what the command line says; `found` the release of torch where nobody names one."""
        self._configurations = configurations
        self._asked = asked
        self._found = found
        from gradtrail.source.files import is_usually_left_out

        self._usually = is_usually_left_out
        self._of: dict[str, Settings] = {}
        self._globs: dict[tuple[str, tuple[str, ...]], Globs] = {}

    def of(self, filename: str) -> Settings:
        """The settings of a file. Raises `WrongConfiguration`."""
        found = self._of.get(filename)
        if found is None:
            # What comes from standard input without a name belongs to the folder we are in.
            folder = os.path.dirname(filename) or current_folder()
            configuration = self._configurations.of(folder)
            found = self._merged(configuration or NONE, filename)
            self._of[filename] = found
        return found

    def leaves_out(self, path: str, is_folder: bool) -> bool:
        """Whether something that is met in a folder is not looked at. Raises `WrongConfiguration`."""
        configuration = self._configurations.of(os.path.dirname(path))
        if configuration is None:
            return self._usually(path, is_folder)
        if configuration.exclude is None and self._usually(path, is_folder):
            return True
        globs = (*(configuration.exclude or ()), *configuration.extend_exclude)
        return bool(globs) and self._globs_of(configuration.folder, globs).match(path, is_folder)

    def baseline(self, folder: str) -> str | None:
        """The baseline that the settings of a folder name. Raises `WrongConfiguration`."""
        configuration = self._configurations.of(folder)
        return None if configuration is None else configuration.baseline

    def _merged(self, configuration: Configuration, filename: str) -> Settings:
        asked = self._asked
        ignore = asked.ignore or configuration.ignore or ()
        for glob, names in configuration.per_file_ignores:
            others = glob.startswith("!")
            globs = self._globs_of(configuration.folder, (glob.removeprefix("!"),))
            if globs.match_or_above(filename) is not others:
                ignore = (*ignore, *names)
        from gradtrail.findings.engine import Settings

        return Settings(
            asked.select or configuration.select or (),
            ignore,
            asked.torch_version or configuration.torch_version or self._found,
            configuration.modules,
            configuration.optimizers,
            configuration.device,
        )

    def _globs_of(self, folder: str, globs: tuple[str, ...]) -> Globs:
        found = self._globs.get((folder, globs))
        if found is None:
            found = self._globs[folder, globs] = Globs(folder, globs)
        return found


class Globs:
    """Globs that are read as lines of a `.gitignore` that stands in `folder`."""

    __slots__ = ("_file", "_folder")

    def __init__(self, folder: str, globs: Sequence[str]) -> None:
        from gradtrail.source.ignored import IgnoreFile

        self._folder = folder
        self._file = IgnoreFile(folder, "\n".join(globs))

    def match(self, path: str, is_folder: bool) -> bool:
        """Whether a path below the folder is meant."""
        return self._is_below(path) and self._file.verdict(path, is_folder) is True

    def match_or_above(self, filename: str) -> bool:
        """Whether a file is meant, or a folder that it lies in."""
        path, is_folder = filename, False
        while self._is_below(path):
            if self._file.verdict(path, is_folder):
                return True
            path, is_folder = os.path.dirname(path), True
        return False

    def _is_below(self, path: str) -> bool:
        return path.startswith(os.path.join(self._folder, ""))
