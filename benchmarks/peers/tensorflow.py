"""TensorFlow itself: the programs of the minitape peer, under the other import."""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import tensorflow as tf  # after the settings, which it reads once

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

_text = (Path(__file__).parent / "minitape.py").read_text(encoding="utf-8")
_text = _text.replace("import minitape as tf", "import tensorflow as tf").replace(".array[", ".numpy()[")
exec(compile(_text, "minitape.py under TensorFlow", "exec"))
