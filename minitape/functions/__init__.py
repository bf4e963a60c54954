"""``tf.function``: a function is the recording of its first run.

``trace`` is that first run, ``program`` computes its rows for other arrays, ``recording`` is what is kept of a run,
with its gradient, and ``function`` chooses among them. ``rows`` has operations that are one row (``tf.print``, random
numbers, ``tf.py_function``, functions that look at values), ``calls`` says which functions those are, ``custom`` has
the user's own gradients, ``control`` branches and loops. ``spec`` tells kinds of calls apart; ``settings`` says how
functions run. ``inside`` is for pictures and `explain`. ``deferred`` is TensorFlow 1: calls that wait for values.
"""
