"""The engine: tensors, variables, the recording, the tape, its sweep, and the table of primitives.

It knows nothing of the packages above. A learner reads ``back/tape``, ``recording/record``, ``tensor/operators``,
``back/backward``, ``back/reach``, ``back/sweep``, then ``table/primitives``; ``docs/engine.md`` follows one gradient
through them, line by line. Each folder knows only those before it, but for three modules of ``table/primitives``, whose
rules make tensors or ask for the first run of a function.

``values/``      ``dtypes``, ``shape``, ``nest``: types of elements, shapes, structures;
                 ``errors``, ``invalid``: exceptions and what they are raised for
``table/``       ``primitives``: what each operation computes, and its derivative; ``code`` makes functions of their
                 texts; ``fp``: NumPy's warnings off for an operation; ``accelerator``: what is asked of
                 ``minitape.speed``
``recording/``   ``record``, ``row_table``, ``rows``: the table that all open tapes share; ``array_spec``: what stands
                 for an array that it does not hold; ``arrays``: which arrays it holds, and what stays of it at its
                 end; ``state``: what a thread is doing; ``pause``: ``stop_recording``; ``evidence``, ``frames``:
                 notes for ``explain``; ``logs``: warnings that TensorFlow logs; ``block``: blocks that Ctrl-C leaves
                 whole
``tensor/``      ``tensor``: values that never change; ``convert``: Python and NumPy values become tensors;
                 ``operation``, ``functions``: how operations run and are recorded; ``operators``, ``other_operators``:
                 ``a + b`` and its like; ``variable``, ``variable_operators``, ``updates``: variables
``back/``        ``reach``, ``marks``: which rows depend on a source; ``sweep``: the one loop back over the rows;
                 ``nested_sweep``: the same, inside another tape; ``backward``, ``endpoints``: targets, sources and the
                 gradients of one call; ``row_values``: what a sweep reads; ``tape``, ``tape_methods``, ``refusals``:
                 ``tf.GradientTape``, what a tape answers besides gradients, and what it says where it is used wrongly
``derivatives/`` ``forward``, ``jacobian``: forward mode, Jacobians; ``custom``, ``pyfunction``: gradients and functions
                 of the user's own

``hooks`` is what the engine asks of the packages above it; ``types`` is what type checkers see.
"""
