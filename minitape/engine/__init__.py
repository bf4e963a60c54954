"""The engine: tensors, variables, the recording, the tape, its sweep, and the table of primitives.

The engine does not import the packages above it. Learners can read ``backward/tape``, ``record/record``,
``tensor/operators``, ``backward/gradient``, ``backward/reachability``, ``backward/sweep``, then ``table/primitives``.
``docs/engine.md`` follows one gradient through these modules, line by line. Each folder imports only the folders before
it in this list. Three modules of ``table/primitives`` are exceptions, because their rules create tensors or need the
first run of a function.

``values/``       ``dtypes``, ``shape``, ``nest``: types of elements, shapes, structures;
                  ``errors``, ``argument_errors``: exceptions, and the errors for wrong arguments
``table/``        ``primitives``: the value and the derivatives of each operation;
                  ``generated_code``: functions that are generated from text; ``float_warnings``: switches NumPy's
                  warnings off during an operation; ``accelerator``: the functions that ``minitape.speed`` provides
``record/``       ``record``, ``row_table``, ``row_parts``: the table that all open tapes share;
                  ``array_spec``: shape and dtype of an array that the table does not hold; ``kept_arrays``: the arrays
                  that it holds, and the rest that remains at its end; ``thread_state``: the state of a thread;
                  ``pause``: ``stop_recording``; ``provenance``, ``user_frames``: notes for ``explain``;
                  ``log_warnings``: warnings that TensorFlow logs; ``interrupt_safe``: blocks that Ctrl-C leaves cleanly
``tensor/``       ``tensor``: values that never change; ``conversion``: converts Python and NumPy values to tensors;
                  ``operation``, ``rule_functions``: run and record operations;
                  ``operators``, ``checked_operators``: operators such as ``a + b``;
                  ``variable``, ``variable_operators``, ``partial_updates``: variables
``backward/``     ``reachability``, ``row_marks``: the rows that depend on a source; ``sweep``: the loop back over the
                  rows; ``nested_sweep``: the same loop inside another tape; ``gradient``, ``targets_and_sources``:
                  targets, sources and gradients of a call; ``row_values``: the values that a sweep reads;
                  ``tape``, ``tape_errors``: ``tf.GradientTape``, and the errors for its misuse
``derivatives/``  ``forward_mode``, ``jacobian``: forward mode, Jacobians; ``custom_gradient``, ``py_function``:
                  gradients and functions that the user defines

``hooks`` has the functions of higher packages that the engine calls. ``types`` has the types for type checkers.
"""
