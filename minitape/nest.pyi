"""The names of `tf.nest`, for editors: see `python tests/repository/make_stubs.py`."""

from minitape.engine.values.nest import (
    flatten as flatten,
    map_structure as map_structure,
    pack_sequence_as as pack_sequence_as,
)
