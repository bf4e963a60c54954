"""The sentences of ``explain`` that are the same for every framework; see the texts of a bridge for the words in
braces; {functions} are those of the framework that fix it.
"""

from __future__ import annotations

from ..explain.value_texts import VALUE_TEXTS, Texts

UNNAMED_ARRAY = "the array"  # one without a name

SHARED_TEXTS: Texts = VALUE_TEXTS | {
    # cause: (what happened, what fixes it)
    "connected": ("{x} has a gradient.", ""),
}
