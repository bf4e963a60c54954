"""Record the first run of a ``tf.function``, and replay the recording in later calls.

``docs/functions.md`` explains this with examples, and ``docs/engine_calls.md`` lists the calls of one function. In this
package, a *recording* is a ``FunctionRecording``, which describes a function of some rows. The rows themselves are in a
``Record``, the recording of the first run. A *feed* is a row whose value each call provides, and a *fetch* is a row
that a call computes.

The example is ``f``, a function with an argument and a variable:

>>> import minitape as tf
>>> w = tf.Variable(2.0)
>>> f = tf.function(lambda x: x * x * w)
>>> print(f(tf.constant(3.0)).numpy())
18.0
>>> print(f(tf.constant(4.0)).numpy())
32.0

The first call writes four rows into a separate ``Record``::

    row  operation  inputs  value
    0    (leaf)             3.0    the argument, a feed
    1    multiply   0, 0    9.0
    2    (leaf)             2.0    the state of w, a feed
    3    multiply   1, 2    18.0   the result, a fetch

**The first call.**

1. ``Function.__call__`` finds no recording for these arguments, so ``Function._trace_new_path`` runs the Python
   function (``function``).
2. ``record_function`` (``function_recording``) opens the block ``FirstRun.record_operations`` (``first_run``). In this
   block, operations run eagerly, and the engine appends their rows to the ``Record`` of the run.
3. ``FirstRun.add_feed`` wrote row 0 before the function began. When the function reads ``w``, the engine calls
   ``FirstRun.find_or_add_state``, which writes row 2.
4. ``record_function`` returns a ``FunctionRecording``. Its feeds are rows 0 and 2, and its only fetch is row 3. It also
   lists the variables that the function assigns, and the effects that each call repeats. The rows are now read through
   ``TracedRows`` (``row_program``), which keeps only the values that are the same in every call.

**Later calls.**

1. ``Function.__call__`` finds the recording. ``FunctionRecording.call_recording`` passes 4.0 and 2.0, the values of the
   feeds, to the recording's ``RowProgram``.
2. ``RowProgram.compute_fetches`` computes rows 1 and 3 with these values. The work is done by a ``RowEvaluator``, which
   ``minitape/speed`` replaces with compiled code.
3. If a guard fails, the function tries the next recording. If none is left, it runs Python again.

**The gradient.**

1. Under a tape, ``call_recording`` appends a single row with the operation ``FUNCTION_PRIMITIVE`` to the recording of
   the tape.
2. In the first call with a watched input, ``GradientRecording`` runs the engine's sweep over rows 0 to 3 and records it
   as further rows of the first run. These rows are a second ``RowProgram``. The docstring of ``GradientRecording``
   shows the rows for ``f``.
3. The second program reads row 1. The call therefore returns the value of row 1 in addition to the result, and the
   row on the tape saves this value.
4. When the tape's sweep reaches the row, the rule of ``FUNCTION_PRIMITIVE`` calls ``GradientRecording.compute_shares``,
   which runs the second program.

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
