"""TensorFlow itself: the programs of the minitape peer, letter for letter, under the other import."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
sys.path = [p for p in sys.path if not p.endswith("peers")]
tf = importlib.import_module("tensorflow")
tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

_text = (Path(__file__).parent / "minitape.py").read_text(encoding="utf-8")
_text = _text.replace('import_module("minitape")', 'import_module("tensorflow")').replace(".array[", ".numpy()[")
exec(compile(_text, "minitape.py under TensorFlow", "exec"))
