"""``tf.nest``: nested structures of Python, flattened and packed again."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.nest",
    {
        "engine.values.nest": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    },
    globals(),
)
