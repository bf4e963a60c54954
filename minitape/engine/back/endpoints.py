"""What may be given as targets, sources and output gradients, and the structure in which gradients come back."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from operator import is_
from typing import TYPE_CHECKING

from ..above import above
from ..tensor.tensor import EagerTensor
from ..values import nest

if TYPE_CHECKING:
    from ..typed import Adjoint, End, Object, Result, Structure
    from .tape import GradientTape

NO_SEED = object()  # None among the output gradients, which no operation takes


class UnconnectedGradients(Enum):
    """What ``gradient`` returns for a source that the target does not depend on: None or zeros.

    >>> import minitape as tf
    >>> tf.UnconnectedGradients.ZERO.value
    'zero'
    """

    NONE = "none"
    ZERO = "zero"


def no_tensor(values: Sequence[object]) -> Exception:
    """The error for targets or sources of which some are no tensors: TensorFlow takes each for a dtype first."""
    plain = next((v for v in values if type(v) is not EagerTensor and not hasattr(v, "_tape_rows")), None)
    return above.why_no_tensor(_for_no_tensor(values), plain)


def _for_no_tensor(values: Sequence[Object]) -> Exception:
    from ..values.dtypes import as_dtype

    first = None
    for value in values:
        if type(value) is EagerTensor or hasattr(value, "_tape_rows"):
            continue
        missing = "_id"
        if not hasattr(value, "dtype"):
            try:
                number = isinstance(value, float) and value.is_integer()
                missing = "_id" if as_dtype(int(value) if number else value).differentiable else "dtype"
            except TypeError as error:
                return error
        kind = type(value)
        plain = kind.__module__ == "builtins" or kind.__flags__ & 1 << 9  # classes of Python go without their module
        name = kind.__name__ if plain else f"{kind.__module__}.{kind.__name__}"
        owner = f"type object {value.__name__!r}" if isinstance(value, type) else f"{name!r} object"
        found = AttributeError(f"{owner} has no attribute {missing!r}")
        if missing == "dtype":
            return found
        first = first or found
    return first or AttributeError("no tensor")


def wants_zeros(unconnected_gradients: object) -> bool:
    """True for "zero", False for "none"; ValueError otherwise."""
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None


def given_seeds(output_gradients: Structure, count: int) -> list[Adjoint]:
    """The adjoints that the user gives to the targets; missing ones are ones, superfluous ones are left over."""

    given = [NO_SEED if g is None else g if hasattr(g, "_gradient_leaf") else above.convert_to_tensor(g)
             for g in nest.flatten(output_gradients)][:count]  # fmt: skip
    return [*map(leaf_of, given)] + [None] * (count - len(given))


def leaf_of(value: End) -> End:
    """What carries the gradient of a composite (ragged, sparse, a Keras variable): its flat values; else ``value``."""
    return value if type(value) is EagerTensor or not hasattr(value, "_gradient_leaf") else value._gradient_leaf()


def flat_leaf(value: End) -> End:
    """The tensor of a ragged tensor that gradients flow through, of another value itself; ValueError for sparse ones."""
    return value._gradient_leaf() if hasattr(value, "_composite") and hasattr(value, "_gradient_leaf") else value


def like_flat(value: End, tensor: Result) -> Result:
    """``tensor`` in the place of ``flat_leaf(value)``."""
    return value._like_gradient(tensor) if hasattr(value, "_composite") and hasattr(value, "_like_gradient") else tensor


def ends_of(structure: Structure) -> tuple[list[End], list[End]]:
    """What is in a structure of targets or sources, and what carries their gradients: mostly the very same list."""
    if type(structure) is EagerTensor:
        values = [structure]
        return values, values
    values = nest.flatten(structure)
    for value in values:
        if type(value) is not EagerTensor and hasattr(value, "_gradient_leaf"):
            return values, [leaf_of(v) for v in values]
    return values, values


def reads_target(tape: GradientTape, target: End) -> bool:
    """Whether the tape sees that a Jacobian takes the elements out of its target: where that is a variable to watch."""
    if not hasattr(target, "_read"):
        return False
    variable: Object = getattr(
        target, "_base", target
    )  # what an assignment returned is watched only where its variable is
    return id(variable) in tape.variables or (
        variable is target and target.trainable and tape._watch_accessed_variables
    )


def packed(structure: Structure, values: list[End], gradients: list[Result]) -> Structure:
    """The gradients of ``values``, which are what is in the structure, in the same structure."""
    if type(structure) is list:
        if len(structure) == len(values) and all(map(is_, structure, values)):
            return gradients
    elif values and structure is values[0]:
        return gradients[0]
    return nest.pack_sequence_as(structure, gradients)
