"""Record the first run of a ``tf.function``, and replay its operations in later calls.

``docs/functions.md`` explains this with examples, and ``docs/engine_calls.md`` lists the calls of one function. This
package uses the following terms. A *call* is a call of the ``tf.function`` by the user's program. Calls are of the same
*kind* if their tensors have equal dtypes and shapes, and their Python values are equal. A *concrete function*
(``ConcreteFunction``, TensorFlow's word) computes some rows of a first run from other rows. The rows themselves are in
the recording of the first run, which is a ``Record``. A *feed* is a row whose value each call provides, and a *fetch*
is a row that a call computes. An *operation* computes a row. The engine stores it with its inputs as a ``Call``, which
is not to be confused with a call of the function.

The package ``minitape/recording`` reads the rows of a ``Record`` for ``explain``. This package uses two of its
functions: ``find_operation_and_inputs`` returns the operation and the input rows of a row, and ``describe_line_of_row``
returns the line of the program that wrote a row.

The example is ``f``, a Python function with an argument and a variable:

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

1. ``Function.__call__`` finds no concrete function for these dtypes and shapes, so it calls
   ``Function._call_fitting_function_or_trace``. This method finds none for this kind of call either, so it calls
   ``_trace_new_path`` (all in the module ``function``).
2. ``run_and_trace_function`` (``concrete_function``) runs the Python function in the block
   ``FirstRun.open_recording_block`` (``first_run``). There, operations run eagerly, and the engine appends their rows
   to the ``Record`` of the run.
3. ``FirstRun.add_feed`` wrote row 0 before the function began. When the function reads ``w``, the engine calls
   ``FirstRun.find_or_add_state``, which writes row 2.
4. ``run_and_trace_function`` returns a ``FirstRunResult`` with the new ``ConcreteFunction`` and the arrays of this run.
   The feeds of the concrete function are rows 0 and 2, and its only fetch is row 3. The concrete function also lists
   the variables that the Python function assigns, and the effects that each call repeats. From now on, calls read the
   rows through ``TracedRows`` (``row_program``), which keeps only the values that are the same in every call. The sweep
   that records the gradient still reads the ``Record``.
5. ``ConcreteFunction.build_outputs_and_assign`` converts the arrays of this run to tensors, here 18.0, so nothing is
   computed twice. Only if the first call is under a tape does ``_call_fitting_function_or_trace`` call the new concrete
   function as well, because the tape needs a row for the call. Such a first call computes everything twice.

**Later calls.**

1. ``Function.__call__`` finds the concrete function. ``ConcreteFunction.call_on_tensors`` passes 4.0 and 2.0, the
   values of the feeds, to its ``RowProgram``.
2. ``RowProgram.compute_fetches`` computes rows 1 and 3 with these values. The work is done by a ``RowEvaluator``, which
   ``minitape/speed`` replaces with compiled code.
3. If a guard fails, the ``Function`` tries the next concrete function. If none is left, it runs the Python function
   again.

**The gradient.**

1. In the first call with a tracked input, ``call_on_tensors`` calls ``get_or_record_gradient``, which creates a
   ``ConcreteGradient``. It runs the engine's sweep over rows 0 to 3 and records the sweep as further rows of the first
   run. These rows are the ``backward`` program. The docstring of ``ConcreteGradient`` shows the rows for ``f``.
2. The ``backward`` program reads row 1. Therefore, ``ConcreteGradient`` also creates a ``forward`` program, which
   computes row 1 in addition to the result.
3. ``call_on_tensors`` runs the ``forward`` program, and appends a single row with the operation ``FUNCTION_PRIMITIVE``
   to the ``Record`` of the tape. The attribute ``saved`` of this row is the value of row 1.
4. When the tape's sweep reaches the row, the rule of ``FUNCTION_PRIMITIVE`` calls ``ConcreteGradient.compute_shares``,
   which runs the ``backward`` program.

The modules, in the order in which to read them:

* ``first_run`` records the first run.
* ``row_program`` computes the recorded rows for other arrays.
* ``concrete_function`` stores the result of a first run: feeds, results, assignments, effects and the gradient.
* ``function`` chooses the concrete function for each call, or traces the Python function again.
* ``effect_rows`` writes single rows for ``tf.print``, random numbers, ``tf.py_function``, guards, and functions that
  read values.
* ``traced_calls`` lists the public functions whose calls write such rows.
* ``traced_custom_gradient`` records functions with custom gradients.
* ``control_flow`` provides ``tf.cond`` and ``tf.while_loop``.
* ``nested_tensors`` finds and replaces the tensors in nested arguments and results.
* ``tensor_spec`` provides ``tf.TensorSpec``, and the keys that distinguish kinds of calls.
* ``settings`` switches tracing off, and returns whether a function is being traced.
* ``tf1_graph`` emulates TensorFlow 1 graphs, in which calls wait for a session.
"""
