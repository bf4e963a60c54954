"""``tf.function``: a function is the recording of its first run.

``first_run`` is that first run, ``row_program`` computes its rows for other arrays, ``function_recording`` is what is
kept of a run, with its gradient, and ``function`` chooses among them. ``effect_rows`` has operations that are one row
(``tf.print``, random numbers, ``tf.py_function``, functions that look at values), ``traced_calls`` says which functions
those are, ``traced_custom_gradient`` has the user's own gradients, ``control_flow`` branches and loops. ``tensor_spec``
tells kinds of calls apart; ``settings`` says how functions run. ``inner_rows`` is for pictures and `explain`.
``tf1_graph`` is TensorFlow 1: calls that wait for values.
"""
