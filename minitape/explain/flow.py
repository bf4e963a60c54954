"""Where a Python value flows: through names, attributes, containers, calls and branches of the user's text.

The recording sees tensors only. A value that left as a float or a NumPy array travels through names, lists and helper
functions before it comes back as a constant; that part of its way is followed here, in the syntax tree. The analysis is
coarse on purpose (it knows no order of statements and merges all objects' attributes of a name): it only decides which
of the exits that did happen can have led to a constant that was made.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from .source import CALLED, Source, sources_of
from .statement import CALLS, Statement, holder_of, item_of, last_name, once, parameters, reads_of

if TYPE_CHECKING:
    from .source import Key
    from .statement import Def

_BUILTINS = frozenset(dir(builtins))
_MUTATORS = set("append appendleft extend insert add update setdefault put push write fill set".split())
_CONTAINERS = frozenset((*dir(list), *dir(dict), *dir(set), *dir(str), "appendleft"))
# what a model does with values that leave is to report them: they are in what the call returns, not in the model
_REPORTS = {"fit", "evaluate", "predict", "predict_on_batch", "train_on_batch", "test_on_batch"}
_FOUND = ("found", "")  # among what is tainted: the result of a function that only the run finds
_LOOKS = ("assert", "print", "plot", "show", "log")  # how the names begin of functions that only look at what they get
_SHOWS = set(
    (
        "matplotlib seaborn plotly logging warnings tqdm wandb mlflow pprint sys time tensorflow keras "
        "minitape IPython rich"
    ).split()
)  # modules whose functions change no argument


Item: TypeAlias = "Key | tuple[int, str, str | None]"  # a name in its scope, or one entry of what it holds
Mark: TypeAlias = tuple  # a kind, and what that kind needs
Hot: TypeAlias = tuple[int | None, str | None]  # the place of an argument, and its name


class Texts:
    """What all flows through the same sources ask them for."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.known = {name for source in sources for name in source.functions}
        self.classes = {name for source in sources for name in source.classes}
        self.lambdas: dict[str, list[tuple[Statement, ast.Lambda]]] = {}  # by the name that they are bound to
        self.calls: dict[str, list[tuple[Statement, ast.Call]]] = {}  # of functions of the user's, by their names
        self.mentions: dict[str, list[Statement]] = {}  # name or attribute -> where it occurs, or in a branch around
        self.handlers: list[tuple[Statement, ast.ExceptHandler]] = []  # of exceptions
        self.inside: dict[Statement, list[Statement]] = {}  # a branch or a loop -> the statements in it
        for statement in (s for source in sources for s in source.statements):
            self._look_at(statement)

    def unnamed(self, function: Def) -> bool:
        """Whether a function is called, if at all, by other names than its own: it was given to a registry, or is
        looked up.
        """
        given = any(last_name(getattr(d, "func", d)) in self.known for d in function.decorator_list)
        return given or (function.name not in self.mentions and not function.name.startswith("__"))

    @once
    def reads(self, expression: ast.AST) -> list[ast.AST]:
        """What an expression reads, see :func:`reads_of`."""
        return reads_of(ast.walk(expression))

    def _look_at(self, statement: Statement) -> None:
        self.handlers += [(statement, handler) for handler in getattr(statement.node, "handlers", ())]
        for target, part in statement.pairs():
            if isinstance(part, ast.Lambda):
                self.lambdas.setdefault(last_name(target), []).append((statement, part))
        for node in statement.walk():
            if isinstance(node, ast.Call) and last_name(node.func) in self.known:
                self.calls.setdefault(last_name(node.func), []).append((statement, node))
        for outer in statement.around:
            self.inside.setdefault(outer, []).append(statement)
        for name in set().union(*(s.mentions() for s in (statement, *statement.around))):
            self.mentions.setdefault(name, []).append(statement)


@lru_cache(8)
def texts_of(*sources: Source) -> Texts:
    """The same for the same sources."""
    return Texts(sources)


class Flows:
    """Where values go that left at some expressions: each is followed once, through the user's files and those that
    they import.
    """

    steps = 0  # how many statements were looked at for all of them

    @once
    def of(self, start: Statement, origin: ast.AST | None, files: frozenset[str]) -> Flow:
        """See :class:`Flow`."""
        flow = Flow(start, origin, sources_of(files))
        self.steps += flow.steps
        return flow


