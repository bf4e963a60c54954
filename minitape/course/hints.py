"""What wrong results have in common beside the right ones: said from the results alone, so that it holds for every
exercise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..engine.texts import say
from .compare import as_array

if TYPE_CHECKING:
    from .exercise import Answer

EXACT = 1e-4


def in_common(given: Sequence[Answer], expected: Sequence[Answer]) -> str:
    """One sentence on all results of a function, in its cases; "" where they have nothing in common.

    >>> in_common([-6.0, -12.0], [6.0, 12.0])
    'All your results have the wrong sign.'
    >>> in_common([7.0, 7.0], [6.0, 12.0])
    'Your function gives the same, whatever it is given. What should its result depend on?'
    >>> in_common([3.0, 6.0], [6.0, 12.0]), in_common([6.0, 1.0], [6.0, 12.0])
    ('All your results are 0.5 times what they should be.', '')
    """
    given, expected = [*map(as_array, given)], [*map(as_array, expected)]
    if all(isinstance(one, str) for one in given):
        return say("Your function gives back a text. Give back the number itself.")
    if all(
        isinstance(one, (list, tuple)) and len(one) == 1 and np.shape(one[0]) == np.shape(right)
        for one, right in zip(given, expected, strict=True)
    ):
        return say("Your result stands in brackets of its own. Leave them out.")
    a, b = _numbers(given), _numbers(expected)
    if a is None or b is None or a.shape != b.shape:
        return ""
    if len(given) > 1 and all(np.array_equal(one, given[0]) for one in given) and not np.allclose(b, b[0]):
        return say("Your function gives the same, whatever it is given. What should its result depend on?")
    factor = a @ b / (b @ b) if b.any() else 0.0
    if np.allclose(a, factor * b, rtol=EXACT, atol=EXACT) and len(b) > 1 and factor:
        if round(factor, 3) == -1.0:
            return say("All your results have the wrong sign.")
        return say("All your results are {factor} times what they should be.", factor=f"{factor:.3g}")
    offset = float(np.mean(a - b))
    if np.allclose(a - b, offset, rtol=EXACT, atol=EXACT) and len(b) > 1 and round(offset, 3):
        return say("All your results are off by {offset}.", offset=f"{offset:.3g}")
    return ""


def _numbers(results: Sequence[Answer]) -> np.ndarray | None:
    """All numbers of some results in a row; None where there is anything else."""
    try:
        flat = np.concatenate([np.ravel(np.asarray(result, np.float64)) for result in results])
    except (TypeError, ValueError):
        return None
    return flat if np.isfinite(flat).all() else None
