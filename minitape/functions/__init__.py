"""Record the first run of a ``tf.function``, and replay the recording in later calls.

``docs/functions.md`` explains this with examples. Read the modules in this order:

* ``first_run`` records the first run. It runs eagerly, and its operations become rows of a separate recording.
* ``row_program`` computes the recorded rows for other arrays.
* ``function_recording`` stores the result of a first run: feeds, results, assignments, effects and the gradient.
* ``function`` chooses the recording for each call, or traces the function again.
* ``effect_rows`` writes single rows for ``tf.print``, random numbers, ``tf.py_function``, guards, and functions that
  read values.
* ``traced_calls`` lists the public functions whose calls write such rows.
* ``traced_custom_gradient`` records functions with custom gradients.
* ``control_flow`` provides ``tf.cond`` and ``tf.while_loop``.
* ``tensor_spec`` provides ``tf.TensorSpec``, and the keys that distinguish kinds of calls.
* ``settings`` switches tracing off, and returns whether a function is being traced.
* ``inner_rows`` replays a recording as recorded operations, for pictures and ``explain``.
* ``tf1_graph`` emulates TensorFlow 1 graphs, in which calls wait for a session.
"""
