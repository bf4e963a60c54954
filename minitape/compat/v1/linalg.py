"""``tf.compat.v1.linalg``: ``tf.linalg`` with the arguments of TensorFlow 1."""

from .respelled import namespace as _namespace

__getattr__, __dir__ = _namespace("linalg", globals(), """
norm  tensor ord axis keepdims name keep_dims=keepdims
""", {"linalg.decompositions": "transpose=matrix_transpose"}, without="banded_triangular_solve eig eigvals")
