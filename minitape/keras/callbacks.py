"""``tf.keras.callbacks``: one of the documents imports it, and uses nothing of it."""
