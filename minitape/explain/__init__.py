"""``minitape.explain``: why a gradient is None, on which line, and how to fix it.

``tape.explain(target, sources)`` asks about one tape, before or after its gradient. After ``tf.explain.warn()`` every
gradient that is None says why, as a warning. Errors that a None leads to carry the reason in a note.

>>> import minitape as tf
>>> x = tf.constant(3.0)
>>> with tf.GradientTape() as tape:
...     y = x * x
>>> print(tape.explain(y, x).fix)
Call tape.watch(x) inside the block before x is used, or make it a tf.Variable.

How it works: the recording knows every operation under a tape; :mod:`minitape.engine.recording.evidence` adds what
happened outside. From both, ``reasons/tape.py`` makes rows, and a list of checks names the first cause that fits.

The question
    ``answer``     takes it, and never raises for what a program did; ``describe``: where explain itself failed
    ``warnings``   answers without a question: in warnings, and in notes on errors
    ``uncaught``   errors as they are shown: what fixes them, from ``error_texts``, and where in the user's program
    ``caller``     whose names the answer uses, and how it names a place
    ``owners``     which layer has a variable
    ``families``   what frameworks call operations of one family: those that make zeros, activations, losses
    ``replay``     the sweep of a tape once more, also inside of a call
    ``reasons/``   rows, checks in their order, suspects, the user's text: the same for a tape and every framework

The answer
    ``causes``     one table: what sort of thing a cause is, whether it blocks a path, and how much it weighs
    ``words``      the explanation that a user holds; ``page`` several of them
    ``texts``, ``value_texts``, ``suspect_texts``   the sentences, which ``sentences`` fills in, in the language of the
                   lessons
    ``fixes/``     the line to blame as it should be: the same in every framework
"""

from ..common.lazy import lazy as _lazy

__getattr__, __dir__ = _lazy(globals(), {"explain.answer": "explain warn", "explain.words": "Explanation"})
