"""Formulas over large arrays: computed in blocks that fit the cache, into memory that is used again.

NumPy computes ``g * (1 - z * z)`` in three passes over main memory, each into a fresh array whose pages the operating
system first has to fill with zeros; for a million numbers that costs five times the arithmetic. Here the formula
becomes a list of ufunc calls that run block by block, with the intermediate results in a small scratch buffer, and only
the last call writes to the result. Results come from a pool: a buffer is free again when only the pool refers to
it.
"""

from __future__ import annotations

import ast
import functools
import math
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ..engine.table.code import names_in, parse

LARGE = 65_536  # elements from which on a formula runs in blocks
# elements of a block: what a formula reads and makes stays in the cache, and NumPy's calls are few enough
BLOCK = 32_768
POOL_BYTES = 2**28  # memory that the pool keeps at most


def _power(x: Any, y: Any, out: Any = None) -> Any:
    """``x`` to the ``y``; the exponents that ``x ** 2`` and its derivative have cost a product and a copy."""
    if type(y) is not np.ndarray and y == 2:
        return np.multiply(x, x, out=out)
    if type(y) is not np.ndarray and y == 1:
        return np.positive(x, out=out)
    return np.power(x, y, out=out)


UFUNCS: dict[str, Any] = {
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "pow": _power,
}
_OPERATORS = {ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide}

_lock = threading.Lock()
_pool: list[np.ndarray] = []


def _references(value: Any) -> int:
    return sys.getrefcount(value)


def _passed_on(value: Any) -> int:
    return _references(value)


def _looped(values: list[Any]) -> int:
    for value in values:
        return _references(value)
    raise IndexError


def _of_base(view: np.ndarray) -> int:
    base = view.base
    return sys.getrefcount(base)


def _calibrated() -> tuple[int, int, int]:
    """How many references are counted where no other object holds an array: that depends on the interpreter.

    For a buffer of the pool in a loop; for an array in a dictionary and a variable, handed on twice; and for the base
    of an array that is also in the pool. Every container, variable and argument holds one reference, or none where the
    interpreter lends it; what is counted beyond that is held by a debugger that looks at these very variables, and must
    not be taken for normal.
    """
    pool = [np.empty(1, np.uint8)]
    looped = _looped(pool)
    held = {0: np.empty(1)}
    before = held[0]
    walked = _passed_on(before)
    view = pool[0].view(np.int8)
    return min(looped, 4), min(walked, 5), min(_of_base(view), 4)


_FREE, _WALKED, _BASE = _calibrated()


