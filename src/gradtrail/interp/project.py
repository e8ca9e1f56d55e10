"""The files of a project, and how their imports find each other. Nothing is imported or executed."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from gradtrail.source.files import SourceFiles, there_is
from gradtrail.source.outline import Wanted, parse_body
from gradtrail.source.reading import Unreadable
from gradtrail.source.words import Words, any_within

if TYPE_CHECKING:
    from gradtrail.interp.machine import Machine
    from gradtrail.source.text import SourceText

_ROOT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
_MOST_FOLDERS_UP = 6
_MOST_BESIDE = 200
"""Files of a folder in which callers are looked for."""

_ALWAYS_LIBRARIES = frozenset(
    ("torch", "torchvision", "torchaudio", "numpy", "scipy", "pandas", "matplotlib", "sklearn")
)


class Given(NamedTuple):
    """What is taken for given of a program: dotted names of classes that count as modules and as optimizers,
    and what a device is that the program chooses by what is available (None: not known)."""

    modules: frozenset[str] = frozenset()
    optimizers: frozenset[str] = frozenset()
    device: str | None = None


NOTHING_GIVEN = Given()


class Space:
    """One module of the project: its file, tree and global names. heap: `names`.

    `main` spaces are read as the program that is run; others as what an import brings in.
    """

    __slots__ = (
        "_written_later",
        "_yields",
        "bodies",
        "classes",
        "filename",
        "functions",
        "main",
        "name",
        "names",
        "put_off",
        "source",
        "stars",
        "state",
        "symbols",
        "tree",
    )

    def __init__(self, filename: str, source: SourceText, tree: ast.Module, name: str, main: bool) -> None:
        self.filename = filename
        self.source = source
        self.tree = tree
        self.bodies = source.bodies
        self.name = name
        self.main = main
        self.names: dict[str, Any] = {}
        self.state = "new"  # "new" | "running" | "done"
        self.functions: list[Any] = []
        self.classes: list[Any] = []
        self.symbols: dict[str, Any] = {}
        self.put_off: list[ast.FunctionDef] = []  # decorated functions that nobody has asked for yet
        self._yields: list[int] | None = None
        self._written_later: frozenset[str] | None = None
        self.stars: list[str] = []  # files from which everything is imported, the last one first in rank

    def open(self, node: Any) -> bool:
        """Parse the body of a definition if that was put off; whether it could be parsed."""
        body = self.bodies.get(node.lineno)
        if body is not None and type(node) is not ast.Lambda:
            try:
                node.body = parse_body(self.source.code, body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return False
            del self.bodies[node.lineno]
            node.end_lineno = node.body[-1].end_lineno
            node.end_col_offset = node.body[-1].end_col_offset
        return True

    @property
    def written_later(self) -> frozenset[str]:
        """The attributes that the file assigns to outside of constructors."""
        if self._written_later is None:
            from gradtrail.interp.examples import written_later

            self._written_later = written_later(self.source.lines, self.tree, self.last_row)
        return self._written_later

    def last_row(self, node: Any) -> int:
        """The last row of a definition, whether its body has been parsed or not."""
        body = self.bodies.get(node.lineno)
        last: int = node.end_lineno if body is None else body.last_row
        return last

    def yields_in(self, node: Any) -> bool:
        """Whether the word `yield` stands in the rows of a definition: cheaper to ask than its tree."""
        if self._yields is None:
            rows = enumerate(self.source.lines, 1) if "yield" in self.source.code else ()
            self._yields = [row for row, line in rows if "yield" in line]
        return any_within(self._yields, node.lineno, node.end_lineno)


class Project:
    """Files by name, and the spaces that imports have brought in."""

    def __init__(self, files: SourceFiles, words: Words | None = None) -> None:
        """`words` make a function worth walking without a caller; None: all of them are."""
        self.files = files
        self.words = words
        self.imported: dict[str, Space] = {}
        self.machine: Machine | None = None
        self._found: dict[tuple[str, str], str | None] = {}
        self._imports: dict[str, set[str]] = {}
        """The files that each file imports, as far as anyone has asked."""
        self._beside: dict[str, frozenset[str]] = {}
        """The files in which callers of a file's functions were looked for."""
        self._held: dict[str, frozenset[str]] = {}
        self._switching: dict[str, bool] = {}
        self._without_graph: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._rows: tuple[str, list[int]] = ("", [])
        self._roots: dict[str, tuple[str, ...]] = {}

    def entry(self, filename: str) -> Space:
        """The file as the program that is run. Raises `Unreadable`."""
        return self._space(filename, "__main__", True)

    def module(self, filename: str) -> Space | None:
        """The file as an import brings it in, one for all who import it; None when it cannot be read."""
        space = self.imported.get(filename)
        if space is None:
            try:
                space = self._space(filename, dotted_name(filename), False)
            except (Unreadable, RecursionError):
                return None
            self.imported[filename] = space
        return space

    def rows_of_words(self, filename: str) -> list[int]:
        """The rows of a file in which a word stands. Raises `Unreadable`."""
        if self._rows[0] != filename:
            assert self.words is not None
            self._rows = (filename, self.words.rows_in(self.files.data(filename)))
        return self._rows[1]

    def worth_walking(self, space: Space) -> Callable[[Any], bool]:
        """Whether a definition in a file is to be walked though nobody calls it: a word stands in its rows."""
        if self.words is None:
            return lambda node: True
        rows = self.rows_of_words(space.filename)

        return lambda node: any_within(rows, node.lineno, space.last_row(node))

    def data(self, filename: str) -> bytes:
        """The bytes of a file; empty when it cannot be read."""
        try:
            return self.files.data(filename)
        except Unreadable:
            return b""

    def called_without_graph(self, filename: str) -> frozenset[str]:
        """The names that a file, or one beside or above it, calls where no graph is recorded."""
        from gradtrail.interp.callers import MARKS, called_without_graph

        folder = _folder(filename)
        if folder not in self._without_graph:
            texts, beside = [], []
            for one in (folder, os.path.dirname(folder)):
                names = sorted(name for name in self.files.names_in(one) if name.endswith(".py"))
                beside += [os.path.join(one, name) for name in names[:_MOST_BESIDE]]
            for data in map(self.data, beside):
                if any(mark in data for mark in MARKS):
                    texts.append(data.decode("utf-8", "replace"))
            self._without_graph[folder] = called_without_graph(texts), frozenset(beside)
        in_folder, read = self._without_graph[folder]
        self._beside[filename] = read
        own = self.data(filename).decode("utf-8", "replace")  # calls of calls may lead through it
        return called_without_graph([own], in_folder)

    def switches_modes(self, filename: str) -> bool:
        """Whether a file may switch a mode of torch when it is imported."""
        known = self._switching.get(filename)
        if known is None:
            known = self._switching[filename] = b"torch.set_" in self.data(filename)
        return known

    def read(self, filename: str, main: bool) -> SourceText:
        """The text of a file, parsed as far as it will be looked at. Raises `Unreadable`."""
        return self.files.read(filename, self._wanted(filename, main))

    def _wanted(self, filename: str, main: bool) -> Wanted | None:
        """Which definitions will be walked for sure; None when all of them will be."""
        if not main:
            return lambda first, last: False
        if self.words is None:
            return None
        rows = self.rows_of_words(filename)
        return lambda first, last: any_within(rows, first, last)

    def _space(self, filename: str, name: str, main: bool) -> Space:
        source = self.read(filename, main)
        wanted = self._wanted(filename, main)
        tree = source.parse() if wanted is None else source.parse_outline(wanted)
        return Space(filename, source, tree, name, main)

    def find(self, dotted: str, importer: str, level: int = 0) -> str | None:
        """The project file that `import dotted` (with `level` leading dots) in `importer` means, or None."""
        key = (_folder(importer) + "\0" * level, dotted)
        if key not in self._found:
            self._found[key] = self._look_for(dotted, importer, level)
        found = self._found[key]
        if found is not None:
            self._imports.setdefault(importer, set()).add(found)
        return found

    def behind(self, filename: str) -> set[str]:
        """The files that what is said of a file depends on: itself, what it imports, and where it may be called."""
        depends = {filename, *self._beside.get(filename, ())}
        waiting = [filename]
        while waiting:
            for found in self._imports.get(waiting.pop(), ()):
                if found not in depends:
                    depends.add(found)
                    waiting.append(found)
        return depends

    def shadows_library(self, dotted: str, importer: str) -> bool:
        """Whether a script's own folder holds a file of a library's name, which then is what it imports."""
        head = dotted.partition(".")[0]
        if head not in _ALWAYS_LIBRARIES:
            return False
        folder = _folder(importer)
        return self._file(folder, head) is not None and not self.files.exists(
            os.path.join(folder, "__init__.py")
        )

    def _look_for(self, dotted: str, importer: str, level: int) -> str | None:
        folder = os.path.dirname(importer)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._file(folder, dotted)
        if dotted.partition(".")[0] in _ALWAYS_LIBRARIES:
            return None
        for root in self._search_path(folder):
            found = self._file(root, dotted)
            if found is not None:
                return found
        return None

    def _file(self, folder: str, dotted: str) -> str | None:
        head = dotted.partition(".")[0]
        if head and not self._may_hold(folder, head):
            return None
        base = os.path.join(folder, *dotted.split(".")) if dotted else folder
        for candidate in (base + ".py", os.path.join(base, "__init__.py")):
            if self.files.exists(candidate):
                return candidate
        return None

    def _may_hold(self, folder: str, name: str) -> bool:
        """Whether a module or package of a name can be in a folder: most are libraries, told by one look."""
        held = self._held.get(folder)
        if held is None:
            held = self._held[folder] = self.files.names_in(folder)
        return name in held or name + ".py" in held

    def _search_path(self, folder: str) -> tuple[str, ...]:
        """The importing file's folder, then its parents up to what looks like the project's root."""
        if folder not in self._roots:
            path = [folder]
            here = folder
            for _ in range(_MOST_FOLDERS_UP):
                if any(there_is(os.path.join(here, mark)) for mark in _ROOT_MARKS):
                    break
                above = os.path.dirname(here)
                if above == here or not there_is(os.path.join(here, "__init__.py")):
                    break
                here = above
                path.append(here)
            path.append(os.path.join(here, "src"))
            self._roots[folder] = tuple(path)
        return self._roots[folder]


def _folder(filename: str) -> str:
    """The folder of a file with an absolute name, which is asked for at every import."""
    return filename.rpartition(os.sep)[0] or os.path.dirname(filename)


def dotted_name(filename: str) -> str:
    """A module name for a file: enough of its path to be told apart."""
    parts = [os.path.splitext(os.path.basename(filename))[0]]
    folder = os.path.dirname(filename)
    while there_is(os.path.join(folder, "__init__.py")) and len(parts) < 12:
        parts.append(os.path.basename(folder))
        folder = os.path.dirname(folder)
    if parts[0] == "__init__":
        parts = parts[1:] or parts
    return ".".join(reversed(parts))
