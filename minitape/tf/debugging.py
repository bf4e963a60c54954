"""``tf.debugging``: assertions on tensors. Here is which module holds which function."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.debugging",
    {
        "ops.assertions": "Assert assert_equal assert_greater assert_greater_equal assert_less assert_less_equal "
        "assert_near assert_negative assert_non_negative assert_non_positive assert_none_equal "
        "assert_positive assert_rank assert_shapes check_numerics",
        "functions.settings": "set_log_device_placement",
    },
    globals(),
)
