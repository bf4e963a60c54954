"""How an operation is run and recorded, in one pass: the fast form of :mod:`minitape.engine.tensor.operation`."""

from __future__ import annotations

from sys import _getframe
from typing import TYPE_CHECKING

from numpy import ndarray

from ..engine.recording.rows import REALS
from ..engine.recording.state import state
from ..engine.table.fp import ignore_fp_errors
from ..engine.table.primitives import Primitive
from ..engine.table.primitives.elementwise import form_of
from ..engine.tensor.tensor import EagerTensor, from_array

if TYPE_CHECKING:
    from ..engine.types import Array, Function, Object


def apply(plain: Function) -> Function:
    """The fast form of :func:`minitape.engine.tensor.operation.apply`, which says what it does: one walk over the
    inputs, one tensor.
    """
    from ..engine.tensor import operation as home

    def apply(primitive: Primitive, inputs: Object, attrs: Object, frame: Object = None) -> Object:
        record = state.record
        arrays: list[Array] = []
        made: Object
        tensors: tuple[EagerTensor, ...]
        for t in inputs:
            if type(t) is not EagerTensor:
                return plain(primitive, inputs, attrs, frame or _getframe(1))
            arrays.append(t._value)
        if primitive.code:
            x, y = arrays[0], arrays[-1]
            like = x if type(y) is not ndarray or (type(x) is ndarray and x.size > y.size) else y
            out = ignore_fp_errors().run(form_of(primitive.code, like).forward, *arrays)
        else:
            out = ignore_fp_errors().run(primitive.forward, *arrays, **attrs)
        kind = type(out)
        if (kind is ndarray and out.shape) or kind in REALS:
            made = EagerTensor()
            made._value, made._record, made._origin = out, None, None
            tensors = (made,)
        elif kind is tuple:
            made = tensors = tuple(map(from_array, out))
        else:
            made = from_array(out)
            tensors = (made,)
        if record is None:
            home.finish(primitive, inputs, attrs, tensors, frame or _getframe(1))
        else:
            record.write(primitive, inputs, attrs, tensors, frame or _getframe(1))
        return made

    return apply
