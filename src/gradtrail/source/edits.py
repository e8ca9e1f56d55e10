"""A small vocabulary of edits, for rules that know places and no syntax tree.

Questions (`receiver`, `argument`, `binding`, ...) answer with a place, or None; edits take places. Whatever is
asked about None, or cannot be done where it is asked, gives no edits: `()`. Everything that is not named in an edit
stays as it is, to the character.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence

from gradtrail.source.layout import Layout
from gradtrail.source.place import Edit, Edits, Place
from gradtrail.source.text import SourceText

_TIGHT = (
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Call,
    ast.List,
    ast.ListComp,
    ast.Dict,
    ast.Set,
    ast.DictComp,
    ast.SetComp,
)
"""Expressions that `.name` may be written behind as they are."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Compound = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
)


_ROWS = ("with", "for", "body")
_FREE = ("item", "made", "result", "the_item", "item_to_yield")
"""Names for a value that is put aside."""


class Editor:
    """Builds edits in the files that `lookup` knows by name."""

    def __init__(self, lookup: Callable[[str], SourceText | None]) -> None:
        self._lookup = lookup
        self._layouts: dict[str, Layout | None] = {}

    def _layout(self, place: Place | None) -> Layout | None:
        """The file of `place`; None for one that is not known, or that was repaired to be read."""
        if place is None or place.cell is not None:
            return None
        name = place.filename
        if name not in self._layouts:
            self._layouts[name] = self._laid_out(name)
        return self._layouts[name]

    def _laid_out(self, name: str) -> Layout | None:
        source = self._lookup(name)
        if source is not None and source.cells is not None and source.is_repaired:
            source = SourceText(name, b"", source.code)  # row by row the notebook without what IPython adds
        if source is None or source.is_repaired:
            return None
        try:
            return Layout(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    def _at(self, place: Place | None) -> tuple[Layout, ast.expr] | None:
        layout = self._layout(place)
        if layout is None or place is None:
            return None
        node = layout.expression(place)
        return None if node is None else (layout, node)

    def _call(self, place: Place | None) -> tuple[Layout, ast.Call] | None:
        found = self._at(place)
        return None if found is None or not isinstance(found[1], ast.Call) else (found[0], found[1])

    def _around(self, place: Place | None) -> tuple[Layout, ast.stmt] | None:
        layout = self._layout(place)
        if layout is None or place is None:
            return None
        node = layout.statement(place)
        return None if node is None else (layout, node)

    # Questions

    def code(self, place: Place | None) -> str:
        """The source text at `place`."""
        layout = self._layout(place)
        return "" if layout is None or place is None else layout.source.segment(place)

    def receiver(self, place: Place | None, method: str = "") -> Place | None:
        """`x` of the call `x.method(...)`, or of the attribute `x.name`, at `place`."""
        found = self._at(place)
        if found is None:
            return None
        layout, node = found
        node = node.func if isinstance(node, ast.Call) else node
        if not isinstance(node, ast.Attribute) or (method and node.attr != method):
            return None
        return layout.place(node.value)

    def callee(self, place: Place | None) -> str:
        """How the function is written that is called at `place`: `nn.Linear`."""
        found = self._call(place)
        if found is None:
            return ""
        return self.code(found[0].place(found[1].func))

    def called(self, place: Place | None) -> Place | None:
        """What is called at `place`: `f` of `f(x)`."""
        found = self._call(place)
        return None if found is None else found[0].place(found[1].func)

    def argument(self, place: Place | None, wanted: int | str) -> Place | None:
        """An argument of the call at `place`, by position or by name."""
        found = self._call(place)
        if found is None:
            return None
        layout, node = found
        if isinstance(wanted, str):
            named = [one.value for one in node.keywords if one.arg == wanted]
            return layout.place(named[0]) if named else None
        before = node.args[: wanted + 1]
        if len(before) <= wanted or any(isinstance(one, ast.Starred) for one in before):
            return None
        return layout.place(before[wanted])

    def arguments(self, place: Place | None) -> tuple[Place, ...]:
        """The values of all arguments of the call at `place`."""
        found = self._call(place)
        if found is None:
            return ()
        layout, node = found
        given = [*node.args, *(one.value for one in node.keywords)]
        return tuple(layout.place(one.value if isinstance(one, ast.Starred) else one) for one in given)

    def statement(self, place: Place | None) -> Place | None:
        """The innermost statement around `place`."""
        found = self._around(place)
        return None if found is None else found[0].place(found[1])

    def value(self, place: Place | None) -> Place | None:
        """The value that the statement around `place` assigns or returns."""
        found = self._around(place)
        value = None if found is None else getattr(found[1], "value", None)
        return found[0].place(value) if found is not None and isinstance(value, ast.expr) else None

    def target(self, place: Place | None) -> Place | None:
        """The one target of the assignment around `place`; None when there are several."""
        found = self._around(place)
        target = None if found is None else _target(found[1])
        return None if found is None or target is None else found[0].place(target)

    def targets(self, place: Place | None) -> tuple[str, ...]:
        """How all targets of the assignment around `place` are written, those in tuples too."""
        found = self._around(place)
        if found is None or not isinstance(found[1], (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            return ()
        node = found[1]
        given = node.targets if isinstance(node, ast.Assign) else [node.target]
        flat = [
            item for one in given for item in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])
        ]
        return tuple(self.code(found[0].place(one)) for one in flat)

    def written(self, place: Place | None) -> Place | None:
        """What the statement around `place` writes in place: the target of `x += y`, or `x` of `x.add_(y)`."""
        found = self._around(place)
        if found is None:
            return None
        layout, node = found
        if isinstance(node, ast.AugAssign):
            return layout.place(node.target)
        target = _target(node)
        if isinstance(target, ast.Subscript):
            return layout.place(target)
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            return layout.place(call.func.value)
        return None

    def reads(self, place: Place | None, code: str) -> bool:
        """Whether the expression at `place`, or else the statement around it, reads `code`."""
        found, wanted = self._around(place), _read(code)
        if found is None or wanted is None:
            return False
        root = (found[0].expression(place) if place is not None else None) or found[1]
        return any(
            isinstance(one, ast.expr) and ast.dump(one) == wanted and not _is_stored(one)
            for one in _own_nodes(root)
        )

    def fills(self, place: Place | None, code: str) -> bool:
        """Whether the file has a row that puts something with `code` in it into what is assigned around `place`."""
        layout, name = self._layout(place), self.code(self.target(place))
        if layout is None or not name:
            return False
        rows = (line.strip() for line in layout.source.lines)
        return any(row.startswith((name + ".", name + "[", name + " +=")) and code in row for row in rows)

    def is_bound(self, place: Place | None, name: str) -> bool:
        """Whether `name`, or what it begins with, has a value at `place`: an argument, or bound above in its function."""
        found = self._around(place)
        if found is None:
            return False
        layout, statement = found
        root = name.partition(".")[0].partition("[")[0]
        function = next((one for one in layout.above(statement) if isinstance(one, _Function)), None)
        if function is not None and any(
            isinstance(one, ast.arg) and one.arg == root for one in ast.walk(function.args)
        ):
            return True
        return any(
            isinstance(one, ast.Name) and one.id == root and _is_stored(one) and one.lineno < statement.lineno
            for one in ast.walk(function or layout.tree)
        )

    def gradients_read(self, place: Place | None) -> tuple[str, ...]:
        """The names whose `.grad` is read in the function or module around `place`."""
        layout = self._layout(place)
        if layout is None:
            return ()
        around = self._around(self.function(place))
        root: ast.AST = layout.tree if around is None else around[1]
        read = [
            one.value.id
            for one in ast.walk(root)
            if isinstance(one, ast.Attribute) and one.attr == "grad" and isinstance(one.value, ast.Name)
        ]
        return tuple(dict.fromkeys(name for name in read if name not in ("torch", "autograd")))

    def name_of_function(self, place: Place | None) -> str:
        """The name of the function around `place`."""
        found = self._around(self.function(place))
        return found[1].name if found is not None and isinstance(found[1], _Function) else ""

    def may_be_assigned(self, code: str) -> bool:
        """Whether `code` is a name, an attribute or an item, which a program may assign to."""
        try:
            node = ast.parse(code, mode="eval").body
        except (SyntaxError, ValueError):
            return False
        return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))

    def is_body(self, place: Place | None) -> bool:
        """Whether the expression at `place` is all that the statement around it assigns, returns or does."""
        return place is not None and self.value(place) == place

    def inside(self, place: Place | None, code: str) -> Place | None:
        """The first expression in the statement around `place`, or else in it, that is written `code`."""
        found = self._around(place)
        wanted = _read(code)
        if found is None or wanted is None:
            return None
        layout, statement = found
        node = layout.expression(place) if place is not None else None
        for root in (node, statement):
            for one in _own_nodes(root) if root is not None else ():
                if isinstance(one, ast.expr) and ast.dump(one) == wanted and not _is_stored(one):
                    at = layout.place(one)
                    if layout.expression(at) is not None:
                        return at
        return None

    def binding(self, place: Place | None, name: str) -> Place | None:
        """The value that `name` was last given before `place` in the same function or module, where it stands alone.

        For `self.name` it is the one assignment to it in the class.
        """
        found = self._around(place)
        if found is None:
            return None
        layout, statement = found
        kinds: tuple[type, ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
        own = name.startswith("self.")
        if own:
            kinds = (ast.ClassDef,)
        scope = next((one for one in layout.above(statement) if isinstance(one, kinds)), None)
        wanted = _read(name)
        if scope is None or wanted is None:
            return None
        bound: list[ast.expr] = []
        for one in ast.walk(scope):
            target = _target(one)
            value = getattr(one, "value", None)
            if target is None or value is None or _as_read(target) != wanted:
                continue
            inner = next(above for above in layout.above(one) if isinstance(above, kinds))
            if inner is scope and (own or one.lineno < statement.lineno):  # type: ignore[attr-defined]
                bound.append(value)
        if not bound or (own and len(bound) > 1):
            return None
        return layout.place(max(bound, key=lambda value: value.lineno))

    def function(self, place: Place | None) -> Place | None:
        """The function around `place`."""
        found = self._around(place)
        if found is None:
            return None
        layout, statement = found
        for one in (statement, *layout.above(statement)):
            if isinstance(one, _Function):
                return layout.place(one)
        return None

    def same_block(self, one: Place | None, other: Place | None) -> bool:
        """Whether two places stand in statements that follow each other in one block."""
        first, second = self._around(one), self._around(other)
        if first is None or second is None or first[0] is not second[0]:
            return False
        return any(item is second[1] for item in first[0].block(first[1]))

    def follows(self, one: Place | None, other: Place | None) -> bool:
        """Whether `other` stands below `one` in the same file."""
        return (
            one is not None and other is not None and one[:2] < other[:2] and one.filename == other.filename
        )

    def text_between(self, one: Place | None, other: Place | None) -> str:
        """What stands from the end of `one` to the start of `other`."""
        layout = self._layout(one)
        if layout is None or one is None or other is None or one.filename != other.filename:
            return ""
        return layout.text[layout.span(one)[1] : layout.offset(other)]

    def parameters_of(self, place: Place | None, name: str) -> tuple[str, ...]:
        """The arguments by position of the method `name` in the class around `place`."""
        found = self._around(place)
        if found is None:
            return ()
        classes = [one for one in found[0].above(found[1]) if isinstance(one, ast.ClassDef)]
        for one in classes[0].body if classes else ():
            if isinstance(one, _Function) and one.name == name:
                return tuple(each.arg for each in (*one.args.posonlyargs, *one.args.args))
        return ()

    def is_under(self, place: Place | None, names: Sequence[str]) -> bool:
        """Whether a `with` or a decorator that ends in one of `names` is around `place`."""
        found = self._around(place)
        if found is None:
            return False
        layout, statement = found
        for one in (statement, *layout.above(statement)):
            heads = [item.context_expr for item in one.items] if isinstance(one, ast.With) else []
            heads += getattr(one, "decorator_list", [])
            for head in heads:
                head = head.func if isinstance(head, ast.Call) else head
                if self.code(layout.place(head)).rpartition(".")[2] in names:
                    return True
        return False

    def says(self, place: Place | None, *words: str) -> bool:
        """Whether one of `words` stands in the function around `place`, or in the module where there is none."""
        layout = self._layout(place)
        if layout is None:
            return False
        around = self.function(place)
        code = layout.text if around is None else self.code(around)
        return any(word in code for word in words)

    def file_says(self, place: Place | None, words: str) -> bool:
        """Whether `words` stand anywhere in the file of `place`."""
        layout = self._layout(place)
        return layout is not None and words in layout.text

    def operand(self, place: Place | None, right: bool = False) -> Place | None:
        """The left operand of the operation at `place`, or the right one."""
        found = self._at(place)
        if found is None or not isinstance(found[1], ast.BinOp):
            return None
        return found[0].place(found[1].right if right else found[1].left)

    def caller(self, place: Place | None) -> Place | None:
        """The call of what the expression at `place` gives: `nn.Dropout(p)(x)` for `nn.Dropout(p)`."""
        found = self._at(place)
        parent = None if found is None else found[0].parent(found[1])
        if found is None or not isinstance(parent, ast.Call) or parent.func is not found[1]:
            return None
        return found[0].place(parent)

    def beside(self, place: Place | None) -> tuple[Place, ...]:
        """What stands with `place` in one list or tuple, or is yielded in the same function; itself included."""
        found = self._at(place)
        parent = None if found is None else found[0].parent(found[1])
        if found is None:
            return ()
        layout = found[0]
        if isinstance(parent, (ast.List, ast.Tuple)):
            return tuple(layout.place(one) for one in parent.elts)
        function = next((one for one in layout.above(found[1]) if isinstance(one, _Function)), None)
        if isinstance(parent, ast.Yield) and function is not None:
            return tuple(
                layout.place(one.value)
                for one in ast.walk(function)
                if isinstance(one, ast.Yield) and one.value is not None
            )
        return ()

    def elements(self, place: Place | None) -> tuple[Place, ...]:
        """The items of the list or tuple at `place`; of anything else, the place alone."""
        found = self._at(place)
        if found is None:
            return ()
        items = found[1].elts if isinstance(found[1], (ast.List, ast.Tuple)) else [found[1]]
        return tuple(found[0].place(one) for one in items)

    def parameters(self, place: Place | None) -> tuple[str, ...]:
        """The names of the arguments that the function around `place` takes by position."""
        found = self._around(self.function(place))
        if found is None or not isinstance(found[1], _Function):
            return ()
        return tuple(one.arg for one in (*found[1].args.posonlyargs, *found[1].args.args))

    def is_yielded(self, place: Place | None) -> bool:
        """Whether the expression at `place` is what a `yield` gives."""
        found = self._at(place)
        return found is not None and isinstance(found[0].parent(found[1]), ast.Yield)

    def names_in(self, place: Place | None) -> frozenset[str]:
        """The names that the code at `place` reads."""
        layout = self._layout(place)
        node = (
            None if layout is None or place is None else layout.expression(place) or layout.statement(place)
        )
        if node is None:
            return frozenset()
        return frozenset(
            one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
        )

    def loop(self, place: Place | None) -> Place | None:
        """The innermost loop around `place`, in its function."""
        found = self._around(place)
        if found is None:
            return None
        for one in (found[1], *found[0].above(found[1])):
            if isinstance(one, (ast.For, ast.AsyncFor, ast.While)):
                return found[0].place(one)
            if isinstance(one, _Function):
                return None
        return None

    def walked(self, place: Place | None) -> Place | None:
        """What the loop at `place` goes over."""
        found = self._around(place)
        if found is None or not isinstance(found[1], (ast.For, ast.AsyncFor)):
            return None
        return found[0].place(found[1].iter)

    def body(self, place: Place | None) -> tuple[Place, ...]:
        """The statements that the one around `place` holds: those of its first block."""
        found = self._around(place)
        held = getattr(found[1], "body", ()) if found is not None else ()
        return tuple(found[0].place(one) for one in held) if found is not None else ()

    def returned(self, place: Place | None) -> str:
        """What the last statement of the function around `place` returns, as it is written."""
        found = self._around(self.function(place))
        last = found[1].body[-1] if found is not None and isinstance(found[1], _Function) else None
        if found is None or not isinstance(last, ast.Return) or last.value is None:
            return ""
        return self.code(found[0].place(last.value))

    def is_alone_in(self, loop: Place | None, place: Place | None) -> bool:
        """Whether the statement around `place` is all that the loop does."""
        body = self.body(loop)
        return len(body) == 1 and self.statement(place) == body[0]

    def comes_once(self, place: Place | None) -> bool:
        """Whether the statement around `place` runs once in its function: in no loop, or at one round of it alone."""
        found = self._around(place)
        if found is None:
            return False
        for one in found[0].above(found[1]):
            if isinstance(one, ast.If) and any(isinstance(part, ast.Eq) for part in ast.walk(one.test)):
                return not any(isinstance(part, ast.Mod) for part in ast.walk(one.test))
            if isinstance(one, (ast.For, ast.AsyncFor, ast.While)):
                return False
            if isinstance(one, _Function):
                break
        return True

    def times_named(self, place: Place | None, name: str) -> tuple[int, int]:
        """How often the function or module around `place` binds a name, and how often it reads it."""
        layout, around = self._layout(place), self._around(self.function(place))
        if layout is None:
            return 0, 0
        root: ast.AST = layout.tree if around is None else around[1]
        named = [_is_stored(one) for one in ast.walk(root) if isinstance(one, ast.Name) and one.id == name]
        return sum(named), len(named) - sum(named)

    def is_known(self, place: Place | None, code: str) -> bool:
        """Whether all names of the expression `code` have a value at `place`: in its function, or in the module."""
        layout, wanted = self._layout(place), _names(code)
        if layout is None or wanted is None:
            return False
        of_module = {
            one.id
            for one in ast.walk(layout.tree)
            if isinstance(one, ast.Name)
            and _is_stored(one)
            and not any(isinstance(above, _Definition) for above in layout.above(one))
        }
        return all(
            name in of_module or name in dir(builtins) or self.is_bound(place, name) for name in wanted
        )

    def names_of(self, code: str) -> frozenset[str]:
        """The names in the expression `code`."""
        return _names(code) or frozenset()

    def bound_in(self, place: Place | None) -> frozenset[str]:
        """The names that the statement at `place`, or what it holds, binds."""
        found = self._around(place)
        if found is None:
            return frozenset()
        return frozenset(
            one.id
            for one in ast.walk(found[1])
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
        )

    def first_in(self, place: Place | None) -> Place | None:
        """The first statement of the body of the loop at `place`."""
        found = self._around(place)
        body = getattr(found[1], "body", None) if found is not None else None
        return found[0].place(body[0]) if found is not None and body else None

    def rest_of_block(self, place: Place | None) -> tuple[Place, Place] | None:
        """The first and the last of the statements that follow the one around `place` in its block."""
        found = self._around(place)
        if found is None:
            return None
        layout, statement = found
        block = layout.block(statement)
        number = next(number for number, one in enumerate(block) if one is statement)
        if number + 1 == len(block):
            return None
        return layout.place(block[number + 1]), layout.place(block[-1])

    def is_top_of_function(self, place: Place | None) -> bool:
        """Whether the statement around `place` stands in the body of its function, in no block inside."""
        found = self._around(place)
        return found is not None and isinstance(found[0].parent(found[1]), _Function)

    def saying(self, place: Place | None, code: str) -> Place | None:
        """The statement that is written `code`, in the function around `place`."""
        found = self._around(self.function(place))
        wanted = _read(code)
        if found is None:
            return None
        for one in ast.walk(found[1]):
            if isinstance(one, ast.Expr) and ast.dump(one.value) == wanted:
                return found[0].place(one)
        return None

    # Edits of expressions

    def replace(self, place: Place | None, content: str) -> Edits:
        """`content` in the place of what stands there."""
        if place is None or self._layout(place) is None or place.end_row is None:
            return ()
        return (Edit(place, content),)

    def after(self, place: Place | None, content: str) -> Edits:
        """`content`, such as `.detach()`, behind the expression, which gets parentheses where it needs them."""
        found = self._at(place)
        if found is None:
            return ()
        layout, node = found
        start, end = layout.span(layout.place(node))
        if isinstance(node, _TIGHT) and not isinstance(layout.parent(node), ast.Await):
            return (Edit(layout.between(end, end), content),)
        closing = self._closing(layout, node)
        if closing is not None:
            return (Edit(layout.between(closing, closing), content),)
        return (Edit(layout.between(start, start), "("), Edit(layout.between(end, end), ")" + content))

    def _closing(self, layout: Layout, node: ast.expr) -> int | None:
        """The offset behind the parentheses that stand around `node`, if they are its own."""
        start, end = layout.span(layout.place(node))
        if isinstance(node, (ast.Tuple, ast.GeneratorExp)) and layout.text[start] == "(":
            return end
        before, behind = start, end
        while before and layout.text[before - 1] in " \t":
            before -= 1
        while behind < len(layout.text) and layout.text[behind] in " \t":
            behind += 1
        if layout.text[before - 1 : before] != "(" or layout.text[behind : behind + 1] != ")":
            return None
        parent = layout.parent(node)
        if isinstance(parent, (ast.keyword, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        if isinstance(parent, ast.Call):
            function = layout.span(layout.place(parent.func))[1]
            if node is not parent.func and not layout.text[function : before - 1].strip():
                return None
        return behind + 1

    def append(self, place: Place | None, content: str) -> Edits:
        """`content`, such as `, None`, behind the last item of the tuple at `place`, or behind what stands there alone."""
        found = self._at(place)
        if found is None:
            return ()
        layout, node = found
        if isinstance(node, ast.Tuple) and node.elts:
            return self.append(layout.place(node.elts[-1]), content)
        end = layout.span(layout.place(node))[1]
        closing = self._closing(layout, node)
        end = closing if closing is not None else end
        return (Edit(layout.between(end, end), content),)

    def around(self, place: Place | None, before: str, behind: str = ")") -> Edits:
        """`before` and `behind` on the two sides of the expression: `list(` and `)`."""
        found = self._at(place)
        if found is None:
            return ()
        layout, node = found
        start, end = layout.span(layout.place(node))
        if isinstance(node, ast.Tuple) and layout.text[start] != "(":
            before, behind = before + "(", ")" + behind
        return (Edit(layout.between(start, start), before), Edit(layout.between(end, end), behind))

    def add_keyword(self, place: Place | None, name: str, value: str) -> Edits:
        """`name=value` among the arguments of the call; in the place of the value that it has there."""
        found = self._call(place)
        if found is None:
            return ()
        layout, node = found
        for one in node.keywords:
            if one.arg == name:
                return (Edit(layout.place(one.value), value),)
        if any(one.arg is None for one in node.keywords):
            return ()
        _, end = layout.span(layout.place(node))
        inner: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if not inner:
            return (Edit(layout.between(end - 1, end - 1), f"{name}={value}"),)
        if len(inner) == 1 and isinstance(inner[0], ast.GeneratorExp):
            return ()
        last = max(layout.span(layout.place(one))[1] for one in inner)
        rest = layout.text[last : end - 1]
        while rest.lstrip().startswith(")"):  # the parentheses of the last argument
            last += len(rest) - len(rest.lstrip()) + 1
            rest = layout.text[last : end - 1]
        if rest.lstrip().startswith(","):
            comma = last + len(rest) - len(rest.lstrip()) + 1
            return (Edit(layout.between(comma, comma), f" {name}={value},"),)
        return (Edit(layout.between(last, last), f", {name}={value}"),)

    def drop_keyword(self, place: Place | None, name: str) -> Edits:
        """The call without its argument `name=...`, and without the comma that goes with it."""
        found = self._call(place)
        if found is None:
            return ()
        layout, node = found
        given: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        spans = sorted(layout.span(layout.place(one)) for one in given)
        for one in node.keywords:
            if one.arg != name:
                continue
            start, end = layout.span(layout.place(one))
            at = spans.index((start, end))
            if at:
                between = layout.text[spans[at - 1][1] : start]
                if "#" not in between:
                    start -= len(between) - between.rindex(",")
                else:
                    start, end = self._with_row(layout, start, end)
            elif len(spans) > 1:
                end = spans[1][0] if "#" not in layout.text[end : spans[1][0]] else end
            else:
                rest = layout.text[end : layout.span(layout.place(node))[1] - 1]
                if rest.strip() == ",":
                    end += rest.index(",") + 1
            return (Edit(layout.between(start, end), ""),)
        return ()

    def _with_row(self, layout: Layout, start: int, end: int) -> tuple[int, int]:
        """The offsets of an argument with the comma behind it, and with its row where it has one to itself."""
        rest = layout.text[end:]
        if rest.lstrip(" \t").startswith(","):
            end += rest.index(",") + 1
        row = layout.between(start, end).row
        first, last = layout.row_start(row), layout.row_end(row)
        if (
            not layout.text[first:start].strip()
            and first <= end <= last
            and not layout.text[end:last].strip()
        ):
            return first, layout.row_start(row + 1)
        return start, end

    def rename_call(self, place: Place | None, old: str, new: str) -> Edits:
        """The last part of the name at `place`, called or not, written `new` where it is `old`."""
        found = self._at(place)
        if found is None:
            return ()
        layout, node = found
        node = node.func if isinstance(node, ast.Call) else node
        start, end = layout.span(layout.place(node))
        if not layout.text[start:end].endswith(old):
            return ()
        if isinstance(node, ast.Name) and node.id == old:
            return self._named(layout, node, new)
        if isinstance(node, ast.Attribute) and node.attr == old:
            return (Edit(layout.between(end - len(old), end), new),)
        return ()

    def _named(self, layout: Layout, node: ast.Name, new: str) -> Edits:
        """The name alone: whatever is imported as `old` has `new` beside it."""
        for one in ast.walk(layout.tree):
            if not isinstance(one, ast.ImportFrom) or one.level or not one.module:
                continue
            if any((alias.asname or alias.name) == node.id for alias in one.names):
                path, edits = self.name_for(layout.place(node), f"{one.module}.{new}")
                return (Edit(layout.place(node), path), *edits) if path else ()
        return ()

    def unfiltered(self, place: Place | None, flag: str) -> Edits:
        """`xs` for `[x for x in xs if x.flag]` or `filter(lambda x: x.flag, xs)` at `place`."""
        found = self._at(place)
        if found is None:
            return ()
        layout, node = found
        source = None
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)) and len(node.generators) == 1:
            one = node.generators[0]
            same = isinstance(node.elt, ast.Name) and ast.unparse(one.target) == node.elt.id
            if same and [ast.unparse(test) for test in one.ifs] == [f"{ast.unparse(one.target)}.{flag}"]:
                source = one.iter
        elif isinstance(node, ast.Call) and _last(node.func) == "filter" and len(node.args) == 2:
            test = node.args[0]
            if isinstance(test, ast.Lambda) and ast.unparse(test.body) == f"{test.args.args[0].arg}.{flag}":
                source = node.args[1]
        if source is None:
            return ()
        return self.replace(layout.place(node), self.code(layout.place(source)))

    def hoist(self, place: Place | None, name: str) -> Edits:
        """`name(x * 2)` for `name(x) * 2` at `place`: the call becomes the outermost."""
        found = self._at(place)
        if found is None:
            return ()
        layout, outer = found
        call = next(
            (
                one
                for one in ast.walk(outer)
                if isinstance(one, ast.Call) and _last(one.func) == name and one.args and one is not outer
            ),
            None,
        )
        if call is None or isinstance(call.args[0], ast.Starred):
            return ()
        start, end = layout.span(layout.place(outer))
        call_start, call_end = layout.span(layout.place(call))
        inner, behind = layout.span(layout.place(call.args[0]))
        tight = isinstance(call.args[0], _TIGHT) or isinstance(layout.parent(call), ast.Call)
        opening, rest = layout.text[call_start:inner], layout.text[behind:call_end]
        if "\n" in opening or rest.count(")") != 1:
            return ()
        edits = [
            Edit(layout.between(start, start), opening),
            Edit(layout.between(call_start, inner), "" if tight else "("),
            Edit(layout.between(behind, call_end), "" if tight else ")"),
            Edit(layout.between(end, end), rest),
        ]
        if start == call_start:
            edits[:2] = [Edit(layout.between(start, inner), opening + ("" if tight else "("))]
        return tuple(edits)

    def take_off(self, place: Place | None, method: str) -> Edits:
        """`x` for the call `x.method()`."""
        inner = self.receiver(place, method)
        found = self._at(place)
        if inner is None or found is None:
            return ()
        layout, _ = found
        receiver = layout.expression(inner)
        end = layout.span(inner)[1]
        closing = None if receiver is None else self._closing(layout, receiver)
        end = closing if closing is not None else end
        return (Edit(layout.between(end, layout.span(layout.place(found[1]))[1]), ""),)

    # Names

    def name_for(self, place: Place | None, path: str) -> tuple[str, Edits]:
        """How the file of `place` may write what `path` names (`torch.nn.ModuleList`), and the import it lacks.

        "" where it lacks the import and the name is taken.
        """
        layout = self._layout(place)
        if layout is None:
            return "", ()
        written = [
            _written(path, one) for one in layout.tree.body if isinstance(one, (ast.Import, ast.ImportFrom))
        ]
        if place is not None:
            written += [
                _written(path, one)
                for one in ast.walk(layout.tree)
                if isinstance(one, (ast.Import, ast.ImportFrom)) and self._sees(layout, one, place)
            ]
        known = [one for one in written if one]
        if known:
            return min(known, key=len), ()
        module = path.partition(".")[0]
        if any(_binds(one, module) for one in ast.walk(layout.tree)):
            return "", ()
        return path, self._add_import(layout, f"import {module}")

    def _sees(self, layout: Layout, node: ast.stmt, place: Place) -> bool:
        function = next((one for one in layout.above(node) if isinstance(one, _Function)), None)
        if function is None:
            return False
        start, end = layout.span(layout.place(function))
        return start <= layout.offset(place) < end and node.lineno < place.row

    def _add_import(self, layout: Layout, line: str) -> Edits:
        body = layout.tree.body
        last: ast.stmt | None = None
        for number, one in enumerate(body):
            if isinstance(one, (ast.Import, ast.ImportFrom)):
                last = one
            elif isinstance(one, ast.Pass):  # what IPython adds, in a notebook
                continue
            elif not (number == 0 and isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)):
                break
            elif last is None:
                last = one
        if last is None:
            return self.before(layout.place(body[0]), line) if body else ()
        return self.behind(layout.place(last), line)

    # Edits of statements

    def before(self, place: Place | None, line: str) -> Edits:
        """The statement `line` before the one around `place`."""
        found = self._around(place)
        if found is None:
            return ()
        layout, statement = found
        row = layout.first_row(statement)
        if layout.leads_row(statement):
            at = layout.row_start(row)
            return (Edit(layout.between(at, at), layout.indent(row) + line + layout.newline()),)
        if isinstance(statement, _Compound):
            return ()
        at = layout.span(layout.place(statement))[0]
        return (Edit(layout.between(at, at), line + "; "),)

    def behind(self, place: Place | None, line: str) -> Edits:
        """The statement `line` after the one around `place`."""
        found = self._around(place)
        if found is None:
            return ()
        layout, statement = found
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return ()
        end = layout.span(layout.place(statement))[1]
        if not layout.ends_row(statement) or self._is_inline(layout, statement):
            return () if isinstance(statement, _Compound) else (Edit(layout.between(end, end), "; " + line),)
        at = layout.row_end(layout.last_row(statement))
        indent = layout.indent(layout.first_row(statement))
        return (Edit(layout.between(at, at), layout.newline() + indent + line),)

    def _is_inline(self, layout: Layout, statement: ast.stmt) -> bool:
        """Whether `statement` stands behind the colon of the one that holds it: `if x: y`."""
        first = layout.block(statement)[0]
        return not isinstance(layout.parent(statement), ast.Module) and not layout.leads_row(first)

    def start_of(self, place: Place | None, line: str) -> Edits:
        """The statement `line` at the start of the body of the function around `place`, behind its docstring."""
        found = self._around(self.function(place))
        if found is None or not isinstance(found[1], _Function):
            return ()
        layout, function = found[0], found[1]
        first = function.body[0]
        documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        if documented and len(function.body) > 1:
            first = function.body[1]
        return self.before(layout.place(first), line)

    def end_of(self, place: Place | None, line: str) -> Edits:
        """The statement `line` at the end of the function around `place`, before what it returns."""
        found = self._around(self.function(place))
        if found is None or not isinstance(found[1], _Function):
            return ()
        layout, function = found[0], found[1]
        last = function.body[-1]
        leaves = [
            one
            for one in ast.walk(function)
            if isinstance(one, (ast.Return, ast.Yield, ast.YieldFrom)) and one is not last
        ]
        if leaves:
            return ()
        if not isinstance(last, ast.Return):
            return self.behind(layout.place(last), line)
        return self.before(layout.place(last), line)

    def decorate(self, place: Place | None, decorator: str) -> Edits:
        """`decorator` as the last one above the function around `place`."""
        found = self._around(self.function(place))
        if found is None or not isinstance(found[1], _Function):
            return ()
        layout, function = found
        start = layout.span(layout.place(function))[0]
        row = function.lineno
        at = layout.row_start(row)
        if layout.text[at:start].strip():
            return ()
        return (Edit(layout.between(at, at), layout.indent(row) + "@" + decorator + layout.newline()),)

    def undecorate(self, place: Place | None) -> Edits:
        """The decorator at `place` taken away, with its row."""
        found = self._at(place)
        if found is None or not isinstance(found[0].parent(found[1]), _Definition):
            return ()
        layout, node = found
        row, last = node.lineno, node.end_lineno or node.lineno
        return (Edit(layout.between(layout.row_start(row), layout.row_start(last + 1)), ""),)

    def drop(self, place: Place | None) -> Edits:
        """The statement around `place` taken out; `pass` where its block would be empty. A comment stays."""
        found = self._around(place)
        if found is None:
            return ()
        layout, statement = found
        start, end = layout.span(layout.place(statement))
        if len(layout.block(statement)) == 1:
            return (Edit(layout.between(start, end), "pass"),)
        if layout.is_alone(statement):
            if layout.tail(statement).strip():
                comment = layout.tail(statement)
                return (Edit(layout.between(start, end + len(comment) - len(comment.lstrip())), ""),)
            row, last = layout.first_row(statement), layout.last_row(statement)
            return (Edit(layout.between(layout.row_start(row), layout.row_start(last + 1)), ""),)
        behind = layout.text[end:].lstrip(" \t")
        if behind.startswith(";"):
            rest = behind[1:].lstrip(" \t")
            return (Edit(layout.between(start, len(layout.text) - len(rest)), ""),)
        ahead = layout.text[:start].rstrip(" \t")
        return (Edit(layout.between(len(ahead) - 1, end), ""),) if ahead.endswith(";") else ()

    def move(self, place: Place | None, *, before: Place | None = None, behind: Place | None = None) -> Edits:
        """The statement around `place`, before or behind another one; both must have their rows to themselves."""
        found, other = self._around(place), self._around(before or behind)
        if found is None or other is None or found[0] is not other[0] or found[1] is other[1]:
            return ()
        layout, statement = found
        if not layout.is_alone(statement) or len(layout.block(statement)) == 1:
            return ()
        if not layout.is_alone(other[1]) or layout.rows_of_strings(statement):
            return ()
        row, last = layout.first_row(statement), layout.last_row(statement)
        old, new = layout.indent(row), layout.indent(layout.first_row(other[1]))
        lines = [layout.source.line(number) for number in range(row, last + 1)]
        if not all(line.startswith(old) or not line.strip() for line in lines):
            return ()
        text = layout.newline().join(new + line[len(old) :] if line.strip() else line for line in lines)
        gone = Edit(layout.between(layout.row_start(row), layout.row_start(last + 1)), "")
        if before is not None:
            at = layout.row_start(layout.first_row(other[1]))
            return (gone, Edit(layout.between(at, at), text + layout.newline()))
        at = layout.row_end(layout.last_row(other[1]))
        if at == layout.row_start(row) - len(layout.newline()):
            return ()
        return (gone, Edit(layout.between(at, at), layout.newline() + text))

    def under(self, place: Place | None, head: str, last: Place | None = None) -> Edits:
        """The statement around `place`, and those up to `last` in its block, in a block of their own below `head`."""
        found, final = self._around(place), self._around(last or place)
        if found is None or final is None or found[0] is not final[0]:
            return ()
        layout, statement = found
        block = layout.block(statement)
        numbers = [number for number, one in enumerate(block) if one is statement or one is final[1]]
        if numbers[-1:] == [] or (statement is not final[1] and len(numbers) < 2):
            return ()
        inside = block[numbers[0] : numbers[-1] + 1]
        if not all(layout.is_alone(one) for one in inside):
            return self._under_inline(layout, inside, head) if len(inside) == 1 else ()
        first, end = layout.first_row(inside[0]), layout.last_row(inside[-1])
        inner = set().union(*(layout.rows_of_strings(one) for one in inside))
        unit, at = layout.unit(), layout.row_start(first)
        edits = [Edit(layout.between(at, at), layout.indent(first) + head + layout.newline() + unit)]
        for row in range(first + 1, end + 1):
            if row not in inner and layout.source.line(row).strip():
                at = layout.row_start(row)
                edits.append(Edit(layout.between(at, at), unit))
        return tuple(edits)

    def yield_outside(self, place: Place | None) -> Edits:
        """The `with` around `place` inside the loop that is all it holds, so that it ends before what the loop yields."""
        found = self._around(place)
        if found is None or not isinstance(found[1], ast.With) or len(found[1].items) != 1:
            return ()
        layout, block = found[0], found[1]
        loop = block.body[0]
        last = loop.body[-1] if isinstance(loop, ast.For) else None
        given = last.value if isinstance(last, ast.Expr) else None
        yields = [one for one in ast.walk(block) if isinstance(one, (ast.Yield, ast.YieldFrom))]
        if len(block.body) != 1 or not isinstance(loop, ast.For) or yields != [given] or last is None:
            return ()
        rows = {block.lineno, loop.lineno, loop.body[0].lineno}
        if not isinstance(given, ast.Yield) or given.value is None or loop.orelse or len(rows) != len(_ROWS):
            return ()
        if loop.lineno != block.lineno + 1 or not all(layout.is_alone(one) for one in (loop, *loop.body)):
            return ()
        indents = [layout.indent(row) for row in sorted(rows)]
        if not (indents[1].startswith(indents[0]) and indents[2].startswith(indents[1])):
            return ()
        newline, head = layout.newline(), layout.source.line(block.lineno).strip()
        name = next(one for one in _FREE if one not in layout.text)
        start, end = layout.row_start(block.lineno), layout.row_start(loop.lineno)
        edits = [Edit(layout.between(start, end), "")]
        for row in range(loop.lineno, loop.body[0].lineno):
            at = layout.row_start(row)
            edits.append(Edit(layout.between(at, at + len(indents[1]) - len(indents[0])), ""))
        at = layout.row_start(loop.body[0].lineno)
        edits.append(Edit(layout.between(at, at), indents[1] + head + newline))
        start, value = layout.span(layout.place(last))[0], layout.span(layout.place(given.value))[0]
        if "(" not in layout.text[start:value]:
            edits.append(Edit(layout.between(start, value), f"{name} = "))
            at = layout.row_end(layout.last_row(last))
            edits.append(Edit(layout.between(at, at), f"{newline}{indents[1]}yield {name}"))
            return tuple(edits)
        return ()

    def _under_inline(self, layout: Layout, inside: list[ast.stmt], head: str) -> Edits:
        """A statement that shares its row gets one of its own, and so does what follows it there."""
        statement = inside[0]
        if isinstance(statement, _Compound) or statement.lineno != layout.last_row(statement):
            return ()
        block = layout.block(statement)
        newline, unit, indent = layout.newline(), layout.unit(), layout.indent(statement.lineno)
        inline = self._is_inline(layout, statement)
        if inline:
            if len(block) > 1:
                return ()
            indent += unit
        start, end = layout.span(layout.place(statement))
        ahead = layout.text[:start].rstrip(" \t")
        begin = len(ahead) - 1 if ahead.endswith(";") else len(ahead)
        if layout.leads_row(statement):
            edits = [Edit(layout.between(start, start), head + newline + indent + unit)]
        else:
            edits = [Edit(layout.between(begin, start), newline + indent + head + newline + indent + unit)]
        behind = layout.text[end:].lstrip(" \t")
        if behind.startswith(";"):
            rest = behind[1:].lstrip(" \t")
            if rest[:1] not in ("", "\r", "\n", "#"):
                edits.append(Edit(layout.between(end, len(layout.text) - len(rest)), newline + indent))
        return tuple(edits)

    # Edits of assignments

    def assign_to(self, place: Place | None, target: str) -> Edits:
        """`target = ...` before the expression that is a statement of its own at `place`."""
        found = self._around(place)
        if found is None or not isinstance(found[1], ast.Expr):
            return ()
        layout, statement = found
        start = layout.span(layout.place(statement))[0]
        return (Edit(layout.between(start, start), f"{target} = "),)

    def as_buffer(self, value: Place | None, name: str) -> Edits:
        """`self.register_buffer("name", value)` for `self.name = value`."""
        target = self.target(value)
        found = self._at(value)
        if target is None or found is None or self.code(target) != f"self.{name}":
            return ()
        layout = found[0]
        start, end = layout.span(layout.place(found[1]))
        closing = self._closing(layout, found[1])
        first = layout.offset(target)
        if closing is not None:
            return ()
        head = f'self.register_buffer("{name}", '
        return (Edit(layout.between(first, start), head), Edit(layout.between(end, end), ")"))

    def as_call(self, place: Place | None, method: str) -> Edits:
        """`x.copy_(y)` for `x = y` with `.copy_`, and `x.flag_(y)` for `x.flag = y` with `_`."""
        found = self._around(place)
        target = None if found is None else _target(found[1])
        value = None if found is None else getattr(found[1], "value", None)
        if found is None or value is None or not isinstance(target, (ast.Name, ast.Attribute, ast.Subscript)):
            return ()
        layout = found[0]
        end = layout.span(layout.place(target))[1]
        start, last = layout.span(layout.place(value))
        closing = self._closing(layout, value)
        if closing is not None:
            start, last = layout.text.rindex("(", end, start), closing
            return (Edit(layout.between(end, start), method),)
        return (Edit(layout.between(end, start), method + "("), Edit(layout.between(last, last), ")"))

    def fold(self, place: Place | None) -> Edits:
        """`x -= y` for `x = x - y`, and for `d[k] = x - y` where a loop over `d.items()` gives `x`."""
        found = self._around(place)
        target = None if found is None else _target(found[1])
        value = None if found is None else getattr(found[1], "value", None)
        if found is None or target is None or not isinstance(value, ast.BinOp):
            return ()
        layout = found[0]
        left, right = layout.place(value.left), layout.place(value.right)
        name = self.code(left)
        loop = self._around(self.loop(place))
        items = isinstance(target, ast.Subscript) and isinstance(
            loop and getattr(loop[1], "iter", None), ast.Call
        )
        walked = items and loop is not None and self._walks(loop, target, name)
        if self.code(layout.place(target)) != name and not walked:
            return ()
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}.get(type(value.op))
        start, end = layout.offset(layout.place(target)), layout.offset(right)
        if sign is None or "(" in layout.text[layout.span(left)[1] : end]:
            return ()
        return (Edit(layout.between(start, end), f"{name} {sign}= "),)

    def _walks(self, loop: tuple[Layout, ast.stmt], target: ast.expr, name: str) -> bool:
        """Whether the loop goes over the items of what `target` is an item of, and calls them `name`."""
        layout, head = loop
        if not isinstance(head, ast.For) or not isinstance(target, ast.Subscript):
            return False
        names = head.target.elts if isinstance(head.target, ast.Tuple) else []
        walked = f"{self.code(layout.place(target.value))}.items()"
        return bool(names) and ast.unparse(names[-1]) == name and self.code(layout.place(head.iter)) == walked

    def unfold(self, place: Place | None) -> Edits:
        """`x = x / y` for `x /= y`."""
        found = self._around(place)
        if found is None or not isinstance(found[1], ast.AugAssign):
            return ()
        layout, statement = found[0], found[1]
        target, value = layout.place(statement.target), layout.place(statement.value)
        name = self.code(target)
        start, end = layout.span(value)
        sign = layout.text[layout.span(target)[1] : start]
        closing = self._closing(layout, statement.value)
        loose = not isinstance(statement.value, (*_TIGHT, ast.Constant)) and closing is None
        operator = sign.replace("(", " ").strip()[:-1]
        head = Edit(
            layout.between(layout.span(target)[1], layout.span(target)[1] + sign.index("=") + 1),
            f" = {name} {operator}",
        )
        if not loose:
            return (head,)
        return (
            head,
            Edit(layout.between(start, start), "("),
            Edit(layout.between(end, end), ")"),
        )


