"""Python functions of the user as rows of a trace: ``custom_gradient``, ``py_function``, ``numpy_function``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np

from ..engine.derivatives.custom import CustomCall, arrays_of, as_tensor, call_as_row
from ..engine.derivatives.pyfunction import note_run, run_python, types_of_results
from ..engine.recording.block import During
from ..engine.recording.state import state
from ..engine.table.primitives import Primitive
from ..engine.tensor.convert import convert_to_tensor
from ..engine.tensor.operation import finish
from ..engine.tensor.tensor import EagerTensor, Tensor, from_array, new_tensor
from ..engine.values import nest
from .rows import Row, boxed, row, row_in_sweep


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

    def made(call: CustomCall, results: list, inputs: list) -> list[EagerTensor]:
        outputs = [from_array(t._value) for t in results]
        finish(CUSTOM, (*results, *inputs), {"call": call, "results": len(results)}, tuple(outputs))
        state.record.calls_python = True
        return outputs

    return call_as_row(f, args, kwargs, made)


class PythonRow(Row):
    """A py_function. Its last output is the run, with the tape that the gradient asks."""

    def __init__(self, func: Callable, count: int, *given: Any) -> None:
        super().__init__(*given)
        self.func, self.count = func, count

    def shares(self, g: Any, z: Any, *inputs: Any) -> list:
        """The shares of the inputs: what the tape of the run gives."""
        ran, gs = z[-1], list(g)[:-1]
        flows = [i for i, t in enumerate(inputs[: self.count]) if t.dtype.differentiable]
        like = [(tuple(inputs[i].shape), inputs[i]._value.dtype) for i in flows]

        def sweep(ran: EagerTensor, *gs: EagerTensor) -> list[EagerTensor]:
            found = ran._value[()].run_gradient(gs)
            return [from_array(np.broadcast_to(s._value, shape)[()]) for s, (shape, _) in zip(found, like, strict=True)]

        given = [ran if isinstance(ran, Tensor) else boxed(ran[()]), *gs]
        found = row_in_sweep("py_function_gradient", sweep, given, like, op="EagerPyFunc")
        shares: list = [None] * len(inputs)
        for i, share in zip(flows, found, strict=True):
            shares[i] = share
        return shares


def python_row(func: Callable, inputs: Sequence[Tensor], dtypes: list) -> list[EagerTensor]:
    """A py_function in a trace."""

    changed = [(v, state.record.states[key]) for key, v in state.record.assigned.items()]  # which func may look at
    count = len(inputs)

    def run(*tensors: EagerTensor) -> list[EagerTensor]:
        with ExitStack() as blocks:
            for (variable, _), now in zip(changed, tensors[count:], strict=True):
                blocks.enter_context(During(variable, _state=now, _seen=None))
            call = run_python(func, tensors[:count], dtypes, differentiate=True)
        note_run(func, call)
        return [*(new_tensor(o._value) for o in call.outputs), boxed(call)]

    given = [*inputs, *(now for _, now in changed)]
    return row("py_function", run, given, op="EagerPyFunc", stateful=True, kind=partial(PythonRow, func, count))[:-1]


def numpy_row(func: Callable, inp: Any, Tout: Any, stateful: bool) -> Any:
    """A numpy_function in a trace."""
    dtypes, several = types_of_results(Tout)

    def run(*tensors: EagerTensor) -> list[EagerTensor]:
        result = func(*[np.array(t._value) for t in tensors])
        return [convert_to_tensor(v, d) for v, d in zip(nest.flatten(result), dtypes, strict=True)]

    found = row("numpy_function", run, [*map(convert_to_tensor, inp)], op="PyFunc", stateful=stateful, rules=False)
    return found if several else found[0]
