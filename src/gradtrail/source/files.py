"""Which files are looked at, and the files themselves, read when first asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from gradtrail.laws.text import Text, text
from gradtrail.source import reading
from gradtrail.source.outline import Wanted
from gradtrail.source.reading import Unreadable
from gradtrail.source.text import SourceText

if TYPE_CHECKING:
    from gradtrail.source.ignored import Ignored

SUFFIXES = (".py", ".pyw", ".ipynb")
"""The endings of the files that are taken from a folder."""

SKIPPED_FOLDERS = frozenset(
    ("node_modules", "__pycache__", "build", "dist", "site-packages", "venv", "__pypackages__")
)
"""Folders that hold copies, products or other people's code; hidden folders are skipped as well."""

LeavesOut = Callable[[str, bool], bool]
"""Whether a path, which may be that of a folder, is not taken from the folder that it lies in."""


class SourceFiles:
    """The files of a run by absolute name, read from the disk when first asked for, or given as text.

    A file that is asked for and cannot be read is remembered as such: it is tried once.
    """

    __slots__ = ("_given", "_known", "_notebooks", "_parsed", "_size")

    def __init__(self, given: Mapping[str, str] | None = None) -> None:
        """`given` maps the names of files that are not on the disk to what they say."""
        self._known: dict[str, SourceText | Unreadable] = {}
        self._given: list[str] = []
        self._notebooks: dict[str, bytes] = {}
        self._parsed: dict[str, int] = {}
        """The size of each file whose tree is kept, those that were asked for last at the end."""
        self._size = 0
        """The sum of these."""
        for filename, content in (given or {}).items():
            self.add(filename, content.encode("utf-8"))

    def add(self, filename: str, data: bytes) -> None:
        """Take `data` as what `filename` says, whatever the disk holds."""
        self._given.append(filename)
        known = self._known[filename] = _taken(filename, data)
        if isinstance(known, SourceText) and known.cells is not None:
            self._notebooks[filename] = data

    def stored(self, filename: str) -> bytes:
        """The bytes of `filename` as they are stored: of a notebook its JSON. Raises `Unreadable`."""
        known = self._known.get(filename)
        if not isinstance(known, SourceText) or known.cells is None:
            return self.data(filename)
        return self._notebooks[filename] if filename in self._notebooks else reading.read_data(filename)

    def data(self, filename: str) -> bytes:
        """The bytes of `filename`, those of a notebook as the program that it holds. Raises `Unreadable`."""
        known = self._known.get(filename)
        if known is None:
            data = reading.read_data(filename)
            if not filename.endswith(".ipynb") or b"torch" not in data:
                return data
            return self.read(filename).data
        if isinstance(known, Unreadable):
            raise known
        return known.data

    def read(self, filename: str, wanted: Wanted | None = None) -> SourceText:
        """The parsed text of `filename`, the same object at every call. Raises `Unreadable`.

        With `wanted` it may be parsed without the bodies of the definitions that are not.
        """
        known = self._known.get(filename)
        if known is None:
            try:
                known = _taken(filename, reading.read_data(filename), wanted)
            except Unreadable as unreadable:
                known = unreadable
            self._known[filename] = known
        if isinstance(known, Unreadable):
            raise known
        size = len(known.data)
        self._size += size - self._parsed.pop(filename, 0)
        self._parsed[filename] = size
        return known

    def get(self, filename: str) -> SourceText | None:
        """The parsed text of `filename`, or None when it cannot be read."""
        try:
            return self.read(filename)
        except Unreadable:
            return None

    def know(self, filename: str) -> None:
        """Read a file that is known to parse as it stands; it is parsed when somebody asks for its tree."""
        if filename not in self._known:
            with suppress(Unreadable):
                self._known[filename] = reading.from_data(filename, reading.read_data(filename))

    def exists(self, filename: str) -> bool:
        """Whether there is such a file, on the disk or among those that were given."""
        return filename in self._known or (there_is(filename) and os.path.isfile(filename))

    def names_in(self, folder: str) -> frozenset[str]:
        """The names of the files and folders in a folder, on the disk or among those that were given."""
        inside = os.path.join(folder, "")
        names = {name[len(inside) :].partition(os.sep)[0] for name in self._given if name.startswith(inside)}
        sys.audit("gradtrail.listed", folder)
        with suppress(OSError, ValueError):
            names.update(os.listdir(folder))
        return frozenset(names)

    def let_go_of_trees(self, kept: int) -> None:
        """Keep the trees that were asked for last, up to `kept` bytes of source; the texts stay.

        A tree takes some fifty times the memory of its text. It is parsed again when asked for again.
        """
        while self._size > kept and self._parsed:
            filename = next(iter(self._parsed))
            self._size -= self._parsed.pop(filename)
            source = self._known[filename]
            if isinstance(source, SourceText):
                source.let_go_of_tree()


