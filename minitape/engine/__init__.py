"""The engine: tensors, variables, the recording, the tape, its sweep, and the table of primitives.

It knows nothing of the rooms above. A learner reads ``tape``, ``record``, ``sweep``, ``backward`` and ``reach``, then
``primitives``; ``docs/engine.md`` follows one gradient through them, line by line.

Recording
    ``tape``        ``tf.GradientTape``: what it watches, and its questions to the recording
    ``record``      the table of rows that all open tapes share; ``rows``: what rows are made of
    ``pause``       ``stop_recording``; ``merging``: two recordings become one; ``released``: what is left of one at its end
    ``operators``   ``x * y`` and the like, which write a row each
    ``operation``   how any other primitive is run and recorded
    ``primitives``  what each operation computes, and its derivative; ``code`` makes functions of their texts
    ``state``       what a thread is doing: its recording, its tapes, the graph it builds

Going back
    ``backward``    targets and sources, and the gradients of one call
    ``reach``       which rows depend on a source
    ``sweep``       the one loop back over the rows

Other derivatives
    ``forward``, ``jacobian``, ``batch``   forward mode, Jacobians, and rules on many adjoints at once
    ``custom``, ``pyfunction``, ``registry``   gradients of the user's own; ``stopping``   what a compiled step refuses

Values
    ``tensor``, ``convert``, ``elements``   tensors, and how they are made
    ``variable``, ``variable_arguments``, ``variable_operators``, ``updates``   variables
    ``slices``, ``shape``, ``dimension``, ``dtypes``, ``nest``   sparse gradients, shapes, types, structures

Arguments and errors
    ``operands``, ``opdefs``, ``places``   what TensorFlow's kernels accept, and what they refuse
    ``errors``, ``invalid``, ``logs``   exceptions, their words, and what is logged

Notes for ``explain``
    ``evidence``, ``frames``   where values came from and where they left; which line is the user's

Doors
    ``above``       what the engine asks of the rooms above it
    ``accelerator`` what it asks of ``minitape.speed``, where that is there
    ``namespace``   public names, loaded when they are first used

Tools
    ``block``       what a ``with`` changes for its time, so that Ctrl-C leaves nothing changed
    ``beside``      files that are never half
    ``quiet``       NumPy's warnings off, for the time of one operation
    ``shown``, ``typed``   what users and type checkers see of classes
"""