def _target(node: ast.AST) -> ast.expr | None:
    """The one target of an assignment."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.targets[0]
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return node.target
    return None


def _last(function: ast.expr) -> str:
    """The last part of the name of what is called."""
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _read(code: str) -> str | None:
    """The dump of an expression, to compare with."""
    try:
        return ast.dump(ast.parse(code, mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def _as_read(target: ast.expr) -> str:
    return ast.dump(target).replace("ctx=Store()", "ctx=Load()")


def _is_stored(node: ast.expr) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


def _own_nodes(root: ast.AST) -> list[ast.AST]:
    """The nodes of a statement without those of the statements that it holds, from left to right."""
    found: list[ast.AST] = []
    waiting = [root]
    while waiting:
        node = waiting.pop(0)
        found.append(node)
        waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]
    return sorted(found, key=lambda one: (getattr(one, "lineno", 0), getattr(one, "col_offset", 0)))


def _written(path: str, statement: ast.Import | ast.ImportFrom) -> str:
    """How `path` may be written after this import; empty where the import does not serve."""
    for alias in statement.names:
        if isinstance(statement, ast.Import):
            if path.startswith(alias.name + "."):
                if alias.asname:
                    return alias.asname + path[len(alias.name) :]
                return path
            if alias.asname is None and path.partition(".")[0] == alias.name.partition(".")[0]:
                return path
            continue
        whole = f"{statement.module}.{alias.name}"
        if statement.level == 0 and (path == whole or path.startswith(whole + ".")):
            return (alias.asname or alias.name) + path[len(whole) :]
    return ""


def _names(code: str) -> frozenset[str] | None:
    """The names in an expression; None for what is none."""
    try:
        tree = ast.parse(code, mode="eval")
    except (SyntaxError, ValueError):
        return None
    return frozenset(one.id for one in ast.walk(tree) if isinstance(one, ast.Name))


def _binds(node: ast.AST, name: str) -> bool:
    """Whether a node gives `name` a value of its own."""
    if isinstance(node, ast.Name):
        return node.id == name and _is_stored(node)
    return (isinstance(node, ast.arg) and node.arg == name) or (
        isinstance(node, _Definition) and node.name == name
    )
