"""``tf.GradientTape`` and the backward sweep: which rows matter, and the loop over them."""