def _taken(filename: str, data: bytes, wanted: Wanted | None = None) -> SourceText | Unreadable:
    """The text of `data`, as a pasted snippet when it does not parse, or why it cannot be read."""
    try:
        if wanted is not None:
            source = reading.from_data(filename, data)
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                source.parse_outline(wanted)
                return source
        return reading.parsed(reading.from_data(filename, data))
    except Unreadable:
        from gradtrail.source import snippet
    try:
        return snippet.read(filename, data)
    except Unreadable as unreadable:
        return unreadable


def there_is(path: str) -> bool:
    """Whether something stands at a path. Who asks is heard by the hooks of the interpreter."""
    sys.audit("gradtrail.exists", path)
    return os.path.exists(path)


class Skipped:
    """A path that cannot be walked or read, and why."""

    __slots__ = ("filename", "reason")

    def __init__(self, filename: str, reason: Text) -> None:
        self.filename = filename
        self.reason = reason


def is_usually_left_out(path: str, is_folder: bool) -> bool:
    """Hidden folders, copies of other people's code, and products."""
    name = os.path.basename(path)
    return is_folder and (name.startswith(".") or name in SKIPPED_FOLDERS)


def discover(paths: Iterable[str], leaves_out: LeavesOut = is_usually_left_out) -> Iterator[str | Skipped]:
    """The absolute names of the files that `paths` stand for, each once, folders in sorted order.

    A file that is named is always taken, whatever its ending and whatever a `.gitignore` says; so is a
    folder that is named. What cannot be walked comes as `Skipped`.
    """
    seen: set[str] = set()
    for path in paths:
        for found in _stand_for(path, leaves_out):
            if isinstance(found, Skipped):
                yield found
            elif found not in seen:
                seen.add(found)
                yield found


def _stand_for(path: str, leaves_out: LeavesOut) -> Iterable[str | Skipped]:
    if not path:
        # `os.path.abspath` takes it for the folder we are in; it is a variable of the shell that was not set.
        return (Skipped(path, text("the name of the path is empty")),)
    absolute = os.path.abspath(path)
    if os.path.isdir(absolute):
        from gradtrail.source.ignored import Ignored

        return walk(absolute, Ignored.above(absolute), leaves_out)
    if _is_missing(absolute):
        return (Skipped(absolute, text("no such file or folder")),)
    return (absolute,)


def _is_missing(path: str) -> bool:
    """Whether there is nothing of that name; in a folder that may not be searched, that is not known."""
    sys.audit("gradtrail.exists", path)
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return True
    except OSError:
        return False
    return False


def walk(
    folder: str, ignored: Ignored, leaves_out: LeavesOut = is_usually_left_out
) -> Iterator[str | Skipped]:
    """The Python files and notebooks under `folder` that `ignored` and the `.gitignore` files below leave, in sorted order.

    A link to a folder is not followed (as in git), so that there are no circles; what is neither a file
    nor a link to one, such as a pipe, is not read.
    """
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield Skipped(folder, text("cannot be listed: {reason}", reason=error.strerror or str(error)))
        return
    if any(entry.name == ".gitignore" for entry in entries):
        ignored = ignored.inside(folder)
    for entry in entries:
        if _is_folder(entry):
            if not (
                leaves_out(entry.path, True) or _is_environment(entry) or ignored.leaves_out(entry.path, True)
            ):
                yield from walk(entry.path, ignored, leaves_out)
        elif (
            entry.name.endswith(SUFFIXES)
            and not leaves_out(entry.path, False)
            and not ignored.leaves_out(entry.path, False)
        ):
            if _is_file(entry):
                yield entry.path
            elif entry.is_symlink():
                yield Skipped(entry.path, text("is a link that leads to no file"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    # A link that leads in a circle raises here.
    try:
        return entry.is_file()
    except OSError:
        return False


def _is_environment(entry: os.DirEntry[str]) -> bool:
    """Whether a folder is a virtual environment, whatever its name."""
    return there_is(os.path.join(entry.path, "pyvenv.cfg"))
