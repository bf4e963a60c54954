"""The names of `tf.compat`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

import minitape as _v2
from typing import Any as _Any
from minitape.compat import (
    v1 as v1,
)
from minitape.compat.text import (
    as_bytes as as_bytes,
    as_str_any as as_str_any,
    as_text as as_text,
    bytes_or_text_types as bytes_or_text_types,
    complex_types as complex_types,
    integral_types as integral_types,
    path_to_str as path_to_str,
    real_types as real_types,
)
from minitape.engine.dimension import (
    dimension_at_index as dimension_at_index,
    dimension_value as dimension_value,
)
def as_str(bytes_or_text: _Any, encoding: _Any = 'utf-8') -> _Any:
    """Bytes as text; TypeError for anything else."""

v2 = _v2
