"""The sentences of ``explain`` that are the same for every framework.

The words in braces are explained in the ``sentences`` module of each bridge. {functions} lists the functions of the
framework that fix a cause.
"""

from __future__ import annotations

from ..explain.value_texts import VALUE_TEXTS, Texts

UNNAMED_ARRAY = "the array"

SHARED_TEXTS: Texts = VALUE_TEXTS | {
    # Each cause has two sentences: what happened, and how to fix it.
    "connected": ("{x} has a gradient.", ""),
}
