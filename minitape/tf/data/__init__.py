"""``tf.data``: datasets. Here is which module holds which name.

``dataset``    what a dataset is made of and what is done to it; one walk over it
``elements``   its elements: structures of tensors, their types, and the order in which they are drawn
"""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy(
    "tf.data",
    {
        "tf.data.dataset": "AUTOTUNE Dataset Iterator=DatasetIterator",
    },
    globals(),
)
