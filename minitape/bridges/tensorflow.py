"""The bridge to TensorFlow: watches a program that is written for it, with its own ``tf.GradientTape``, unchanged.

``record()`` sees every operation that runs eagerly in its block (with TensorFlow's own callbacks for operations). When a tape is asked
for a gradient, TensorFlow's sweep is asked for the adjoints of what lies between, too. After the block TensorFlow is as it was.

>>> import tensorflow as tf
>>> w = tf.Variable([1.0, 2.0], name="w")
>>> with record() as recording:
...     with tf.GradientTape() as tape:
...         loss = tf.reduce_sum(w * w)
...     gradient = tape.gradient(loss, w)
>>> recording
Recording(tensorflow, 3 rows, 1 backward pass)
>>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
['w', '×', 'loss']
>>> recording.explain(loss, w).connected
True
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

from .need import need

tensorflow = need("tensorflow", "TensorFlow", (2, 20))

from tensorflow.python.pywrap_tfe import TFE_Py_TapeSetIsEmpty  # noqa: E402 - behind the check

from ..engine.recording.block import During  # noqa: E402
from .changes import Block  # noqa: E402
from .every import Every  # noqa: E402
from .recording import Recording  # noqa: E402
from .tensorflow_log import Log  # noqa: E402
from .tensorflow_watch import Watcher  # noqa: E402


class TensorFlowRecording(Recording):
    """What a block of TensorFlow computed.

    >>> x = tensorflow.constant(3.0)
    >>> with record() as recording:
    ...     with tensorflow.GradientTape() as tape:
    ...         y = x * x
    >>> recording.explain(y, x).cause
    'not_watched'
    """

    def __init__(self) -> None:
        super().__init__("tensorflow")
        self.log = Log(self)

    def _why(self, target: Any, source: Any) -> Any:
        from .tensorflow_why import why, why_last

        return why_last(self, source) if target is None else why(self, target, source)

    def insides(self, target: Any = None, row: int | None = None) -> list[Any]:
        """The insides of calls of a ``tf.function``, whose graphs run again; see ``docs/bridges.md``."""
        from .tensorflow_open import insides_of

        return insides_of(self, self.sweep_of(target), row)

    def asleep(self) -> AbstractContextManager[Any]:
        """What runs in the block is not the program's."""
        return During(self.log.changes, thread=None)

    def row_of(self, value: Any) -> int | None:
        """The last row that stands for a tensor or a variable."""
        rows = self.log.rows_of(value)
        return rows[-1] if rows else super().row_of(value)

    @property
    def leaves(self) -> Mapping[int, Any]:
        """The tensors, by row."""
        known = ((entry.row, entry.extra.asked) for entry in self.entries)
        return {row: SimpleNamespace(variable=None, tensor=asked) for row, asked in known if not isinstance(asked, tensorflow.TensorSpec)}


def record(*, open_functions: bool = False, every: int | None = None) -> AbstractContextManager[Any]:
    """Watches the TensorFlow program in the block: its eager operations, and the gradients that tapes are asked for in it.

    Recorded, a training step takes about twice as long. With ``every=100`` the first and then each hundredth step is recorded, from where a
    tape begins to where the next one does, and the others run as they are: such a block may stay in a training loop. The recording of the last of them answers.

    A call of a ``tf.function`` is one row, which pictures open. With ``open_functions`` functions run eagerly in the block, line by line: their operations
    are rows whose scope begins with the function's name, and a tape inside of them is seen. That is another way to compute the
    same: the last bits may differ from those of the function as TensorFlow compiled it. At most 20,000 rows are written; ``recording.left_out`` counts what came after them.

    >>> x = tensorflow.constant([1.0, 2.0])
    >>> with record() as recording:
    ...     with tensorflow.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = tensorflow.sin(x)
    ...     slope = tape.gradient(y, x)
    >>> [row["name"] or row["label"] for row in recording.snapshot()["rows"]]
    ['x', 'y']
    """
    if every is not None:
        return Every(lambda: record(open_functions=open_functions), every, [(tensorflow.GradientTape, "__enter__")], TFE_Py_TapeSetIsEmpty)  # type: ignore[arg-type, return-value]
    recording = TensorFlowRecording()
    return Block(recording, Watcher(recording, open_functions))
