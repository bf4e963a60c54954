"""``tf.keras.datasets.reuters``: made-up texts in the shapes of news of 46 kinds."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.datasets.reuters", {"keras.datasets.wordlists": "load_data=reuters get_word_index=reuters_words get_label_names"}, globals())
