"""The engine, which consists of the tape, the table of rows that it records, and the backward sweep over the rows.

To understand ``y = x * x`` and ``tape.gradient(y, x)``, read these modules in the order of the calls.
``docs/engine.md`` follows the same calls and quotes the lines that run.

1. ``backward/recording_tape``: ``with tf.GradientTape()`` opens a recording. ``tape.watch(x)`` gives a tensor ``x`` a
   row. A variable needs no watch: when an operator first reads it (``tensor/variable_operators`` calls
   ``tensor/variable``, ``_read_state``), its state gets a row, and the open tapes watch that row.
2. ``record/record``: the recording is a table of rows. The docstring of the module describes the six cells of a row.
   ``record/thread_state`` stores the open recording and the open tapes of each thread.
3. ``tensor/operators`` and ``tensor/operation``: ``x * x`` computes a value and appends a row to the open recording
   (``Record.write_rows``). ``minitape/__init__.py`` calls ``install_operators``, which adds methods such as ``__mul__``
   to ``EagerTensor``.
4. ``table/primitives/elementwise``: one line of text gives the formula of ``multiply`` and its two derivative rules.
5. ``backward/tape`` and ``backward/gradient``: ``tape.gradient(y, x)`` looks up the rows of ``y`` and ``x``.
6. ``backward/reachability``: if necessary, a function marks the rows that depend on ``x``.
7. ``backward/sweep``: a loop visits the rows from ``y`` back to ``x`` and applies the rules.

For ``x = tf.Variable(3.0)``, the finished recording has two rows::

    row  operation  inputs  value
    0    (leaf)             3.0    the state of x
    1    multiply   0, 0    9.0    y

The sweep starts with the adjoint 1.0 in row 1. The rules of ``multiply`` return the shares ``1.0 * 3.0`` for both
inputs, which are added up in row 0. The adjoint of row 0 is 6.0, which is the gradient.

The words: the *adjoint* of a row is the derivative of the target by the row's value. A *share* is what one reader of a
row contributes to the row's adjoint. A *seed* is the adjoint with which a sweep starts. A *leaf* is a row that no
operation computed. A *tracked* row depends on something that a tape watches. The *site* of a row is the user's
statement that wrote it. A *first run* records a function, and a *feed* is a row whose value each later call replaces.

If the package ``minitape/speed`` exists, it replaces steps 3 and 7 with faster code that returns the same results. A
debugger then shows a generated ``__mul__`` and ``run_fast_sweep``. ``table/accelerator`` lists everything that can be
replaced.

**Nested tapes.** All open tapes of a thread write into the same recording. If an outer tape is open while an inner tape
computes a gradient, ``gradient.compute_gradients`` sets ``is_recorded``, and ``nested_sweep.run_recorded_sweep`` runs
the same sweep on tensors instead of arrays (``row_values.TensorValues``). The rules are compiled a second time, so that
``g * y`` calls the recorded operation ``multiply`` (``tensor/rule_functions``). Each operation in a rule therefore
appends a row. The gradient is a row of the recording like any other, so the outer tape can differentiate it.

**``tf.function``.** The first run of a function is an ordinary run that fills a separate recording.
``Record.first_run`` is that run, and :class:`~minitape.engine.types.FirstRunInterface` lists the methods that the
engine calls:

* Each argument gets a row whose value later calls replace (``add_feed``). So does a tensor that the function captures
  from outside (``Record.find_or_add_row`` calls ``enter_outside_tensor``), and the state of a variable
  (``find_or_add_state``).
* An assignment to a variable becomes a row (``assign_variable``).
* If Python reads a value that may differ in later calls, the run raises an error. If Python only branches on the value,
  the run writes a guard instead (``refuse_or_guard_value``).

Later calls compute the rows of this recording for other arrays, without running the Python function
(``minitape/functions``, whose docstring lists the calls in order). A call under a tape is a single row of that tape.
The rule of this row computes the gradient of the function, which was also recorded as rows. ``docs/functions.md``
explains this with examples.

Each folder imports only the folders before it in this list. Three modules of ``table/primitives`` are exceptions,
because their rules create tensors or check for the first run of a function. The engine imports no package above it.

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
                  ``log_warnings``: warnings that TensorFlow logs; ``interrupt_safe``: blocks that Ctrl-C leaves cleanly
``tensor/``       ``tensor``: immutable values; ``conversion``: converts Python and NumPy values to tensors;
                  ``operation``, ``rule_functions``: run and record operations;
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
