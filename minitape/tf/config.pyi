"""The names of `tf.tf.config`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from typing import Any as _Any
from minitape.graphs.settings import (
    LogicalDevice as LogicalDevice,
    PhysicalDevice as PhysicalDevice,
    functions_run_eagerly as _experimental_functions_run_eagerly,
    run_functions_eagerly as _experimental_run_functions_eagerly,
    functions_run_eagerly as functions_run_eagerly,
    get_soft_device_placement as get_soft_device_placement,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    run_functions_eagerly as run_functions_eagerly,
    set_soft_device_placement as set_soft_device_placement,
    set_visible_devices as set_visible_devices,
)
experimental: _Any
experimental_functions_run_eagerly = _experimental_functions_run_eagerly
experimental_run_functions_eagerly = _experimental_run_functions_eagerly
