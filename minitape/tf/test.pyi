"""The names of `tf.tf.test`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.graphs.settings import (
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_built_with_gpu_support as is_built_with_gpu_support,
    is_gpu_available as is_gpu_available,
)
from minitape.tf.check import (
    compute_gradient as compute_gradient,
)
