"""Traced functions as data: what JSON holds, and arrays. ``exported`` writes and reads them.

Data may come from a stranger. An operation is looked up in the tables of primitives, a function that waits for sizes in the
tables of ``tf``, and nothing is looked for anywhere else. What is neither data nor in these tables is not written: a Python
function, above all. The shapes that data tells of may be wrong, so no machine code is made for them (``Graph.trusted``).
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from ..engine import nest
from ..engine.dtypes import DType, as_dtype, bfloat16
from ..engine.namespace import load, places
from ..engine.primitives import TABLE, Primitive, load_all
from ..engine.rows import Call
from ..engine.shape import TensorShape
from ..engine.tensor import EagerTensor, wrap
from ..graphs import arrays as tensor_arrays
from ..graphs import control, effects, gates, later, mixed, slicing, sweep, whiles
from ..graphs.body import Body, BodyGraph
from ..graphs.body import TestGraph as ConditionGraph
from ..graphs.concrete import ConcreteFunction, FuncGraph
from ..graphs.function import Function
from ..graphs.given import Slots
from ..graphs.postponed import Postponed
from ..graphs.primitive import RULE, VJP, Links
from ..graphs.program import constant_array, needed
from ..graphs.signature import Signature
from ..graphs.slicing import Place
from ..graphs.spec import TensorSpec, key_of
from . import api, linalg, math, nn, strings

# -- the tables -------------------------------------------------------------------------------------------------------

# what graphs have beside the primitives that run eagerly, too; none of these runs Python code of a user
_OF_GRAPHS = {
    f"{p.name} {p.op}": p
    for p in (*whiles.WHILE.values(), *whiles.MAPPED.values(), *control.CASE.values(), *effects.ASSIGN.values(), *tensor_arrays.PRIMITIVES, effects.READ,
              effects.LATER, effects.LATER_STATEFUL, gates.NO_OP, later.SIZE, later.ZEROS, later.RANGE, slicing.GETITEM, sweep.FIT,
              sweep.DENSE, VJP, RULE)
}  # fmt: skip
_PURE = "ops.", "tf.linalg.", "tf.math", "tf.nn.", "tf.strings."
_IMPURE = "ops.printing", "ops.assertions"


@cache
def _functions() -> dict[str, tuple[str, str]]:
    """Where the functions are that may wait for sizes: those of ``tf`` that compute, and do nothing else."""
    spaces = {"tf": places(api.ROOT)} | {f"tf.{s.__name__.rpartition('.')[2]}": s.__getattr__.homes for s in (math, nn, linalg, strings)}
    return {
        f"{space}.{name}": home
        for space, names in spaces.items() for name, home in names.items()
        if home[0].startswith(_PURE) and home[0] not in _IMPURE
    }  # fmt: skip


_OF_ARRAYS = {f"array {function.__name__}": function for function in mixed.FUNCTIONS}


def _function_named(name: Any) -> Any:
    return _OF_ARRAYS[name] if name in _OF_ARRAYS else load(*_functions()[name])


def _name_of_function(function: Any) -> str | None:
    if function in mixed.FUNCTIONS:
        return f"array {function.__name__}"
    own = getattr(function, "__name__", None)
    for name, (module, attribute) in _functions().items():
        if attribute == own:
            found = load(module, attribute)
            if found is function or getattr(found, "__wrapped__", None) is function:
                return name
    return None


def _primitive_named(name: Any) -> Primitive:
    if name in _OF_GRAPHS:
        return _OF_GRAPHS[name]
    if name not in TABLE:
        load_all()
    return TABLE[name]


def _name_of_primitive(primitive: Primitive) -> str | None:
    name = f"{primitive.name} {primitive.op}"
    if _OF_GRAPHS.get(name) is primitive:
        return name
    return primitive.name if TABLE.get(primitive.name) is primitive else None


class Unwritten(Exception):
    """A value that is no data."""


# what is made of its parts: tag -> the type, its parts, and the way back
_MADE: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tuple": (tuple, list, tuple),
    "dict": (dict, lambda v: [list(v), list(v.values())], lambda parts: dict(zip(*parts, strict=True))),
    "slice": (slice, lambda v: [v.start, v.stop, v.step], lambda parts: slice(*parts)),
    "ellipsis": (type(...), lambda v: None, lambda _: ...),
    "bytes": (bytes, lambda v: v.decode("latin-1"), lambda text: text.encode("latin-1")),
    "place": (Place, lambda v: v.number, Place),
    "dtype": (DType, lambda v: v.name, as_dtype),
    "shape": (TensorShape, lambda v: None if v.rank is None else v.as_list(), TensorShape),
    "spec": (TensorSpec, lambda v: [v.shape, v.dtype, v.name], lambda parts: TensorSpec(*parts)),
}
_TAGS = {kind: tag for tag, (kind, _, _) in _MADE.items()}


# -- writing ----------------------------------------------------------------------------------------------------------

_WHY = {
    **dict.fromkeys(("py_function", "py_func", "py_func_stateless"), "it runs a Python function, and a file holds no code"),
    "custom_gradient": "its gradient is a Python function, and a file holds no code",
    "draw": "it draws random numbers, and a file cannot keep their generator",
    "later": "it waits for sizes or values that only a run knows; give the sizes in the input signature",
    "later_stateful": "it prints, asserts, or has another effect outside of the graph",
    "call": "it calls a function that takes a variable as an argument",
}  # fmt: skip
_UNTRACKED = ("Tried to export a function which references an 'untracked' resource. TensorFlow objects (e.g. tf.Variable) captured by "
              "functions must be 'tracked' by assigning them to an attribute of a tracked object or assigned to an attribute of the "
              "main object directly. The function uses {!r}.")  # fmt: skip


class Writer:
    """Writes traced functions; ``variables`` has the numbers of the variables that the file keeps, by their ids."""

    def __init__(self, variables: dict[int, int]) -> None:
        self.variables = variables
        self.arrays: dict[str, np.ndarray] = {}
        self.bodies: list[Any] = []
        self._known: dict[int, tuple[Body, int]] = {}

    def function(self, function: Function) -> dict[str, Any]:
        """A ``tf.function`` with its traces; one with an input signature is traced if it was not yet."""
        if function.input_signature is not None:
            function.get_concrete_function()
        if function._composites:
            raise ValueError(f"{function.name} was called with ragged or sparse tensors, and a file cannot keep traces of these.")
        for trace in [*function._traces.values()]:
            if trace.body.captured:  # traced inside of another function
                function._concrete_for(trace.signature.values, [], [])
        return {"name": function.name, "signature": self._checked(function.input_signature, f"The input signature of {function.name}"),
                "parameters": self._parameters(function._parameters, function.name),
                "traces": [self.concrete(c) for c in function._traces.values()]}  # fmt: skip

    def concrete(self, concrete: ConcreteFunction) -> dict[str, Any]:
        """One trace; ValueError for what is no data, with the operation and the user's line."""
        body, label = concrete.body, concrete.label
        numbers = iter(range(len(body.flat)))
        result = nest.map_structure(lambda t: Place(next(numbers)), body.result)
        return {"name": label, "body": self._body(body), "result": self._checked(result, f"The result of {label}"),
                "values": self._checked(concrete.signature.values, f"An argument of {label}"),
                "parameters": self._parameters(concrete.signature.parameters, label)}  # fmt: skip

    def _parameters(self, parameters: Any, label: str) -> list[Any]:
        return [[p.name, _KINDS.index(p.kind), [] if p.default is p.empty else [self._checked(p.default, f"A default of {label}")]]
                for p in parameters.values()]  # fmt: skip

    def _checked(self, value: Any, what: str) -> Any:
        try:
            return self.value(value)
        except Unwritten as error:
            raise ValueError(f"{what} cannot be saved: {error.args[0]!r} is no tensor and no plain data.") from None

    def _body(self, body: Body) -> dict[str, Any]:
        """The rows that outputs and effects need, numbered anew, and which of them are inputs and outputs."""
        graph, total = body.graph, 0
        calls, leaves = needed(graph, body.fetches, body.feeds, body.effects, folds=True)
        by_row = {c.row: c for c in calls}
        rows: dict[int, int] = {}
        records = []
        for row in sorted({*body.feeds, *leaves, *by_row}):
            count = by_row[row].outputs if row in by_row else 1
            rows |= {row + i: total + i for i in range(count)}
            total += count
            records.append(self._call(graph, by_row[row], rows) if row in by_row else self._leaf(graph, row))
        return {"rows": records, "test": type(graph) is ConditionGraph, "flat": [None if t is None else rows[t._row] for t in body.flat],
                "inputs": [rows[t._row] for t in body.inputs], "places": [rows[t._row] for t in body.places]}  # fmt: skip

    def _leaf(self, graph: Any, row: int) -> list[Any]:
        tensor, leaf = graph.tensors[row], graph.leaves.get(row)
        spec = [self.value(tensor.shape), self.value(tensor.dtype)]
        given = leaf is not None and leaf.tensor is None
        return [None, tensor.op.name, spec, *([] if given else [self.value(np.asarray(constant_array(graph, row)))])]

    def _call(self, graph: Any, call: Any, rows: dict[int, int]) -> list[Any]:
        op, name = graph.op_of[call.row], _name_of_primitive(call.primitive)
        try:
            if "concrete" in call.attrs:
                self.concrete(call.attrs["concrete"])  # which may say more
            if op.gradient is not None or name is None:
                raise Unwritten
            attrs = {key: self.value(v, rows) for key, v in _kept(call.attrs).items()}
        except Unwritten:
            why, place = _WHY.get(call.primitive.name, "it is none that a file can name"), graph.place(call.row)
            where = "" if place is None else f'\n  File "{place[0]}", line {place[1]}, in {place[2].co_name}\n    {linecache.getline(*place[:2]).strip()}'
            raise ValueError(f"The operation {op.name!r} cannot be saved: {why}.{where}") from None
        outputs = [graph.tensors[call.row + i] for i in range(op.count)]
        specs = [[self.value(t.shape), self.value(t.dtype)] for t in outputs]
        return [name, op.name, [rows[r] for r in call.inputs], attrs, specs, call.row in graph.tuples]

    def value(self, value: Any, rows: dict[int, int] | None = None) -> Any:
        """A value as JSON holds it; ``Unwritten`` for what is no data. ``rows`` are the new numbers of the rows of its graph."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is list:
            return [self.value(v, rows) for v in value]
        if type(value) in _TAGS or hasattr(value, "_fields"):
            tag = _TAGS.get(type(value), "tuple")
            return {tag: self.value(_MADE[tag][1](value), rows)}
        if isinstance(value, (np.ndarray, np.generic)) or type(value) is EagerTensor:
            kind = 2 if type(value) is EagerTensor else int(isinstance(value, np.generic))
            return {"array": [kind, self.array(np.asarray(value.array if kind == 2 else value))]}
        if hasattr(value, "_read"):
            if id(value) not in self.variables:
                raise AssertionError(_UNTRACKED.format(value))
            return {"variable": self.variables[id(value)]}
        if isinstance(value, Body):
            if id(value) not in self._known:
                self._known[id(value)] = value, len(self.bodies)
                self.bodies.append(None)
                self.bodies[self._known[id(value)][1]] = self._body(value)
            return {"body": self._known[id(value)][1]}
        if isinstance(value, Primitive) and (name := _name_of_primitive(value)):
            return {"primitive": name}
        if isinstance(value, Call) and rows and value.row in rows:
            return {"call": rows[value.row]}
        if isinstance(value, Postponed) and (name := _name_of_function(value.function)):
            return {"postponed": [name, *[self.value(v, rows) for v in (value.args, value.kwargs, list(value.held))]]}
        raise Unwritten(value)

    def array(self, array: np.ndarray) -> Any:
        """The name of an array in the file; text stands where it is used."""
        if array.dtype == object:
            return [list(array.shape), [bytes(text).decode("latin-1") for text in array.flat]]
        name = f"c{len(self.arrays)}"
        self.arrays[name] = array
        return name


def _kept(attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes without what is found anew; those of a gradient have the attributes of its operation in them."""
    return {key: _kept(v) if key == "attrs" else v for key, v in attrs.items() if key not in ("again", "links")}


