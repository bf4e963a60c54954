"""The names of `tf.linalg`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.tf.products import (
    det as det,
    diag as diag,
    diag_part as diag_part,
    inv as inv,
    l2_normalize as l2_normalize,
    matvec as matvec,
    solve as solve,
    trace as trace,
)
