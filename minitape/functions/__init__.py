"""``tf.function``: a function is the recording of its first run.

``trace`` is that recording, ``table`` its rows without values, ``program`` computes them for other arrays, ``recording``
is what is kept of a run, with its gradient, and ``function`` chooses among them. ``rows`` has operations that are one
row of a trace (``tf.print``, random numbers, Python functions), ``control`` branches and loops. ``deferred`` and
``session`` are TensorFlow 1: calls that wait for values.
"""