_KINDS = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL,
          inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)  # fmt: skip


# -- reading ----------------------------------------------------------------------------------------------------------


class Reader:
    """Reads what a :class:`Writer` wrote; any exception may come of other data."""

    def __init__(self, arrays: dict[str, np.ndarray], bodies: list[Any], variables: dict[int, Any]) -> None:
        self.arrays, self.bodies, self.variables = arrays, bodies, variables
        self._made: dict[int, Body] = {}

    def function(self, data: dict[str, Any]) -> Function:
        """A ``tf.function`` that has the traces of the file, and can make no others."""
        traces = [self.concrete(trace) for trace in data["traces"]]

        def python_function(*args: Any, **kwargs: Any) -> Any:
            options = "".join(f"\n  {c.pretty_printed_signature(False)}" for c in traces)
            raise ValueError("Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
                             f"  {args} and {kwargs}\nExpected one of these {len(traces)} signatures:{options}")  # fmt: skip

        python_function.__name__ = python_function.__qualname__ = str(data["name"])
        python_function.__signature__ = inspect.Signature([*self._parameters(data["parameters"]).values()])
        function = Function(python_function, self.value(data["signature"]), autograph=False)
        for trace in traces:
            function._traces[tuple((n, key_of(v)) for n, v in trace.signature.values.items())] = trace
        return function

    def concrete(self, data: dict[str, Any]) -> ConcreteFunction:
        """One trace."""
        name, parameters = str(data["name"]), self._parameters(data["parameters"])
        graph = FuncGraph(name)
        graph.trusted = False
        body = self._body(data["body"], graph, self.value(data["result"]))
        return ConcreteFunction(body, name, Signature(parameters, self.value(data["values"]), name), Slots(()))

    def _parameters(self, data: Any) -> dict[str, inspect.Parameter]:
        made = [inspect.Parameter(name, _KINDS[kind], default=self.value(*default) if default else inspect.Parameter.empty)
                for name, kind, default in data]  # fmt: skip
        return {p.name: p for p in made}

    def _body(self, data: Any, graph: Any, structure: Any = None) -> Body:
        with graph.as_default():
            for name, label, *rest in data["rows"]:
                if name is None:
                    self._leaf(graph, str(label), *rest)
                else:
                    self._call(graph, _primitive_named(name), str(label), *rest)
        flat = [None if row is None else graph.tensors[row] for row in data["flat"]]
        result = flat if structure is None else nest.map_structure(lambda place: flat[place.number], structure)
        body = Body(graph, [graph.tensors[row] for row in data["inputs"]], result)
        body.places = [graph.tensors[row] for row in data["places"]]
        return body

    def _leaf(self, graph: Any, label: str, spec: Any, *value: Any) -> None:
        shape, dtype = map(self.value, spec)
        if value:
            graph.constant(wrap(self.value(*value)), label)
        else:
            graph.cold.discard(graph.placeholder(dtype, shape, label)._row)

    def _call(self, graph: Any, primitive: Primitive, label: str, inputs: Any, attrs: Any, specs: Any, several: Any) -> None:
        if not all(0 <= row < len(graph) for row in inputs):
            raise ValueError(f"{label} reads a row that is not there.")
        attrs = {str(key): self.value(v, graph) for key, v in attrs.items()}
        tensors = [graph.tensors[row] for row in inputs]
        for body in _bodies_in(attrs):
            body.captured = tensors[len(tensors) - len(body.places) :]
        if primitive in (VJP, RULE):
            attrs["links"] = Links(tensors)
        graph.call_row(primitive, tuple(inputs), attrs, [tuple(map(self.value, spec)) for spec in specs], label)
        row = graph.calls[-1].row
        if several:
            graph.tuples.add(row)
        if primitive is effects.READ:
            graph.variables.setdefault(id(attrs["variable"]), (attrs["variable"], []))[1].append(row)

    def value(self, data: Any, graph: Any = None) -> Any:
        """The value that a ``Writer`` wrote."""
        if isinstance(data, list):
            return [self.value(v, graph) for v in data]
        if not isinstance(data, dict):
            return data
        ((tag, inner),) = data.items()
        if tag in _MADE:
            return _MADE[tag][2](self.value(inner, graph))
        if tag == "array":
            kind, array = inner[0], self.array(inner[1])
            return wrap(array) if kind == 2 else array[()] if kind else array
        if tag == "variable":
            return self.variables[inner]
        if tag == "body":
            if inner not in self._made:
                kind = ConditionGraph if self.bodies[inner]["test"] else BodyGraph
                self._made[inner] = self._body(self.bodies[inner], kind(graph))
            return self._made[inner]
        if tag == "primitive":
            return _primitive_named(inner)
        if tag == "call":
            return graph.calls[graph.cell(inner)[1]]
        name, *rest = inner if tag == "postponed" else ()
        return Postponed(_function_named(name), *[self.value(v, graph) for v in rest])

    def array(self, data: Any) -> np.ndarray:
        """The array that a ``Writer`` wrote."""
        if isinstance(data, str):
            array = self.arrays[data]
            return array.view(bfloat16.as_numpy_dtype) if array.dtype == "V2" else array  # which NumPy writes as bytes
        array = np.empty(len(data[1]), object)
        array[:] = [text.encode("latin-1") for text in data[1]]
        return array.reshape(data[0])


def _bodies_in(attrs: dict[str, Any]) -> Iterator[Body]:
    """The bodies of a loop or of branches, also where they are those of a gradient."""
    for value in [*attrs.values(), *attrs.get("attrs", {}).values()]:
        yield from (v for v in (value if type(value) is tuple else (value,)) if isinstance(v, Body))
