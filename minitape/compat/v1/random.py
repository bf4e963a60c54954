"""``tf.compat.v1.random``: ``tf.random`` with the arguments of TensorFlow 1."""

from .respelled import namespace as _namespace

__getattr__, __dir__ = _namespace("random", globals(), """
poisson  lam shape dtype seed name
""", {"compat.v1.legacy": "multinomial set_random_seed"}, without="set_seed")
