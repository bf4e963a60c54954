"""A step that changed a variable by the gradient of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...common.texts import paragraph
from ...recording.nodes import place_of_origin, placed
from ...recording.origins import Ref, origin_of, read
from ..caller import asking_names, warn_user
from ..sentences import fill
from ..value_texts import OF_TAPE
from .names import reach
from .question import Finding

if TYPE_CHECKING:
    from ...engine.types import End

CHANGES = ("assign_sub", "assign_add")  # how optimizers change variables


def changed_by_others(variable: End) -> Finding | None:
    """Where a variable was changed last by gradients, when its own is not among them."""
    held = getattr(variable, "_state", None)
    change = None if held is None else origin_of(held)
    if change is None or change.kind not in CHANGES or not change.inputs:
        return None
    found = gradients_in(change.inputs[0])
    if not found or any(one is variable for one in found):
        return None
    return Finding("swapped", placed(place_of_origin(change)), other=_named(found), sources=found)


def gradients_in(value: Ref) -> list[End]:
    """The sources whose gradients a value was computed from, as far as they live."""
    found: list[End] = []
    waiting, seen = [value], set()
    while waiting:
        ref = waiting.pop()
        tensor = ref.tensor()
        one = read(ref.origin) if tensor is None else origin_of(tensor)
        if one is None or (one.when, id(one.detail)) in seen:  # the gradients of one call have one time
            continue
        seen.add((one.when, id(one.detail)))
        if one.kind == "gradient":
            source = None if one.detail is None else one.detail()
            found += [] if source is None else [source]
        else:
            waiting += one.inputs
    return found


def _named(variables: Sequence[End]) -> str:
    names = asking_names().items()
    return fill(" and ").join(dict.fromkeys(reach(names, one) or fill("the source") for one in variables))


def warn_of_step(variables: Sequence[End]) -> None:
    """Warns of the variables of one step of an optimizer that the gradients of others among them have changed."""
    plain = [v._gradient_leaf() if hasattr(v, "_gradient_leaf") else v for v in variables]
    for variable in plain:
        found = changed_by_others(variable)
        if found is not None and all(any(one is v for v in plain) for one in found.sources):
            message, fix = OF_TAPE["swapped"]
            warn_user(paragraph(fill(message, x=_named([variable]), other=found.other, line=""), fill(fix)))
            return  # once for a step
