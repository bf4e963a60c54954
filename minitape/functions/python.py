"""Python functions of the user as rows of a trace: ``custom_gradient``, ``py_function``, ``numpy_function``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from ..engine.derivatives.custom import CustomCall, arrays_of, as_tensor, call_as_row
from ..engine.derivatives.pyfunction import note_run, run_python, types_of_results
from ..engine.recording.block import TemporaryAttributes, no_tapes
from ..engine.table.primitives import Primitive
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import finish
from ..engine.tensor.tensor import Tensor, from_array
from ..engine.values import nest
from .rows import Row, write
from .trace import tracing


def _shares(g: Any, z: Any, *inputs: Any, call: CustomCall, results: int) -> list:
    gs = list(g) if isinstance(g, (list, tuple)) else [g]
    found = [None] * results + call.shares([as_tensor(one) for one in gs])
    return found if any(isinstance(one, Tensor) for one in gs) else [arrays_of(share) for share in found]


class CustomRow(Primitive):
    """Of what a function returned and of its arguments: in each run the former is what it gives."""

    gives_tuple = True


CUSTOM = CustomRow(
    "custom_gradient", lambda *arrays, call, results: tuple(arrays[:results]), _shares, op="IdentityN", label="custom"
)


def custom_row(f: Callable, args: Sequence, kwargs: dict) -> Any:
    """A call of a function with its own gradient in a trace."""

    def made(call: CustomCall, results: list, inputs: list) -> list:
        outputs = [from_array(t._value) for t in results]
        finish(CUSTOM, (*results, *inputs), {"call": call, "results": len(results)}, tuple(outputs))
        return outputs

    return call_as_row(f, args, kwargs, made)


def python_row(func: Callable, inp: Any, Tout: Any) -> Any:
    """A py_function in a trace: its notes are the run, whose tape the gradient asks."""
    dtypes, several = types_of_results(Tout)
    inputs, trace = [*map(convert_to_tensor, inp)], tracing()
    assert trace is not None
    changed = [(v, trace.states[key]) for key, v in trace.assigned.items()]  # which func may look at
    count = len(inputs)

    def run(arrays: Sequence, noted: bool) -> list:
        tensors = [*map(from_array, arrays)]
        with no_tapes(), ExitStack() as blocks:
            for (variable, _), now in zip(changed, tensors[count:], strict=True):
                blocks.enter_context(TemporaryAttributes(variable, _state=now, _seen=None))
            call = run_python(func, tensors[:count], dtypes, differentiate=True)
        note_run(func, call)
        return [*(o._value for o in call.outputs), call]

    def sweep(flows: Sequence, inputs: Sequence, gs: Sequence, call: Any) -> list:
        found = call.run_gradient([g if isinstance(g, Tensor) else from_array(g) for g in gs])
        shares = [np.broadcast_to(s._value, inputs[i].shape)[()] for i, s in zip(flows, found, strict=True)]
        return [*map(from_array, shares)] if isinstance(gs[0], Tensor) else shares

    row = Row("py_function", run, sweep, op="EagerPyFunc", stateful=True, notes=True)
    row.cut, row.func = set(range(count, count + len(changed))), func  # type: ignore[attr-defined]
    found = write(row, [*inputs, *(now for _, now in changed)])[:-1]
    return found if several else found[0]


def numpy_row(func: Callable, inp: Any, Tout: Any) -> Any:
    """A numpy_function in a trace."""
    dtypes, several = types_of_results(Tout)

    def run(arrays: Sequence, noted: bool) -> list:
        with no_tapes():
            found = nest.flatten(func(*map(np.array, arrays)))
            return [convert_to_tensor(v, d)._value for v, d in zip(found, dtypes, strict=True)]

    found = write(Row("numpy_function", run, op="PyFunc", stateful=True), [*map(convert_to_tensor, inp)])
    return found if several else found[0]
