"""Functions of ``tf`` and ``tf.math`` that take tensors and give tensors: each takes its arguments and calls
primitives.

From the user's values to a primitive
    ``operands``   arguments of one type, after ``engine/tensor/convert`` has made tensors of them

Element by element
    ``elementwise``, ``casts``, ``clipping``   arithmetic, types and complex numbers, limits

Shapes and places
    ``arrays``, ``filling``, ``joining``   shapes, tensors made of shapes, parts put together
    ``indexing``, ``picking``   slices, elements picked out, elements put somewhere

Over axes
    ``reductions``, ``sorting``   sums and extremes, order, segments, counts

Beside values
    ``printing``, ``parts``   what is shown; composite tensors taken apart
"""
