"""``tf.dtypes``: the types of elements, and casts from one to another. Here is which module holds which name."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.dtypes",
    {
        "engine.values.dtypes": "DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 "
        "half int16 "
        "int32 int64 int8 string uint16 uint32 uint64 uint8",
        "ops.casts": "cast saturate_cast",
    },
    globals(),
)
