"""The functions behind ``tf.keras.ops``, ``tf.keras.activations`` and ``tf.keras.random``, by area.

They compute with tensors only; :mod:`minitape.keras.ops` makes them accept symbolic tensors.
"""
