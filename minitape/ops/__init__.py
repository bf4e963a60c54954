"""Functions of ``tf`` and ``tf.math`` that take tensors and give tensors: each takes its arguments and calls primitives.

From the user's values to a primitive
    ``convert``, ``operands``   Python's and NumPy's values become tensors, arguments of one type
    ``opdefs``, ``logs``        what TensorFlow's kernels take and how they refuse; what it logs
    ``registry``                gradients registered by the name of an operation

Element by element
    ``elementwise``, ``casts``, ``complexes``, ``clipping``   arithmetic, types, limits (``quick``: how arguments are taken)

Shapes and places
    ``arrays``, ``filling``, ``joining``, ``reversing``   shapes, tensors made of shapes, parts put together
    ``indexing``, ``picking``, ``scatter``   slices, elements picked out, elements put somewhere

Over axes
    ``reductions``, ``sorting``, ``counting``   sums and extremes, order, segments, counts

Beside values
    ``assertions``, ``printing``, ``introspection``, ``parts``   what is checked, shown and asked
    ``seeds``, ``philox``   where random numbers begin, and the generator
"""
