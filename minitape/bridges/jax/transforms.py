"""Choose the ``jax.vmap`` example, the Jacobian row or the call that a recording should show."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jax.tree_util import tree_leaves, tree_map

from ...engine.types import OptionalNumber
from .recording import jax
from .row_log import is_inexact


def flatten_tree_into_vector(results: Any) -> Any:
    """Concatenate all elements of a tree of arrays into one vector.

    Args:
        results: The tree.

    >>> flatten_tree_into_vector({"a": jax.numpy.ones(2), "b": 3.0}).shape
    (3,)
    """
    return jax.numpy.concatenate([jax.numpy.ravel(leaf) for leaf in tree_leaves(results)])


def find_first_nonfinite_or_first_row(jacobian: Any, source: Any) -> int:
    """Return the number of a Jacobian's first non-finite row, or 0 if all rows are finite.

    Args:
        jacobian: The Jacobian or the Hessian, as a tree of arrays.
        source: The differentiated argument.
    """
    sources = tree_leaves(source)
    blocks = tree_leaves(jacobian)
    row = 0
    for number in range(0, len(blocks), len(sources)):
        shared = [
            np.asarray(block).reshape(-1, max(1, np.size(leaf)))
            for block, leaf in zip(blocks[number : number + len(sources)], sources, strict=False)
        ]
        nonfinite_rows = np.flatnonzero(~np.all([np.isfinite(block).all(1) for block in shared], axis=0))
        if nonfinite_rows.size:
            return row + int(nonfinite_rows[0])
        row += len(shared[0])
    return 0


def find_nonfinite_or_first_example(results: Any, out_axes: Any) -> int:
    """Return the index of the first example of ``jax.vmap`` with a non-finite result, or 0 if all are finite.

    Args:
        results: The results, as a tree of arrays.
        out_axes: The axes of the examples in the results, as for ``jax.vmap``.

    >>> find_nonfinite_or_first_example(jax.numpy.array([[1.0, 2.0], [3.0, jax.numpy.nan]]), 1)
    1
    """
    nonfinite_examples = []

    def search_leaf(axis: OptionalNumber, leaf: Any) -> None:
        if axis is not None and is_inexact(leaf):
            examples = np.moveaxis(np.asarray(leaf), axis, 0)
            is_finite = np.isfinite(examples.reshape(len(examples), -1)).all(1)
            nonfinite_examples.extend(np.flatnonzero(~is_finite)[:1].tolist())

    map_along_axes(search_leaf, out_axes, results)
    return min(nonfinite_examples, default=0)


def select_example_of_vmap(arguments: Any, axes: Any, index: int) -> Any:
    """Return the arguments of one example of ``jax.vmap``.

    Args:
        arguments: The arguments, as a tree of arrays.
        axes: The axes of the examples, as for ``jax.vmap``.
        index: The number of the example.

    >>> select_example_of_vmap(({"a": jax.numpy.arange(3)}, 5.0), (0, None), 2)
    ({'a': Array(2, dtype=int32)}, 5.0)
    """

    def take_leaf(axis: OptionalNumber, leaf: Any) -> Any:
        return leaf if axis is None else jax.lax.index_in_dim(jax.numpy.asarray(leaf), index, axis, keepdims=False)

    return map_along_axes(take_leaf, axes, arguments)


def map_along_axes(function: Callable[[OptionalNumber, Any], Any], axes: Any, tree: Any) -> Any:
    """Call a function for each leaf of a tree, with the leaf's axis and array, and return the results as a tree.

    Args:
        function: The function.
        axes: An axis, None, or a tree of axes. Each axis applies to the whole subtree at the same position in `tree`.
        tree: The tree of arrays.
    """
    axes = tuple(axes) if isinstance(axes, list) and isinstance(tree, tuple) else axes
    return tree_map(
        lambda axis, part: tree_map(lambda leaf: function(axis, leaf), part),
        axes,
        tree,
        is_leaf=lambda axis: axis is None,
    )


def list_float_arrays(tree: Any) -> list:
    """Return the JAX arrays in a tree that have a floating-point or complex dtype.

    Args:
        tree: The tree.
    """
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, jax.Array) and is_inexact(leaf)]


def are_alive_and_finite(arrays: list) -> bool:
    """Return whether arrays still exist and are finite. JAX deletes arrays that are donated to a compiled function.

    Args:
        arrays: The arrays.

    >>> are_alive_and_finite([jax.numpy.ones(2)])
    True
    >>> are_alive_and_finite([jax.numpy.ones(2), jax.numpy.array(jax.numpy.inf)])
    False
    """
    return all(not array.is_deleted() and np.isfinite(np.asarray(array)).all() for array in arrays)
