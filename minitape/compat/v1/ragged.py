"""``tf.compat.v1.ragged``: ``tf.ragged`` and values of ragged tensors as NumPy arrays."""

from .respelled import namespace as _namespace

__getattr__, __dir__ = _namespace("ragged", globals(), "", {"compat.v1.composites": "constant_value placeholder=ragged_placeholder",
                                                     "tf.ragged.value": "RaggedTensorValue"})
