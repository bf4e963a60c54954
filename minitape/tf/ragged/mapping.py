"""Functions of the user on ragged tensors: on all values at once, or on one row after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine import nest
from ...engine.convert import convert_to_tensor
from ...engine.invalid import invalid
from ...engine.operands import placed
from . import checks, elementwise
from .functions import stack
from .parts import all_splits, is_ragged, nvals
from .spec import RaggedTensorSpec


@placed
def map_flat_values(op: Any, *args: Any, **kwargs: Any) -> Any:
    """``op`` on the flat values of all ragged arguments; ValueError when their numbers differ.

    All ragged arguments must be cut in the same way, and ``op`` must keep the number of values. Differentiable as
    ``op`` is.

    >>> import minitape as tf
    >>> tf.ragged.map_flat_values(lambda x: x * 10, tf.ragged.constant([[1], [2, 3]]))
    <tf.RaggedTensor [[10], [20, 30]]>
    """
    ragged = [v for v in (*args, *kwargs.values()) if is_ragged(v)]
    if not ragged:
        return op(*args, **kwargs)
    sizes = {nvals(v.flat_values) for v in ragged}
    if len(sizes) > 1:
        raise ValueError(
            f"Input RaggedTensors' flat_values must all have the same outer-dimension size.  Got sizes: {sizes}"
        )
    if len({v.ragged_rank for v in ragged}) > 1:
        raise ValueError("All ragged inputs must have the same ragged_rank.")
    for v in ragged[1:]:
        if [s.tolist() for s in all_splits(v)] != [s.tolist() for s in all_splits(ragged[0])]:
            a, b = next(
                (a, b) for a, b in zip(all_splits(ragged[0]), all_splits(v), strict=False) if not np.array_equal(a, b)
            )
            raise checks.unequal(
                a, b, "RowPartition._merge_precomputed_encodings: partitions have incompatible row_splits\n"
            )
    result = op(
        *[v.flat_values if is_ragged(v) else v for v in args],
        **{k: v.flat_values if is_ragged(v) else v for k, v in kwargs.items()},
    )
    size = sizes.pop()
    if not result.shape or int(result.shape[0]) != size:
        raise ValueError(
            "tf.ragged.map_flat_values requires that the output of `op` have the same outer-dimension size as "
            f"flat_values of any ragged inputs. (output shape: {result.shape}; expected outer dimension size: {size})"
        )
    return ragged[0].with_flat_values(result)


def map_fn(plain: Any, fn: Any, elems: Any, dtype: Any = None, parallel_iterations: int | None = None,
           back_prop: bool = True, swap_memory: bool = False, infer_shape: bool = True, name: str | None = None,
           fn_output_signature: Any = None) -> Any:  # fmt: skip
    """A function of each row; rows of different lengths come out ragged. The arguments are those of ``tf.map_fn``.

    Without a signature the results are like the rows that they are made of. ``infer_shape`` has no effect.
    """
    parts = [v if is_ragged(v) else convert_to_tensor(v) for v in nest.flatten(elems)]
    results = [fn(nest.pack_sequence_as(elems, [part[i] for part in parts])) for i in range(nvals(parts[0]))]
    wanted = dtype if fn_output_signature is None else fn_output_signature
    if not results:
        return elems
    if wanted is None:
        nest.assert_same_structure(elems, results[0])
        kinds = [_row_like(part) for part in parts]
    else:
        kinds = nest.flatten(wanted)
    columns = zip(*[nest.flatten(r) for r in results], strict=True)
    found = [_gathered(list(column), kind) for column, kind in zip(columns, kinds, strict=True)]
    return nest.pack_sequence_as(results[0], found)


def _row_like(part: Any) -> Any:
    """The type of what is made of the rows of a tensor, where nothing else is said."""
    return RaggedTensorSpec(None, part.dtype, part.ragged_rank - 1) if is_ragged(part) else part.dtype


def _gathered(items: list[Any], kind: Any) -> Any:
    """The results for all rows as one tensor, of the type ``kind``: a dtype, or the spec of one result."""
    items = [item if is_ragged(item) else convert_to_tensor(item) for item in items]
    wanted = getattr(kind, "dtype", kind)
    for item in items:
        if item.dtype != wanted:
            raise invalid(f"TensorArray dtype is {wanted.name} but Op is trying to write dtype {item.dtype.name} ")
    if not isinstance(kind, RaggedTensorSpec) and not any(map(is_ragged, items)):
        for item in items[1:]:
            if item.shape != items[0].shape:
                raise ValueError(f"Incompatible shape for value ({item.shape}), expected ({items[0].shape})")
        return elementwise.function("stack")(items, 0)
    if not len(items[0].shape):
        raise invalid("Ragged values must have rank >= 1; encoded scalar element at index 0 has values Tensor: "
                      f"Tensor<type: {wanted.name} shape: [] values: {items[0].array}>", "RaggedTensorFromVariant")  # fmt: skip
    made = stack(items, 0)
    if not any(map(is_ragged, items)):
        made._uniform = None
    return made
