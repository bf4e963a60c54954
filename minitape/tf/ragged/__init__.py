"""``tf.ragged``: tensors whose rows have different lengths. Here is which module holds which name.

``tensor``   ``tf.RaggedTensor``: values, and where they are cut into rows; ``tf.ragged.constant`` makes one of lists
``rows``     the numbers that say how values are cut into rows, and what goes by them: picking, operators, reductions

Where rows begin and end is always known, also while a graph is built: only the values are part of the graph.
"""

from ..namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.ragged", {"tf.ragged.tensor": "constant"}, globals())
