"""Define ``tf.GradientTape`` and the backward sweep."""
