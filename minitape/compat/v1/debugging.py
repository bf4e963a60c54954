"""``tf.compat.v1.debugging``: ``tf.debugging`` with the arguments of TensorFlow 1."""

from .respelled import namespace as _namespace

_PAIR, _ONE = "x y data! summarize message name", "x data! summarize message name"

__getattr__, __dir__ = _namespace("debugging", globals(), f"""
assert_all_finite     t=x msg=message name x message
assert_equal          {_PAIR}
assert_greater        {_PAIR}
assert_greater_equal  {_PAIR}
assert_less           {_PAIR}
assert_less_equal     {_PAIR}
assert_near           x y rtol atol data! summarize message name
assert_negative       {_ONE}
assert_non_negative   {_ONE}
assert_non_positive   {_ONE}
assert_none_equal     {_PAIR}
assert_positive       {_ONE}
assert_rank           x rank data! summarize- message name
assert_rank_at_least  x rank data! summarize- message name
assert_rank_in        x ranks data! summarize- message name
assert_scalar         tensor name message
""", {"ops.elementwise": "is_finite is_inf is_nan", "ops.sorting": "is_non_decreasing is_strictly_increasing"})
