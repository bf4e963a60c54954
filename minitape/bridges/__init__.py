"""Bridges: the same picture and the same answers for programs that are written in another framework.

A bridge watches a program while it runs, unchanged, and writes what it sees into a :class:`Recording`. The live picture
(``TapeView``), the static one (``tf.draw``) and ``recording.explain`` read that. The adjoints are those which the
framework computed. Nothing of a framework is imported before its bridge is.

    ``require``     the framework, or an error that says what to install
    ``recording``   what was recorded: rows and backward passes; no framework is known here. ``pictures``: the same in
                    the words of the snapshot that pictures read; ``rows``: as explain reads it
    ``changes``     the block: what it changes in a framework, and undoes wherever Ctrl-C comes
    ``replay``      a recording that was kept as a snapshot, without its framework
    ``texts``       the sentences that are the same in all; the fixes of each cause are in ``minitape/explain/fixes``,
                    in the words of the framework
    ``sampling``    a block around a training loop that records every n-th step, or the first ones
    ``checkup``     a recording that can be asked why, also about a whole model; ``model_page``: the page of the
                    answers, with their numbers
    ``callbacks``   what a callback does of a library that owns the loop: ``keras``, ``lightning``, ``transformers``
    ``program``     a file runs as the main program in a block, for the command; ``pytest_plugin``: a test of a step
    ``torch/``      PyTorch. ``record``: the block; ``watch``: what is called in it, and in which module; ``rows``: the
                    rows that are made of it; ``graph``: autograd's nodes, and the hooks that read what passes through
                    them; ``value``: tensors that are shown later, but as they were; ``model``: parameters by name;
                    ``history``: where they were made, frozen, replaced; ``training``: the passes and steps that a loop
                    took; ``adapter``: what a question asks of tensors; ``checks``: why a .grad is None, zero or NaN,
                    each check for one cause; ``words``: the sentences; ``suspects``: what is wrong with gradients that
                    are there
    ``tensorflow/`` TensorFlow, with the same parts, on its callbacks and tapes instead of hooks; ``operations``: what
                    it says of an operation; ``inside``: the graph of a tf.function, run again; ``calls``: that for
                    explain, and for pictures that open a call; ``numpy_calls``: where NumPy reads a tensor's memory
    ``jax/``        JAX, with the same parts: ``record(f, *args)``; ``run``: the equations of ``f``, one by one, and
                    what tracers know of values where there is no ``jit``; ``sweep``: JAX's sweeps backward and forward
                    through them; ``origin``: the lines of what was recorded, in the text of the program; ``program``:
                    for the command, the functions of its first gradients are recorded
    ``kept_values`` arrays that do not change, for TensorFlow and JAX, and how many bytes a recording keeps and holds

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
