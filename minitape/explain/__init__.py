"""Explain why a gradient is None, which line is responsible, and how to fix it.

``tape.explain(target, sources)`` explains the gradients of one tape, whether or not ``tape.gradient`` was called. After
a call to ``tf.explain.warn()``, a warning explains every gradient that is None. If a None gradient leads to an error, a
note on the error gives the reason.

>>> import minitape as tf
>>> x = tf.constant(3.0)
>>> with tf.GradientTape() as tape:
...     y = x * x
>>> print(tape.explain(y, x).fix)
Call tape.watch(x) inside the block before x is used, or make x a tf.Variable.

The recording contains every operation that ran under a tape, and :mod:`minitape.engine.record.provenance` adds the
values that were computed outside any tape. ``reasons/tape_adapter.py`` converts both to rows. A list of checks then
searches the rows, and the first finding is the answer.

The question
    ``tape_answers``          accepts the question, and never raises because of an error in the user's program
    ``fallback_answer``       the answer if explain itself fails
    ``gradient_warnings``     explanations that appear without being requested, in warnings and in notes on errors
    ``uncaught_errors``       adds advice from ``error_texts`` to errors when they are displayed
    ``caller``                finds the user's frame, whose names the answer uses, and formats code locations
    ``layer_lookup``          finds the layer that owns a variable
    ``operation_families``    operation names by family: zero-making operations, activations, losses
    ``replayed_sweep``        reruns the sweep of a tape, even inside a function call
    ``reasons/``              rows, checks, suspicions and the program's text, for every framework

The answer
    ``causes/``               a record for each cause, with its kind, sentences and edits
    ``explanation``           the explanation that a user receives (``explanation_page`` shows several of them)
    ``translated_sentences``  fills in the sentences, in the language of the lessons
    ``fixes/``                the corrected line, for every framework
"""

from ..common.lazy_names import build_lazy_getattr_and_dir as _lazy

__getattr__, __dir__ = _lazy(globals(), {"explain.tape_answers": "explain warn", "explain.explanation": "Explanation"})
