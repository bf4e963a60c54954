"""``tf.data``: datasets. Here is which module holds which name.

``dataset``    what a dataset is made of and what is done to it
``elements``   its elements: structures of tensors, and their types
``walks``      one walk over a dataset
``shuffling``  the order of TensorFlow
"""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.data", {
    "tf.data.dataset": "AUTOTUNE Dataset",
    "tf.data.walks": "Iterator=DatasetIterator",
}, globals())  # fmt: skip
