"""``minitape.explain``: why a gradient is None, on which line, and what mends it; ``tape.explain`` asks it.

The recording knows every operation under a tape; :mod:`minitape.evidence` adds what happened outside. From both,
:mod:`trace` makes one graph of the way from source to target, breaks included, and :mod:`reasons` names the first one.
"""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.explain", {
    "explain.answer": "explain warn",
    "explain.words": "Explanation",
}, globals())  # fmt: skip
