"""The bridge to TensorFlow: watches a program that is written for it, with its own ``tf.GradientTape``, unchanged.

``record()`` sees every operation that runs eagerly in its block (with TensorFlow's own callbacks for operations). When
a tape is asked for a gradient, TensorFlow's sweep is asked for the adjoints of what lies between, too. After the block
TensorFlow is as it was.

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
