"""The engine, which consists of the tape, the table of rows that it records, and the backward sweep over the rows.

The code uses the following terms. A *row* is one result: either a *leaf*, which no operation computed, or an output of
an operation. The *adjoint* of a row is the derivative of the target with respect to the row's value. A *share* is what
an operation adds to the adjoint of one of its inputs. A *seed* is the adjoint with which a sweep starts. A *tracked*
row depends on something that a tape watches. The *site* of a row is the user's statement that wrote it: a code object
and an offset into its bytecode. In the *formulas* and *rules* of the table of operations, x and y are the inputs, z is
the result, and g is the adjoint of the result.

The following three programs show how the modules work together. ``docs/engine_calls.md`` lists the calls of three such
programs in order, and ``docs/engine.md`` quotes the lines that run.

**1. A product and its gradient.**

>>> import minitape as tf
>>> side = tf.Variable(3.0)
>>> with tf.GradientTape() as tape:
...     area = side * side
>>> print(tape.gradient(area, side))
tf.Tensor(6.0, shape=(), dtype=float32)

The finished recording has two rows::

    row  operation  inputs  value
    0    (leaf)             3.0    the state of side
    1    multiply   0, 0    9.0    area

1. ``with tf.GradientTape()`` opens the recording (``backward/recording_tape``, ``__enter__``). The docstring of
   ``record/record`` describes the six cells of a row. ``record/thread_state`` stores the open recording and the open
   tapes of each thread.
2. ``side * side`` calls an operator. The operator of a variable first reads the variable's state
   (``tensor/variable_operators``; ``tensor/variable``, ``_read_and_watch``). ``_enter_state_in_record`` asks
   ``Record.find_or_add_row`` for row 0, and calls ``RecordingTape._watch_row`` for each open tape. Tapes watch a tensor
   only if the program calls ``tape.watch`` (``backward/recording_tape``, ``watch``).
3. The operator of a tensor computes the value and appends row 1 (``tensor/operators``; ``tensor/operation``,
   ``run_checked_binary`` and ``run_and_record``; ``record/record``, ``write_rows``). ``minitape/__init__.py`` calls
   ``install_operators``, which adds methods such as ``__mul__`` to ``EagerTensor``. One line of text in
   ``table/primitives/elementwise`` gives the formula of ``multiply`` and its two rules: ``g * y`` and ``g * x``.
4. ``tape.gradient(area, side)`` looks up the rows of ``area`` and ``side`` (``backward/tape``; ``backward/gradient``,
   ``compute_gradients``). Here, every watched row is a source (``_is_every_watched_row_a_source``), so no row needs a
   mark. If a tape watched anything else, ``backward/reachability`` would mark the rows that depend on ``side``. If the
   sweep appended rows, or if there were calls or large arrays, ``sweep_to_sources`` would mark the tracked rows, so
   that constants get no shares.
5. The sweep visits the rows from ``area`` back to ``side`` and applies the rules (``backward/sweep``,
   ``Sweep.iter_steps``). It starts with the seed 1.0 in row 1. Both rules return the share 1.0 * 3.0. The shares are
   added up in row 0, whose adjoint is therefore 6.0. This is the gradient.

**2. A gradient inside another tape.**

>>> with tf.GradientTape() as outer:
...     with tf.GradientTape() as inner:
...         area = side * side
...     slope = inner.gradient(area, side)
>>> print(outer.gradient(slope, side))
tf.Tensor(2.0, shape=(), dtype=float32)
>>> for row in range(len(outer.record)):
...     code, a, b, _, _, value = outer.record.read_all_cells(row)
...     print(row, {0: "leaf", 4: "add", 6: "multiply"}[code], (a, b), value)
0 leaf (0, 0) 3.0
1 multiply (0, 0) 9.0
2 leaf (0, 0) 1.0
3 multiply (2, 0) 3.0
4 multiply (2, 0) 3.0
5 add (3, 4) 6.0

1. Both tapes write into the same recording, which the outer tape has created, and both watch row 0.
2. At ``inner.gradient``, the outer tape is still open. Therefore, ``gradient.compute_gradients`` sets ``is_recorded``,
   and ``nested_sweep.run_recorded_sweep`` runs the same loop on tensors instead of arrays
   (``row_values.TensorValues``).
3. The rules are compiled a second time, so that ``g * y`` calls the recorded operation ``multiply``
   (``tensor/rule_functions``, ``compile_recorded_rules``). ``build_seed`` creates the seed as a tensor without a row,
   and ``write_rows`` appends the seed as row 2 when the first rule reads it. The two rules append rows 3 and 4, and
   adding up their shares appends row 5, which is ``slope``.
4. ``outer.gradient(slope, side)`` is a gradient as in the first program. It sweeps from row 5 back to row 0.

**3. A** ``tf.function``.

>>> w = tf.Variable(2.0)
>>> f = tf.function(lambda x: x * x * w)
>>> x = tf.constant(3.0)
>>> with tf.GradientTape() as tape:
...     tape.watch(x)
...     y = f(x)
>>> print(tape.gradient(y, x))
tf.Tensor(12.0, shape=(), dtype=float32)

There are two recordings::

    row  the recording of f                 row  the recording of the tape
    0    (leaf)    3.0   the argument       0    (leaf)    3.0   x
    1    multiply  9.0   x * x              1    (leaf)    2.0   the state of w
    2    (leaf)    2.0   the state of w     2    function  18.0  y
    3    multiply  18.0  the result

1. The first call of ``f`` runs the Python function. This *first run* is an ordinary run, except that a separate
   ``Record`` is open, whose attribute ``first_run`` is the run. Its operations append rows as in the first program.
   Where the engine treats such a recording differently from a tape's recording, it usually calls a method of the run.
   :class:`~minitape.engine.types.FirstRunInterface` lists these methods:

   * A *feed* is a row whose value each later call replaces. Before the function runs, each argument gets a feed. So
     does a tensor that the function captures from outside (``Record.find_or_add_row`` calls
     ``add_feed_for_outside_tensor``), and the state of a variable (``ResourceVariable._enter_state_in_record`` calls
     ``find_or_add_state``). Here, rows 0 and 2 are feeds.
   * An assignment to a variable becomes a row (``assign_variable``).
   * If Python reads a value that may differ in later calls, the run raises an error. If Python only branches on the
     value, the run writes a guard instead (``refuse_or_guard_value``). A guard is a row that checks in later calls
     whether Python would take the same branch.
2. The call of ``f`` appends a single row to the recording of the tape.
3. ``tape.gradient(y, x)`` reaches this row like any other row. The rule of the row computes the gradient of the
   function. The call under the tape has prepared this gradient. The loop of the second program swept over the recording
   of ``f``, where it appended its own operations as rows 5 to 9. Row 4 is the seed.
4. A later call such as ``f(tf.constant(4.0))`` computes rows 1 and 3 for other arrays, without running the Python
   function.

The docstring of ``minitape/functions`` lists the calls in order.

**The fast forms.** If the package ``minitape/speed`` exists, it replaces the operator (step 3 above) and the loop of
step 5 with faster code that returns the same results. (It may append the rows of a recorded sweep in a different
order.) A debugger then shows a generated ``__mul__``, which appends row
1 without a call of ``run_and_record`` or ``write_rows``, and ``run_fast_sweep_and_get_lookup``. For the inner gradient
of the second program, ``_sweep_mixed_rows`` does the work. To step through the plain forms instead, run
``sys.modules["minitape.speed"] = None`` before the program imports minitape. ``table/accelerator`` lists everything
that can be replaced.

**The modules.** Each folder imports only the folders before it in this list. Three modules of ``table/primitives`` are
exceptions, because their rules create tensors or check for the first run of a function. The engine imports no package
above it.

``values/``       ``dtypes``, ``shape``, ``nest``: element types, shapes and nested structures;
                  ``errors``, ``argument_errors``: TensorFlow's exceptions, and the errors for wrong arguments
``table/``        ``primitives``: the value and the derivatives of each operation;
                  ``generated_code``: compiles functions from text; ``float_warnings``: runs operations without NumPy's
                  warnings; ``accelerator``: the functions that ``minitape.speed`` replaces
``record/``       ``record``, ``row_table``, ``row_parts``: the table that all open tapes share;
                  ``array_spec``: the shape and dtype that replace an array; ``kept_arrays``: which arrays a recording
                  keeps, and for how long; ``thread_state``: the open recording and tapes of a thread;
                  ``pause``: ``stop_recording``; ``provenance``: where values came from and where they went, for
                  ``explain``; ``user_frames``: which frames belong to the user's program;
                  ``log_warnings``: warnings that TensorFlow logs; ``interrupt_safe``: blocks that end cleanly after
                  Ctrl-C
``tensor/``       ``tensor``: immutable values; ``conversion``: converts Python and NumPy values to tensors;
                  ``numbers``: Python numbers as operands; ``operation``: runs and records operations;
                  ``rule_functions``: the rules of a recorded sweep;
                  ``operators``, ``checked_operators``: operators such as ``a + b``;
                  ``variable``, ``variable_operators``, ``partial_updates``: variables
``backward/``     ``reachability``, ``row_marks``: the rows that depend on a source; ``row_values``: the values that a
                  sweep reads; ``sweep``: the loop over the rows; ``nested_sweep``: the same loop under another tape;
                  ``targets_and_sources``, ``gradient``: from targets and sources to gradients;
                  ``recording_tape``, ``tape``, ``tape_errors``: ``tf.GradientTape``, and the errors for its misuse
``derivatives/``  ``forward_mode``, ``jacobian``: forward mode and Jacobians; ``custom_gradient``, ``py_function``:
                  user-defined gradients and functions

``hooks`` contains the functions of higher packages that the engine calls. ``minitape/__init__.py`` registers them, and
installs the accelerator. ``types`` contains the type aliases for annotations.
"""
