"""The backward sweep: which rows matter, the loop over them, and ``tf.GradientTape``, which starts it."""
