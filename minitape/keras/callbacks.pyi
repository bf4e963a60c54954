"""The names of `tf.keras.callbacks`, for editors: see `python tests/repository/make_stubs.py`."""

