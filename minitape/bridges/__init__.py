"""Bridges: the same picture and the same answers for programs that are written in another framework.

A bridge watches a program while it runs, unchanged, and writes what it sees into a :class:`Recording`. The live picture
(``TapeView``), the static one (``tf.draw``) and ``recording.explain`` read that. The adjoints are those which the
framework computed. Nothing of a framework is imported before its bridge is.

    ``require``     the framework, or an error that says what to install
    ``recording``   what was recorded, in the words of the snapshot that pictures read; no framework is known here
    ``changes``     the block: what it changes in a framework, and undoes wherever Ctrl-C comes
    ``replay``      a recording that was kept as a snapshot, without its framework
    ``texts``       the sentences that are the same in all; the fixes of each cause are in ``minitape/explain/fixes``,
                    in the words of the framework
    ``sampling``    a block around a training loop that records every n-th step, or only the one after a bad gradient
    ``checkup``     a whole model is asked about; ``model_page``: the page of the answers, with their numbers
    ``callbacks``   what a callback does of a library that owns the loop: ``keras``, ``lightning``, ``transformers``
    ``program``     a file runs as the main program in a block, for the command; ``pytest_plugin``: a test of a step
    ``rows``        the rows of a recording as explain reads them
    ``torch/``      PyTorch. ``record``: the block; ``watch``: what is called in it, and in which module; ``rows``: the
                    rows that are made of it; ``graph``: autograd's nodes, and the hooks that read what passes through
                    them; ``value``: tensors that are shown later, but as they were; ``model``: parameters by name;
                    ``training``: the passes and steps that a loop took; ``adapter``: what a question asks of tensors;
                    ``checks``: why a .grad is None, zero or NaN, each check for one cause; ``words``: the sentences;
                    ``suspects``: what is wrong with gradients that are there
    ``tensorflow``  TensorFlow: ``record()``; ``tensorflow_watch``, ``tensorflow_log``, ``tensorflow_why``,
                    ``tensorflow_texts``: the same parts, on TensorFlow's callbacks and tapes instead of hooks;
                    ``tensorflow_model``, ``tensorflow_suspects``: as for PyTorch; ``tensorflow_ops``: what
                    TensorFlow says of an operation; ``tensorflow_value``: what is kept of tensors, tapes and variables;
                    ``tensorflow_tapes``: what the tape that was asked recorded and watches
    ``tensorflow_inside``  the graph of a tf.function, run again; ``tensorflow_open``: for explain, and for pictures
                    that open a call
    ``kept_values`` arrays that do not change, for TensorFlow and JAX, and how many bytes a recording keeps and holds
    ``jax_program`` a program of JAX for the command: the functions of its first gradients are recorded
    ``jax``         JAX: ``record(f, *args)``; ``jax_run``: the equations of ``f``, one by one, and what tracers know
                    of values where there is no ``jit``; ``jax_log``: their rows; ``jax_sweep``: JAX's sweeps backward
                    and forward through them; ``jax_why``, ``jax_texts``: why a gradient is zero or refused;
                    ``jax_suspects``: what is wrong with one that is there; ``jax_origin``: the lines of what was
                    recorded, in the text of the program

>>> from minitape.bridges import Recording
>>> recording = Recording("by hand")
>>> x = recording.leaf(3.0, name="x")
>>> y = recording.operation("square", [x], 9.0)
>>> recording.close()
>>> [(row["label"], row["value"]["text"]) for row in recording.snapshot()["rows"]]
[('x', '3.0'), ('square', '9.0')]
"""

from ..common.lazy import lazy as _lazy

__getattr__, __dir__ = _lazy(
    globals(),
    {
        "bridges.recording": "Recording",
        "bridges.replay": "Replay",
        **{f"bridges.{name}": f"{name}=" for name in ("jax", "tensorflow", "torch")},
    },
)