class Flow:
    """Where the value that left at one expression may go, within the given sources.

    ``origin`` is the expression of the statement ``start`` by which it left; without one the whole statement counts.
    """

    def __init__(self, start: Statement, origin: ast.AST | None, sources: list[Source]) -> None:
        self.start, self.origin, self.sources = start, origin, sources
        # ("attribute", name, of which class), ("returns", function), ("called", class), ("here", statement, name),
        # _FOUND
        self.tainted: set[Mark] = set()
        # names and items -> where they got the value; None: anywhere
        self._names: dict[Item, set[Statement | None]] = {}
        self._items: dict[Key, list[Item]] = {}  # names -> their items among these
        self._attributes: dict[str, set[str]] = {}  # attributes among the tainted -> of which classes
        self._texts = texts_of(*sources)
        # (function, parameter, entry) of which the calls were looked at
        self._handed: set[tuple[Def, str, str | None]] = set()
        self.steps = 0  # how many statements were looked at
        self._fresh: set[str] = set()  # names that got the value since the statements that mention them were looked at
        self._taint(start)
        waiting = [*self._texts.inside.get(start, ()), *self._mentioned()]
        while waiting:
            self.steps += len(waiting)
            for statement in waiting:
                if self.reaches(statement):
                    self._taint(statement)
            waiting = self._mentioned()

    def is_returned(self) -> bool:
        """Whether the function where it starts returns it."""
        function = self.start.function
        return function is not None and not self.tainted.isdisjoint(
            [("returns", function.name), ("attribute", function.name, self._owner(function))]
        )

    def _mentioned(self) -> list[Statement]:
        """The statements that what is fresh may be read by."""
        fresh, self._fresh = self._fresh, set()
        return [*{s: None for name in fresh for s in self._texts.mentions.get(name, ())}]

    def _mark(self, key: Mark) -> None:
        """Notes one of the ``tainted``."""
        if key not in self.tainted:
            self.tainted.add(key)
            kind, name = key[:2]
            self._fresh.add(key[2] if kind == "here" else CALLS if kind in ("called", "found") else name)
            if kind == "attribute":
                self._attributes.setdefault(name, set()).add(key[2])

    def _give(self, key: Item, statement: Statement | None) -> None:
        """Notes that a name, or an item of it, got the value in a statement."""
        given = self._names.setdefault(key, set())
        if not given and len(key) == 3:
            self._items.setdefault(key[:2], []).append(key)
        if statement not in given:
            given.add(statement)
            self._fresh.add(key[1])

    def reaches(self, statement: Statement) -> bool:
        """True when ``statement`` may read the value, or a branch that did decides whether it runs."""
        return self.enters(statement, None) or self.decides(statement)

    def enters(self, statement: Statement, expression: ast.AST | None) -> bool:
        """True when an expression of ``statement``, or any part of it, may read the value."""
        if expression is None:
            return statement is self.start or any(self._is_tainted(node, statement) for node in statement.reads())
        if statement is self.start and (self.origin is None or self._left_in(expression, statement)):
            return True
        return self._reads(expression, statement)

    def carries(self, statement: Statement, expression: ast.AST | None, places: set[ast.AST | None]) -> bool:
        """The same of all but indices, and of what is in ``places``."""
        nodes, waiting = [], [expression or statement.node]
        while waiting:
            nodes.append(node := waiting.pop())
            inner = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
            waiting += [part for part in inner if part not in places]
        if statement is self.start and (self.origin is None or self.origin in nodes):
            return True
        return any(self._is_tainted(node, statement) for node in reads_of(nodes))

    def decides(self, statement: Statement) -> bool:
        """True when a branch around ``statement`` may have read the value."""
        for outer in statement.around:
            branches = isinstance(outer.node, (ast.If, ast.While, ast.For, ast.Match))
            if branches and (outer is self.start or any(self._is_tainted(n, outer) for n in outer.reads())):
                return True
        return False

    def chooses(self, statement: Statement) -> bool:
        """True when the value may choose in ``statement`` itself: ``a if value else b``, ``models[value]``."""
        tests = (
            n.test if isinstance(n, ast.IfExp) else n.slice
            for n in statement.walk()
            if isinstance(n, (ast.IfExp, ast.Subscript))
        )
        return any(self._reads(test, statement) for test in tests)

    def _reads(self, expression: ast.AST, statement: Statement) -> bool:
        return any(self._is_tainted(node, statement) for node in self._texts.reads(expression))

    def _left_in(self, part: ast.AST, statement: Statement) -> bool:
        """Whether the value left in a part of a statement."""
        return statement is self.start and any(n is self.origin for n in ast.walk(part))

    def _is_tainted(self, node: ast.AST, statement: Statement) -> bool:
        if node is self.origin:
            return True
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            key = statement.source.key(node.id, statement.function)
            whole = any(self._may_hold(one, statement) for one in (key, *self._items.get(key, ())))
            function = key[0] == 0 and ("returns", node.id) in self.tainted
            return whole or function or ("here", id(statement), node.id) in self.tainted
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            return self._item_is_tainted(node.value, item_of(node), statement)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            mine = self._class(node.value, statement)
            if self._of_library(node.value, statement.source):
                return ("attribute", node.attr, mine) in self.tainted
            given = self._attributes.get(node.attr, ())
            return ("returns", node.attr) in self.tainted or any(_same(mine, of) for of in given)
        held = holder_of(node)
        if isinstance(held, ast.Name) and isinstance(node, (ast.Subscript, ast.Call)):
            return self._item_is_tainted(held, item_of(node), statement)
        if isinstance(node, ast.Call) and self._calls_object(node):
            mine = self._class(node.func, statement)
            if any(key[0] == "called" and _same(mine, key[1]) for key in self.tainted):
                return True
        return isinstance(node, ast.Call) and _FOUND in self.tainted and self._finds_its_function(node)

    def _item_is_tainted(self, holder: ast.Name, item: str | None, statement: Statement) -> bool:
        """Whether an item of what a name holds may be the value, or all of it may."""
        key = statement.source.key(holder.id, statement.function)
        return self._may_hold(key, statement) or self._may_hold((*key, item), statement)

    def _calls_object(self, call: ast.Call) -> bool:
        """Whether a call may be that of an object, not of a function, a class or a container's method."""
        name = last_name(call.func)
        known = name in self._texts.known or name in self._texts.classes or name in _BUILTINS
        held = _root(call.func) == "self" and name not in _CONTAINERS
        return not known and (held or isinstance(call.func, ast.Name))

    def _finds_its_function(self, call: ast.Call) -> bool:
        """Whether only the run tells which function a call is of: ``handlers[name](x)``, ``h(x)``, ``getattr(a,
        b)(x)``.
        """
        if isinstance(call.func, (ast.Name, ast.Attribute)):
            return isinstance(call.func, ast.Name) and self._calls_object(call)
        return isinstance(call.func, (ast.Subscript, ast.Call))

    def _may_hold(self, key: Item, statement: Statement) -> bool:
        """Whether a name may hold the value when a statement reads it: none that was bound anew in between."""
        given = self._names.get(key)
        if not given:
            return False
        source = statement.source
        bound = source.last_binding(key[:2], statement)
        return any(_sees(one, bound, statement) and not source.bound_over(key[:2], one, statement) for one in given)

    def _class(self, node: ast.AST, statement: Statement) -> str:
        """The class of the object that a name holds, one of the user's without bases, or its module; else nothing."""
        if not isinstance(node, ast.Name):
            return ""
        if self._of_library(node, statement.source):
            return f"module {node.id}"
        name = statement.class_name if node.id == "self" else statement.source.class_of(node.id, statement)
        return (
            name if name in self._texts.classes and not any(name in source.related for source in self.sources) else ""
        )

    # -- what a statement hands on -----------------------------------------------------------------

    def _taint(self, statement: Statement) -> None:
        function = statement.function
        for target in self._given(statement):
            self._taint_target(target, statement)
        node = statement.node
        if isinstance(node, ast.Return) and function is not None:
            self._taint_result(function)
            if function.name in CALLED:  # what an object does when it is called
                self._mark(("called", self._owner(function)))
        if isinstance(node, ast.Raise) and node.exc is not None:
            self._taint_handlers(last_name(node.exc.func if isinstance(node.exc, ast.Call) else node.exc))
        if isinstance(node, ast.FunctionDef):  # by its decorators, or as a default
            self._mark(("returns", node.name))
            for argument, default in _defaults(node.args):
                if self._enters_part(statement, default):
                    self._give((id(node), argument.arg), None)
        for inner in statement.walk():
            if isinstance(inner, (ast.Yield, ast.YieldFrom)) and function is not None:
                self._taint_result(function)
            if isinstance(inner, ast.Call):
                self._taint_call(inner, statement)
            if isinstance(inner, ast.comprehension) and self._enters_part(statement, inner.iter):
                self._taint_here(statement, [inner.target])
            if isinstance(inner, ast.Lambda):
                self._taint_here(statement, (a for a, d in _defaults(inner.args) if self._enters_part(statement, d)))

    def _taint_handlers(self, raised: str) -> None:
        """The names that handlers give to an exception, of this class or of one that may be its base."""
        for statement, handler in self._texts.handlers:
            caught = {last_name(n) for n in ast.walk(handler.type)} if handler.type is not None else set()
            if handler.name and (raised in caught or not caught.isdisjoint(("Exception", "BaseException"))):
                self._give(statement.source.key(handler.name, statement.function), None)

    def _taint_result(self, function: Def) -> None:
        """What a function returns; of a method that is as good as an attribute, which it may be a property of."""
        method = any(id(function) in source.methods for source in self.sources)
        key = ("attribute", function.name, self._owner(function)) if method else ("returns", function.name)
        self._mark(key)
        if self._texts.unnamed(function):
            self._mark(_FOUND)

    def _taint_here(self, statement: Statement, targets: Iterable[ast.AST]) -> None:
        """Names that a part of a statement binds for itself: those of a comprehension, the parameters of a lambda."""
        names = [n for target in targets for n in ast.walk(target) if isinstance(n, (ast.Name, ast.arg))]
        for n in names:
            self._mark(("here", id(statement), n.id if isinstance(n, ast.Name) else n.arg))

    def _given(self, statement: Statement) -> list[ast.expr]:
        """What of that which a statement binds gets the value: ``b`` alone in ``a, b = 1.0, float(w)``."""
        pairs = statement.pairs()
        if len(pairs) < 2 or self.decides(statement) or (self.origin is None and statement is self.start):
            return [target for target, _ in pairs]
        return [t for t, part in pairs if part is None or self._enters_part(statement, part)]

    def _enters_part(self, statement: Statement, part: ast.AST) -> bool:
        return self._reads(part, statement) or self._left_in(part, statement)

    def _taint_target(self, target: ast.AST, statement: Statement, item: str | None = None) -> None:
        """Something gets the value: a name, or with ``item`` one entry of it; an attribute; what an element is of."""
        if isinstance(target, ast.Name):
            if not self._is_module(target.id, statement.source):
                key = statement.source.key(target.id, statement.function)
                self._give(key if item is None else (*key, item), statement)
        elif isinstance(target, ast.Attribute):
            self._mark(("attribute", target.attr, self._class(target.value, statement)))
        elif isinstance(target, ast.Subscript):
            self._taint_held(target.value, statement, item_of(target))
        elif isinstance(target, ast.Call):  # csv.writer(file).writerow(values)
            for value in target.args:
                self._taint_held(value, statement)

    def _taint_held(self, holder: ast.AST, statement: Statement, item: str | None = None) -> None:
        """Something gets the value as a part of it: so does what a function was called with, if it is a parameter."""
        self._taint_target(holder, statement, item)
        function = statement.function
        if function is None or not isinstance(holder, ast.Name):
            return
        names = parameters(function)
        if holder.id not in names or (function, holder.id, item) in self._handed:
            return
        self._handed.add((function, holder.id, item))
        at = names.index(holder.id) - (names[:1] == ["self"])
        for caller, call in self._texts.calls.get(function.name, ()):
            given = [k.value for k in call.keywords if k.arg == holder.id] + call.args[at : at + 1]
            for value in given:
                self._taint_held(value, caller, item)

    def _is_module(self, name: str, source: Source) -> bool:
        """Whether a name is imported and none of the sources binds it: a module, or a function of a library."""
        return name in source.imported and not any(name in other.bound for other in self.sources)

    def _of_library(self, node: ast.AST, source: Source) -> bool:
        """Whether an expression is the name of a module that none of the sources is: ``np`` in ``np.sum``."""
        if not isinstance(node, ast.Name) or not self._is_module(node.id, source):
            return False
        file = getattr(sys.modules.get(source.imported[node.id]), "__file__", None)
        return all(other.statements[0].filename != file for other in self.sources if other.statements)

    def _taint_call(self, call: ast.Call, statement: Statement) -> None:
        """A call hands tainted arguments on: to the parameters of a function of the user's, or into a container."""
        whole = call is self.origin or (self.origin is None and statement is self.start)
        arguments = [(None, a) for a in call.args] + [(k.arg, k.value) for k in call.keywords]
        hot: list[Hot] = [
            (i, name)
            for i, (name, value) in enumerate(arguments)
            if whole or self._left_in(value, statement) or self._reads(value, statement)
        ]
        if not hot:
            return
        name = last_name(call.func)
        changes = self._may_change(call, statement)
        if isinstance(call.func, ast.Attribute) and (name in _MUTATORS or changes):
            self._taint_held(call.func.value, statement)
        # np.copyto(target, value), pickle.dump(value, file)
        if changes and (isinstance(call.func, ast.Name) or self._is_module(_root(call.func), statement.source)):
            for value in call.args:
                self._taint_held(value, statement)
        related = any(name in source.related for source in self.sources)
        for function in self._functions("__init__" if name in self._texts.classes else name):
            if name not in self._texts.classes or related or self._owner(function) == name:
                self._taint_parameters(function, call, hot)
        if self._calls_object(call):
            mine = self._class(call.func, statement)
            for function in (f for wanted in CALLED for f in self._functions(wanted)):
                if _same(mine, self._owner(function)):
                    self._taint_parameters(function, call, hot)
        for at, unnamed in self._texts.lambdas.get(name, ()):
            self._taint_here(at, [unnamed.args])
        if name not in self._texts.known and name not in self._texts.classes:
            self._taint_handed(call, statement, hot)

    def _taint_handed(self, call: ast.Call, statement: Statement, hot: list[Hot]) -> None:
        """Functions that are handed to a call together with the value: ``map(f, values)``, ``partial(f, by=value)``."""
        for value in call.args:
            if isinstance(value, ast.Lambda):
                self._taint_here(statement, [value.args])
            for function in self._functions(last_name(value)) if isinstance(value, (ast.Name, ast.Attribute)) else ():
                named: list[Hot] = [(None, name) for _, name in hot if name in parameters(function)]
                self._taint_parameters(function, call, named or [(None, name) for name in parameters(function)])

    def _taint_parameters(self, function: Def, call: ast.Call, hot: list[Hot]) -> None:
        names = parameters(function)
        if names[:1] == ["self"]:
            names = names[1:]
        if any(isinstance(a, ast.Starred) for a in call.args):
            hot = [*hot, *((None, n) for n in names)]
        for i, keyword in hot:
            given = keyword if keyword is not None else names[i] if i is not None and i < len(names) else None
            if given is not None:
                self._give((id(function), given), None)

    def _owner(self, function: Def) -> str:
        """The class of a method, if it is one of those that :meth:`_class` tells apart."""
        name = next((s.methods[id(function)] for s in self.sources if id(function) in s.methods), "")
        return "" if any(name in source.related for source in self.sources) else name

    def _functions(self, name: str) -> Iterator[Def]:
        for source in self.sources:
            yield from source.functions.get(name, ())

    def _may_change(self, call: ast.Call, statement: Statement) -> bool:
        """Whether a call is alone, as one that changes something does, and is not there to report or to show."""
        alone = isinstance(statement.node, ast.Expr) and statement.node.value is call
        name = last_name(call.func)
        if not alone or name in _REPORTS or name in self._texts.known or name in _BUILTINS or name.startswith(_LOOKS):
            return False
        return statement.source.imported.get(_root(call.func), "").split(".")[0] not in _SHOWS


def _defaults(args: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, each with it."""
    positional = [*args.posonlyargs, *args.args]
    yield from zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True)
    yield from ((a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None)


def _same(a: str, b: str) -> bool:
    """Whether objects of these classes, "" where that is not known, may be the same one."""
    return a == b or not a or not b


def _sees(given: Statement | None, bound: Statement | None, reader: Statement) -> bool:
    """Whether a statement may read from a name what another one gave it; ``bound`` is the last sure binding before."""
    if given is None:  # what a function was called with
        return bound is None
    if given.function is not reader.function:
        return True
    if bound is None or given is bound or bound.order < given.order < reader.order:
        return given.order < reader.order or _again(given, None, reader)
    return given.order >= reader.order and _again(given, bound, reader)


def _again(given: Statement, bound: Statement | None, reader: Statement) -> bool:
    """Whether both run again in one loop, which does not begin with binding the name anew."""
    common = reader.loops() and [loop for loop in given.loops() if loop in reader.loops()]
    return any(bound is None or loop not in bound.around for loop in common)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
