"""Record the first run of a ``tf.function``, and replay the recording in later calls.

``docs/functions.md`` explains this with examples. In this package, a *recording* is a ``FunctionRecording``, which
describes a function of some rows. The rows themselves are in a ``Record``, the recording of the first run.

**The first call.** ``Function.__call__`` finds no recording for its arguments. ``function_recording.record_function``
runs the Python function eagerly inside ``FirstRun.record_operations``, so that its operations become rows of a separate
``Record``. The resulting ``FunctionRecording`` lists which rows are fed and which are fetched.

**Later calls.** ``Function.__call__`` finds the recording, and ``FunctionRecording.call_recording`` passes the arrays
of the arguments to a ``RowProgram``, which computes the fetched rows. If a guard fails, the function tries the next
recording, or runs Python again.

**The gradient.** Under a tape, a call is one row with the operation ``FUNCTION_PRIMITIVE``. Its rule calls
``GradientRecording.compute_shares``. The first call with a watched argument runs the engine's sweep over the rows of
the first run and records it (``FunctionRecording.gradient``), so that the gradient is also a ``RowProgram``. The same
call returns the values that this program reads, in addition to the results.

The modules, in the order in which to read them:

* ``first_run`` records the first run.
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
