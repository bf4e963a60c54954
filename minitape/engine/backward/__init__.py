"""The backward sweep: which rows matter, the one loop over them, and ``tf.GradientTape``, which asks."""
