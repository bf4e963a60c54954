"""The names of TensorFlow that minitape has: those that its lessons, its documents and its pictures use.

``api``          which module holds which public name, and what is said of others
``arguments``    how the functions read what they are given
``elementwise``  one line for each function of one or two numbers; ``where``, ``cast``
``array_functions``       shapes; tensors joined, taken apart and repeated
``indexing``     ``x[...]``, gather, masks, scatter
``creation``     zeros, ones, range, one_hot, ...
``reductions``   sums, means, extremes, positions and orders
``products``     products, norms, ``tf.linalg``
``random``       NumPy's generator
``nn``           activations, cross entropies, moments
``keras``        layers, losses, optimizers
``module``       ``tf.Module``
``composites``   ragged and sparse tensors, which hold and show
``strings``      bytes
``printing``     ``tf.print``
``tensorflow1``  what only TensorFlow 1 has
"""
