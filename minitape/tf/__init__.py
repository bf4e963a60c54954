"""Provide the part of TensorFlow's API that the lessons, documents and pictures use.

``api``              the table of public names and the error for any other name
``arguments``        the conversion of arguments to tensors and integers
``elementwise``      one line for each function of one or two numbers, ``where`` and ``cast``
``array_functions``  shapes, and joining, splitting and repeating tensors
``indexing``         ``x[...]``, gather, masks and scatter
``creation``         zeros, ones, range, one_hot and others
``reductions``       sums, means, extremes and sorting
``products``         matrix products, norms and ``tf.linalg``
``random``           random numbers from NumPy's generator
``nn``               activations, cross entropies and moments
``keras``            layers, losses and optimizers
``module``           ``tf.Module``
``composites``       ragged and sparse tensors, which can be stored, shown and converted
``strings``          functions of byte strings
``printing``         ``tf.print``
``tensorflow1``      functions that only TensorFlow 1 has
"""
