"""The names of `tf.bridges`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.bridges import (
    jax as jax,
    tensorflow as tensorflow,
    torch as torch,
)
from minitape.bridges.recording import (
    Recording as Recording,
)
from minitape.bridges.snapshot_recording import (
    Replay as Replay,
)
