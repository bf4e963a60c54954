"""Record a TensorFlow program that uses TensorFlow's own ``tf.GradientTape``, without changing the program.

``record()`` uses TensorFlow's operation callbacks to record every eager operation in its block.
When the program computes a gradient with a tape, TensorFlow's sweep also computes the adjoints between the target and
its leaves. All changes to TensorFlow are undone at the end of the block.

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

from ..framework_import import import_framework

import_framework("tensorflow", "TensorFlow", (2, 20))

from .recording import TensorFlowRecording as TensorFlowRecording  # noqa: E402 - behind the check
from .recording import record as record  # noqa: E402
from .recording import why as why  # noqa: E402
