"""Bridges: the same picture and the same answers for programs that are written in another framework.

A bridge watches a program while it runs, unchanged, and writes what it sees into a :class:`Recording`. The live picture
(``TapeView``), the static one (``tf.draw``) and ``recording.explain`` read that. The adjoints are those which the
framework computed. Nothing of a framework is imported before its bridge is.

Shared by all:

    ``recording``           what was recorded: rows and backward passes; no framework is known here
    ``picture_reader``      a recording in the words of the snapshot that pictures read
    ``framework_adapter``   a recording as explain reads it
    ``snapshot_recording``  a recording that was kept as a snapshot, without its framework
    ``kept_values``         values that are shown later, and how many bytes a recording keeps of them
    ``framework_import``    the framework, or an error that says what to install
    ``framework_patches``   the block: what it changes in a framework, and undoes wherever Ctrl-C comes
    ``sampling``            a block around a training loop that records every n-th step, or the first ones
    ``checkup``             a recording that can be asked why, also about a whole model
    ``model_page``          the page of the explanations of a model, with their numbers
    ``bridge_texts``        the sentences that are the same in all; the fixes of each cause are in
                            ``minitape/explain/fixes``, in the words of the framework
    ``callbacks``           what a callback does of a library that owns the loop: ``keras``, ``lightning``,
                            ``transformers``
    ``program``             a file runs as the main program in a block, for the command
    ``pytest_plugin``       a test of a training step

``torch/`` is the bridge to PyTorch:

    ``recording``           ``record()``, the block, and ``why()``
    ``watcher``             what is called in the block, and in which module
    ``row_log``             the rows that are made of it
    ``autograd_graph``      autograd's nodes, and the hooks that read what passes through them
    ``kept_tensors``        tensors that are shown later, but as they were
    ``model_parameters``    parameters by name
    ``parameter_history``   where parameters were made, frozen, replaced or copied
    ``training_events``     the backward passes and optimizer steps that a loop took
    ``adapter``             what a question asks of tensors
    ``checks``              why a .grad is None, zero or NaN; each check looks for one cause
    ``suspects``            what is wrong with gradients that are there
    ``sentences``           what each cause means, and what fixes it

``tensorflow/`` works with TensorFlow's callbacks and tapes instead of hooks. Modules with the same names as in
``torch/`` do the same; besides there are:

    ``operation_log``       what TensorFlow says of an operation
    ``tensor_rows``         which row stands for which tensor
    ``sweep_watcher``       the sweeps of tapes
    ``function_graphs``     the graph of a ``tf.function``
    ``function_calls``      a call of it, run again for explain, and for pictures that open the call
    ``model_variables``     variables by name
    ``numpy_calls``         where NumPy reads a tensor's memory
    ``guard``               no mistake of the bridge's own stops the program

``jax/`` has ``record(f, *args)`` instead of a block. Modules with the same names do the same; besides there are:

    ``jaxpr_run``           the equations of ``f``, run one by one, and what tracers know of values
    ``backward_pass``       JAX's own sweeps through them
    ``program_origin``      the lines of what was recorded, in the text of the program
    ``program``             for the command: the first gradients that a program computes are recorded

>>> from minitape.bridges import Recording
>>> recording = Recording("by hand")
>>> x = recording.leaf(3.0, name="x")
>>> y = recording.operation("square", [x], 9.0)
>>> recording.close()
>>> [(row["label"], row["value"]["text"]) for row in recording.snapshot()["rows"]]
[('x', '3.0'), ('square', '9.0')]
"""

from ..common.lazy_names import build_lazy_getattr_and_dir as _lazy

__getattr__, __dir__ = _lazy(
    globals(),
    {
        "bridges.recording": "Recording",
        "bridges.snapshot_recording": "Replay",
        **{f"bridges.{name}": f"{name}=" for name in ("jax", "tensorflow", "torch")},
    },
)
