"""Provide minitape's pictures and explanations for programs in other frameworks.

A bridge watches an unchanged program as it runs, and records the program's operations in a :class:`Recording`. The live
picture (``TapeView``), the static picture (``tf.draw``) and ``recording.explain`` all use the recording. The adjoints
in a recording are the ones that the framework itself computed. A framework is imported only when its bridge is
imported.

All bridges share these modules:

    ``recording``           the rows and backward passes of a program, independent of any framework
    ``picture_reader``      reads a recording into the snapshot that pictures show
    ``framework_adapter``   converts a recording into the rows that explain reads
    ``snapshot_recording``  a recording read from a snapshot, for which the framework need not be installed
    ``known_errors``        what a framework's error means, according to its message
    ``kept_values``         values kept for display, and the limit on their memory
    ``framework_import``    imports the framework, or raises an error that names the package to install
    ``framework_patches``   patches a framework for one block, and undoes the patches even after Ctrl-C
    ``sampling``            the block around a training loop that records only every n-th step or the first steps
    ``checkup``             the recording class that explains one source or a whole model
    ``model_page``          the page that lists a model's explanations and gradient statistics
    ``callbacks``           the base class of the callbacks ``keras``, ``lightning`` and ``transformers``, for libraries
                            that run the training loop
    ``program``             runs a file as the main program inside a block, for the command line
    ``nonfinite_values``    the first operation that made a value NaN or infinite
    ``outside_values``      the globals and closure variables that a compiled function read when it was traced
    ``mutable_state``       restores the objects that a repeated call may have changed
    ``traced_draws``        the random numbers that a compiled function keeps from its trace
    ``pytest_plugin``       a fixture that tests a training step
    ``run_watch``           a package that reports what happened to the gradients during a whole run

``torch/`` is the bridge for PyTorch:

    ``recording``           ``record()``, its block, and ``why()``
    ``watcher``             follows the PyTorch calls inside the block, and the modules that make them
    ``row_log``             writes the rows
    ``autograd_graph``      autograd's nodes, and the hooks that read the adjoints
    ``kept_tensors``        tensors kept for display, with their values at the time of recording
    ``device_summaries``    summaries of large tensors, computed on their device
    ``model_parameters``    the parameters of models, keyed by name
    ``parameter_history``   the lines that created, froze, replaced or copied parameters
    ``adapter``             the facts about tensors that the checks need
    ``checks``              the checks that find why a .grad is None, zero or NaN
    ``suspects``            the checks that find gradients that exist but are wrong
    ``operation_families``  PyTorch's operations, grouped by how they make adjoints zero
    ``ledger``              a package that keeps the gradient accounts for ``run_watch``
    ``program``             runs a program for the command line, and repeats a step that went wrong
    ``raised_errors``       explains the error that ended a program
    ``copy_window``         records the requested backward passes in a copy of the process
    ``patch_runs``          runs a patched program in copies of the process
    ``overruled``           removes problems found in the first steps that later steps disproved

``tensorflow/`` is the TensorFlow bridge, which uses TensorFlow's callbacks and tapes instead of hooks. Modules with
the same names as in ``torch/`` have the same purpose. The other modules are:

    ``operation_log``       what TensorFlow reports about an operation
    ``tensor_rows``         the row for each tensor
    ``sweep_watcher``       records the backward passes of tapes
    ``function_graphs``     the graph of a ``tf.function``
    ``function_calls``      repeats a ``tf.function`` call, for ``explain`` and for pictures that open the call
    ``model_variables``     the variables of models, keyed by name
    ``numpy_calls``         finds the lines where NumPy reads a tensor's memory
    ``loss_checks``         finds losses that a program forgets, and optimizers that it replaces in each step
    ``traced_values``       the Python values that a ``tf.function`` keeps from its trace
    ``guard``               keeps errors in the bridge from stopping the program

``jax/`` is the JAX bridge, which has ``record(f, *args)`` instead of a block. Modules with the same names as in
``torch/`` have the same purpose. The other modules are:

    ``jaxpr_run``           runs the equations of ``f`` one by one, and finds the values behind tracers
    ``backward_pass``       runs JAX's own backward pass through these equations
    ``program_origin``      finds the program's line for each recorded row
    ``program``             records the first gradients that a program computes, for the command line
    ``compiled_functions``  replaces the functions that ``jax.jit`` compiles, and finds values that they kept
    ``transforms``          finds the first non-finite example under ``jax.vmap`` or the first such row of a Jacobian
    ``static_fields``       finds arrays in static fields of modules

>>> from minitape.bridges import Recording
>>> recording = Recording("by hand")
>>> x = recording.add_leaf(3.0, name="x")
>>> y = recording.add_operation("square", [x], 9.0)
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
