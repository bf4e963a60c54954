"""``minitape.explain``: why a gradient is None, on which line, and how to fix it.

``tape.explain(target, sources)`` asks about one tape, before or after its gradient. After ``tf.explain.warn()`` every
gradient that is None says why, as a warning. Errors that a None leads to carry the reason in a note.

>>> import minitape as tf
>>> x = tf.constant(3.0)
>>> with tf.GradientTape() as tape:
...     y = x * x
>>> print(tape.explain(y, x).fix)
Call tape.watch(x) inside the block before x is used, or make it a tf.Variable.

How it works: the recording knows every operation under a tape; :mod:`minitape.engine.record.provenance` adds what
happened outside. From both, ``reasons/tape_adapter.py`` makes rows, and a list of checks names the first cause that
fits.

The question
    ``tape_answers``          takes it, and never raises for what a program did
    ``fallback_answer``       the answer where explain itself failed
    ``gradient_warnings``     answers without a question: in warnings, and in notes on errors
    ``uncaught_errors``       errors as they are shown, with what fixes them from ``error_texts``
    ``caller``                where in the user's program: whose names the answer uses, and how it names a place
    ``layer_lookup``          which layer has a variable
    ``operation_families``    what frameworks call operations of one family: those that make zeros, activations, losses
    ``replayed_sweep``        the sweep of a tape once more, also inside of a call
    ``reasons/``              rows, checks in their order, suspicions, the user's text: the same for every framework

The answer
    ``causes``                one table: of what kind a cause is, whether it blocks a path, and how much it costs there
    ``explanation``           the explanation that a user holds; ``explanation_page`` several of them
    ``cause_texts``, ``value_texts``, ``suspect_texts``    the sentences
    ``translated_sentences``  fills them in, in the language of the lessons
    ``fixes/``                the line to blame as it should be: the same in every framework
"""

from ..common.lazy_names import build_lazy_getattr_and_dir as _lazy

__getattr__, __dir__ = _lazy(globals(), {"explain.tape_answers": "explain warn", "explain.explanation": "Explanation"})
