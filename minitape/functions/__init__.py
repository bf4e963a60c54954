"""Record the first run of a ``tf.function``, and replay the recording in later calls.

The modules, in the order in which to read them:

* ``first_run`` records the first run, an eager run whose operations become rows of a separate record.
* ``row_program`` computes recorded rows for other arrays.
* ``function_recording`` holds what remains of a first run: feeds, results, assignments, effects and the gradient.
* ``function`` chooses the recording for a call, or traces a new one.
* ``effect_rows`` writes single rows for ``tf.print``, random numbers, ``tf.py_function``, guards, and functions that
  read values.
* ``traced_calls`` lists the public functions that write such rows.
* ``traced_custom_gradient`` records functions with user-defined gradients.
* ``control_flow`` provides ``tf.cond`` and ``tf.while_loop``.
* ``tensor_spec`` provides ``tf.TensorSpec`` and the keys that distinguish kinds of calls.
* ``settings`` switches tracing off, and reports whether a function is being traced.
* ``inner_rows`` replays a recording as operations, for pictures and ``explain``.
* ``tf1_graph`` provides TensorFlow 1's graphs, in which calls wait for a session.
"""
