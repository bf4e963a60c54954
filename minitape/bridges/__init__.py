"""Bridges: the same pictures and explanations for programs that are written in another framework.

A bridge watches a program while it runs, unchanged, and writes its operations into a :class:`Recording`. The live
picture (``TapeView``), the static picture (``tf.draw``) and ``recording.explain`` read the recording. The adjoints are
the values that the framework computed. A framework is imported only when its bridge is imported.

All bridges share these modules:

    ``recording``           the rows and backward passes of a program, without any framework
    ``picture_reader``      reads a recording into the snapshot that pictures show
    ``framework_adapter``   converts a recording into the rows that explain reads
    ``snapshot_recording``  a recording that is read from a snapshot, without its framework
    ``kept_values``         values that are shown later, and the limit on the memory that they use
    ``framework_import``    imports the framework, or raises an error that names the package to install
    ``framework_patches``   changes a framework for one block, and undoes the changes even after Ctrl-C
    ``sampling``            a block around a training loop that records every n-th step, or the first steps
    ``checkup``             a recording that can be explained, for one source or a whole model
    ``model_page``          the page with the explanations and the gradient numbers of a model
    ``callbacks``           the callback for libraries that run the training loop: ``keras``, ``lightning``,
                            ``transformers``
    ``program``             runs a file as the main program in a block, for the command line
    ``pytest_plugin``       a fixture that tests a training step
    ``run_watch``           a package: what became of the gradients of a whole run, from its first step to its last

``torch/`` is the bridge to PyTorch:

    ``recording``           ``record()``, its block, and ``why()``
    ``watcher``             follows the calls in the block, and the modules that make them
    ``row_log``             writes the rows
    ``autograd_graph``      autograd's nodes, and the hooks that read the adjoints
    ``kept_tensors``        tensors that are shown later with the values that they had
    ``model_parameters``    parameters by name
    ``parameter_history``   where parameters were created, frozen, replaced or copied
    ``training_events``     the backward passes and optimizer steps of a training loop
    ``adapter``             the facts about tensors that the checks need
    ``checks``              why a .grad is None, zero or NaN; each check looks for one cause
    ``suspects``            gradients that exist but are wrong
    ``operation_families``  PyTorch's operations, by the way in which they make adjoints zero
    ``ledger``              a package: the accounts of gradients, for ``run_watch``
    ``program``             runs a program for the command line, and a step that went wrong once more
    ``raised_errors``       explains the error that ended a program
    ``nonfinite_values``    the first operation that made a value NaN or infinite
    ``copy_window``         records the passes that a copy of the process was asked for
    ``patch_runs``          runs a patched program in copies of the process
    ``overruled``           problems of the first steps that later steps have shown to be none

``tensorflow/`` works with TensorFlow's callbacks and tapes instead of hooks. Modules with the same names as in
``torch/`` have the same purpose. These modules are additional:

    ``operation_log``       what TensorFlow reports about an operation
    ``tensor_rows``         which row stands for which tensor
    ``sweep_watcher``       the sweeps of tapes
    ``function_graphs``     the graph of a ``tf.function``
    ``function_calls``      reruns a call of a ``tf.function``, for explain and for pictures that open the call
    ``model_variables``     variables by name
    ``numpy_calls``         where NumPy reads a tensor's memory
    ``guard``               keeps errors of the bridge from stopping the program

``jax/`` has ``record(f, *args)`` instead of a block. Modules with the same names have the same purpose. These modules
are additional:

    ``jaxpr_run``           runs the equations of ``f`` one by one, and finds what tracers know about values
    ``backward_pass``       JAX's own sweeps through them
    ``program_origin``      the lines of the recorded rows, in the text of the program
    ``program``             records the first gradients that a program computes, for the command line

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
