"""Functions of ``tf`` and ``tf.math`` that take tensors and give tensors: each takes its arguments and calls primitives."""