def buffer(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An uninitialised array, in memory of the pool where a buffer of this size is free."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    with _lock:
        for raw in _pool:
            if raw.nbytes == size and _references(raw) <= _FREE:
                return raw.view(dtype).reshape(shape)
        raw = np.empty(size, np.uint8)
        _pool.append(raw)
        while len(_pool) > 1 and sum(r.nbytes for r in _pool) > POOL_BYTES:
            _pool.pop(0)
        return raw.view(dtype).reshape(shape)


def accumulate(total: np.ndarray, share: Any) -> np.ndarray:
    """``total + share``: in place when only the sweep that calls holds ``total``."""
    base = total.base
    alone = sys.getrefcount(total) <= _WALKED and (
        base is None or (base.dtype == np.uint8 and sys.getrefcount(base) <= _BASE)
    )
    if alone and total.flags.writeable and getattr(share, "dtype", None) is total.dtype:
        return np.add(total, share, out=total)
    out = buffer(total.shape, total.dtype)
    return np.add(total, share, out=out) if share.dtype is total.dtype else total + share


class Blocked:
    """A formula as a list of ufunc calls, run block by block; None from ``run`` where it does not apply.

    >>> formula = Blocked("x * (1 - x * x)")
    >>> x = np.linspace(0, 1, 100_000, dtype=np.float32)
    >>> bool(np.array_equal(formula.run({"x": x}), x * (1 - x * x)))
    True
    """

    def __init__(self, text: str) -> None:
        self.steps: list[tuple[Any, tuple[Any, ...], int]] = []  # ufunc, operands, scratch it writes to
        self.scratch = 0
        self.names = names_in(text)
        self.possible = True
        try:
            self.result = self._compile(parse(text), 0)
        except KeyError:  # a function that is no ufunc: NumPy's plain way serves
            self.possible = False
        self.possible = self.possible and bool(self.steps)

    def _compile(self, node: ast.AST, level: int) -> Any:
        """Adds the steps of an expression; its value is a name, a number, or the number of a scratch buffer."""
        self.scratch = max(self.scratch, level + 1)
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        ufunc: np.ufunc
        if isinstance(node, ast.UnaryOp):
            ufunc, parts = np.negative, [node.operand]
        elif isinstance(node, ast.BinOp):
            ufunc, parts = _OPERATORS[type(node.op)], [node.left, node.right]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            ufunc, parts = UFUNCS[node.func.id], list(node.args)
        else:
            raise KeyError(type(node))
        operands: list[Any] = []
        for part in parts:
            operand = self._compile(part, level + len([o for o in operands if type(o) is int]))
            operands.append(operand)
        self.steps.append((ufunc, tuple(operands), level))
        return level

    def run(self, values: dict[str, Any]) -> np.ndarray | None:
        """The value of the formula; ``values`` are arrays of one shape, or single numbers."""
        if not self.possible:
            return None
        flat: dict[str, Any] = {}
        like = same = None
        whole = len(self.steps) == 1  # one pass over memory anyway
        for name, value in values.items():
            if type(value) is np.ndarray and value.ndim:
                if not any(value.strides):  # one number, broadcast
                    flat[name], same = value[(0,) * value.ndim], value
                    continue
                if like is None:
                    like = value
                elif value.shape != like.shape or value.dtype != like.dtype:
                    return None
                flat[name] = value if whole else value.reshape(-1)
            else:
                flat[name] = value
        sample = same if like is None else like
        if sample is None or sample.size < LARGE or sample.dtype.kind != "f" or sample.dtype.itemsize < 4:
            return None
        if any(type(v) is not np.ndarray and getattr(v, "dtype", sample.dtype) != sample.dtype for v in flat.values()):
            return None
        steps, number = self._settled(flat)
        if not steps:  # one number everywhere
            return np.broadcast_to(sample.dtype.type(number), sample.shape)
        out = buffer(sample.shape, sample.dtype)  # in order also for views: sums add up in the same order, too
        self._blocks(steps, out if whole else out.reshape(-1))
        return out

    def _settled(self, flat: dict[str, Any]) -> tuple[list[tuple[Any, list[Any], int]], Any]:
        """The steps on arrays with their operands, those on single numbers done, and the last number found so."""
        numbers: dict[int, Any] = {}  # of scratch buffers that need not be arrays
        steps, number = [], None
        for ufunc, names, target in self.steps:
            operands = [flat[o] if type(o) is str else numbers.get(o, o) if type(o) is int else o for o in names]
            if any(type(o) is np.ndarray or type(o) is int for o in operands):
                numbers.pop(target, None)
                steps.append((ufunc, operands, target))
            else:
                numbers[target] = number = ufunc(*operands)
        return steps, number

    def _blocks(self, steps: list[tuple[Any, list[Any], int]], out: np.ndarray) -> None:
        """Runs steps block by block; an operand is a flat array, a number, or (an int) a scratch buffer."""
        if len(steps) == 1:
            ufunc, operands, _ = steps[0]
            ufunc(*operands, out=out)
            return
        scratch = [np.empty(BLOCK, out.dtype) for _ in range(self.scratch)]
        for start in range(0, out.size, BLOCK):
            part = slice(start, min(start + BLOCK, out.size))
            size = part.stop - start
            for number, (ufunc, operands, target) in enumerate(steps):
                inputs = [
                    scratch[o][:size] if type(o) is int else o[part] if type(o) is np.ndarray else o for o in operands
                ]
                ufunc(*inputs, out=out[part] if number == len(steps) - 1 else scratch[target][:size])


def by_formula(text: str, names: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    """``plain``, or the same formula in blocks where one of its arguments (called ``names``) is a large array."""
    formula: list[Blocked] = []

    def function(*arguments: Any) -> Any:
        for a in arguments:
            if type(a) is np.ndarray and a.size >= LARGE:
                break
        else:
            return plain(*arguments)
        if not formula:
            formula.append(Blocked(text))
        used = {n: a for n, a in zip(names, arguments, strict=False) if n in formula[0].names}
        found = formula[0].run(used)
        return plain(*arguments) if found is None else found

    return function


@functools.cache
def slices(count: int, block: int = BLOCK) -> list[slice]:
    """Blocks of nearly the same size: a function may treat a small one otherwise."""
    parts = -(-count // block)
    ends = [count * k // parts for k in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(ends)]


def by_blocks(function: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise function of float arrays that runs block by block where they are large, all of one shape and
    dtype.

    >>> halved = by_blocks(lambda x, y: np.where(x > y, x, 0.5 * x))
    >>> x = np.linspace(0, 1, 100_000, dtype=np.float32)
    >>> bool(np.array_equal(halved(x, 1 - x), np.where(x > 1 - x, x, 0.5 * x)))
    True
    """

    @functools.wraps(function)
    def run(*values: Any, **attrs: Any) -> Any:
        arrays = [v for v in values if type(v) is np.ndarray and v.ndim and any(v.strides)]
        like = arrays[0] if arrays else None
        if like is None or like.size < LARGE or like.dtype.kind != "f" or like.dtype.itemsize < 4:
            return function(*values, **attrs)
        values = tuple(
            [v if type(v) is not np.ndarray or not v.ndim or any(v.strides) else v[(0,) * v.ndim] for v in values]
        )
        if any(getattr(v, "dtype", like.dtype) != like.dtype for v in values):
            return function(*values, **attrs)
        if any(a.shape != like.shape or not a.flags.c_contiguous for a in arrays):
            return function(*values, **attrs)
        return in_blocks(function, values, like.shape, like.dtype, attrs)

    return run


def in_blocks(
    function: Callable[..., Any], values: Any, shape: tuple[int, ...], dtype: Any, attrs: Any, block: int = BLOCK
) -> np.ndarray:
    """What an elementwise function gives for arrays of this shape (in order) and single numbers, block by block."""
    flat = [v.reshape(-1) if type(v) is np.ndarray and v.ndim else v for v in values]
    out = buffer(shape, dtype)
    whole = out.reshape(-1)
    for part in slices(out.size, block):
        whole[part] = function(*[v[part] if type(v) is np.ndarray and v.ndim else v for v in flat], **attrs)
    return out
