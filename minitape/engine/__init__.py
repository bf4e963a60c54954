"""The engine: tensors, variables, the recording, the tape, its sweep, and the table of primitives.

It knows nothing of the packages above. A learner reads ``backward/tape``, ``record/record``, ``tensor/operators``,
``backward/gradient``, ``backward/reachability``, ``backward/sweep``, then ``table/primitives``; ``docs/engine.md``
follows one gradient through them, line by line. Each folder knows only those before it, but for three modules of
``table/primitives``, whose rules make tensors or ask for the first run of a function.

``values/``       ``dtypes``, ``shape``, ``nest``: types of elements, shapes, structures;
                  ``errors``, ``argument_errors``: exceptions and what they are raised for
``table/``        ``primitives``: what each operation computes, and its derivative;
                  ``generated_code`` makes functions of their texts; ``float_warnings``: NumPy's warnings off for an
                  operation; ``accelerator``: what is asked of ``minitape.speed``
``record/``       ``record``, ``row_table``, ``row_parts``: the table that all open tapes share;
                  ``array_spec``: what stands for an array that it does not hold; ``kept_arrays``: which arrays it
                  holds, and what stays of it at its end; ``thread_state``: what a thread is doing;
                  ``pause``: ``stop_recording``; ``provenance``, ``user_frames``: notes for ``explain``;
                  ``log_warnings``: warnings that TensorFlow logs; ``interrupt_safe``: blocks that Ctrl-C leaves whole
``tensor/``       ``tensor``: values that never change; ``conversion``: Python and NumPy values become tensors;
                  ``operation``, ``rule_functions``: how operations run and are recorded;
                  ``operators``, ``checked_operators``: ``a + b`` and its like;
                  ``variable``, ``variable_operators``, ``partial_updates``: variables
``backward/``     ``reachability``, ``row_marks``: which rows depend on a source; ``sweep``: the one loop back over the
                  rows; ``nested_sweep``: the same, inside another tape; ``gradient``, ``targets_and_sources``:
                  targets, sources and the gradients of one call; ``row_values``: what a sweep reads;
                  ``tape``, ``tape_methods``, ``tape_errors``: ``tf.GradientTape``, what a tape answers besides
                  gradients, and what it says where it is used wrongly
``derivatives/``  ``forward_mode``, ``jacobian``: forward mode, Jacobians; ``custom_gradient``, ``py_function``:
                  gradients and functions of the user's own

``hooks`` is what the engine asks of the packages above it; ``types`` is what type checkers see.
"""
