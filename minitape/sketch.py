"""Sketches: the rule of a call is run once on names instead of arrays, to write down what it does.

A rule for a product asks at every sweep what its arrays are, swaps the axes of one and multiplies. A sketch knows the name,
the shape and the dtype of an array; the primitives that the rule applies to sketches give sketches of their results,
whose text is what a program has to say: ``d1(g4, d2(v3))`` with ``d2`` the transposition and ``d1`` NumPy's ``dot``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .primitives import STAND_INS, TABLE
from .primitives.formula import template


class Unsketched(Exception):
    """The rule asked for more than a sketch knows."""


class Sketch:
    """The text for an array (or a number) of this shape and dtype; ``scope`` collects the functions that texts call.

    ``even`` are the text for a number and the name of a function, where the array is that number spread by it.
    """

    __slots__ = ("text", "shape", "dtype", "scope", "read", "even")
    __array_ufunc__ = None  # NumPy leaves operators to this class

    def __init__(self, text: str, shape: tuple[int, ...], dtype: Any, scope: dict[str, Any]) -> None:
        self.text, self.shape, self.dtype, self.scope = text, shape, dtype, scope
        self.read = False
        self.even: tuple[str, str] | None = None

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))

    def _unknown(self, *asked: Any) -> Any:
        raise Unsketched

    __array__ = __bool__ = __eq__ = __float__ = _unknown
    __hash__ = None

    def __neg__(self) -> Sketch:
        return _apply(TABLE["negative"], (self,), {})


def _operator(name: str, primitive: str) -> None:
    setattr(Sketch, f"__{name}__", lambda self, other: _apply(TABLE[primitive], (self, other), {}))
    setattr(Sketch, f"__r{name}__", lambda self, other: _apply(TABLE[primitive], (other, self), {}))


for _name, _primitive in (("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("pow", "pow")):
    _operator(_name, _primitive)


def _apply(primitive: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Sketch:
    """The sketch of what a primitive gives for sketches, and numbers beside them."""
    like = next(i for i in inputs if type(i) is Sketch)
    texts = [_text(i, like.dtype) for i in inputs]
    shapes = [i.shape if type(i) is Sketch else () for i in inputs]
    shape = None if primitive.shape is None else primitive.shape(*shapes, **attrs)
    if shape is None:
        raise Unsketched
    name = ""
    if primitive.code and not attrs:
        text = f"({template(primitive.texts[0], 'a_').format(x=texts[0], y=texts[-1])})"
    else:
        name = direct(primitive, like.dtype, shapes, attrs, like.scope) or ""
        if not name:
            raise Unsketched
        text = f"{name}({', '.join(texts)})"
    made = Sketch(text, shape, like.dtype, like.scope)
    if primitive.name == "broadcast_to" and shapes == [()]:
        made.even = texts[0], name
    return made


STAND_INS[Sketch] = _apply


def _text(value: Any, dtype: Any) -> str:
    if type(value) is Sketch and value.dtype is dtype:
        if value.read and not value.text.isidentifier():  # it would be computed twice
            raise Unsketched
        value.read = True
        return value.text
    if (type(value) is float or type(value) is int) and math.isfinite(value):
        return f"({value!r})"
    raise Unsketched


def direct(primitive: Any, dtype: Any, shapes: Sequence[Any], attrs: dict[str, Any], scope: dict[str, Any]) -> str | None:
    """The name in ``scope`` of the function that the primitive comes to for such arrays; None where there is none."""
    function = None if primitive.direct is None else primitive.direct(dtype, *shapes, **attrs)
    if function is None:
        return None
    name = f"d{len(scope)}"
    scope[name] = function
    return name


def shares(primitive: Any, wanted: Sequence[int], g: Sketch, z: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
    """The sketches of the shares of the ``wanted`` inputs, by position; None where the rules ask for more."""
    rules: Callable[..., Any] | Sequence[Any] = primitive.rules
    try:
        if callable(rules):
            found = rules(g, z, *inputs, **attrs)
            given = {i: found[i] for i in wanted}
        else:
            given = {i: rules[i](g, z, *inputs, **attrs) for i in wanted if rules[i] is not None}
    except Exception:  # whatever a rule does to arrays that can not be done to a sketch
        return None
    return given if all(type(s) is Sketch for s in given.values()) else None
