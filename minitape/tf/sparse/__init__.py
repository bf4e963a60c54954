"""``tf.sparse``: tensors of which only some elements are given. Here is which module holds which name.

``tensor``       ``tf.SparseTensor``: places and values
``functions``    from and to dense tensors, sums, products with dense matrices

The places must be known while a function is traced; the values need not be.
"""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.sparse",
    {
        "tf.sparse.functions": "from_dense reduce_sum sparse_dense_matmul to_dense",
        "tf.sparse.tensor": "SparseTensor",
    },
    globals(),
)
