"""``tf.function``: a function is the recording of its first run.

``trace`` is that first run, ``program`` computes its rows for other arrays, ``recording`` is what is kept of a run,
with its gradient, and ``function`` chooses among them by the keys of ``spec``; ``settings`` are how functions run.
``rows`` has operations that are one row (``tf.print``, random numbers, functions that look at values), ``calls`` says
which functions those are, ``python`` has the user's own Python, ``control`` branches and loops. ``inside`` is for
pictures and `explain`. ``deferred`` is TensorFlow 1: calls that wait for values.
"""
