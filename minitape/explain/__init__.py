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
happened outside. From both, :mod:`minitape.recording.tape` makes rows, and ``why`` names the first break on the path.

The question
    ``answer``     takes it, and never raises for what a program did
    ``warnings``   answers without a question: in warnings, and in notes on errors; ``uncaught`` for errors of
                   Python's own
    ``caller``     whose names the answer uses, and how it names a place
    ``search``     the path with the fewest breaks
    ``why``        which break is to blame, or which other object was used: one for a tape and for TensorFlow;
                   ``tape_why`` what a tape knows better, and its words; ``names``, ``owners``: where values were made,
                   which layer has them
    ``inquiry``    what is asked once for all sources of a tape: where values went that left to Python
    ``partial``    blocked paths next to a path that holds, what they would have added, and where values of Python's
                   own may have come in
    ``values``, ``families``   what is zero, NaN or infinite: the same for a tape and for every framework
    ``blocked``    what blocks the gradient in a framework's recording, what left it and came back; a framework's own
                   checks are in ``bridges``
    ``zero_or_nan``, ``replay``   the sweep of a tape once more for that, also inside of a call
    ``suspects``   gradients that are there, and not those that were meant, by one rule for a tape and every framework;
                   ``suspect_texts``: the table of the causes; ``wrong``: of a tape

The user's text
    ``source``     the statements of a file, and where names are bound; ``statement`` one of them
    ``flow``       where a value goes that left to Python

The answer
    ``causes``     one table: what sort of thing a cause is, whether it blocks a path, and how much it weighs
    ``words``, ``texts``, ``value_texts``, ``describe``   a finding as sentences, which ``sentences`` fills in, in
                   the language of the lessons; ``source_names`` what the user calls a source; ``page`` several of them
    ``advice``, ``remedies``   what exactly happened at a break, and what to write instead
    ``fixes/``     the line to blame as it should be: the same in every framework
"""

from ..common.lazy import lazy as _lazy

__getattr__, __dir__ = _lazy(globals(), {"explain.answer": "explain warn", "explain.words": "Explanation"})
