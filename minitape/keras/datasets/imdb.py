"""``tf.keras.datasets.imdb``: made-up texts in the shapes of reviews of films, for and against."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.datasets.imdb", {"keras.datasets.wordlists": "load_data=imdb get_word_index=imdb_words"}, globals())
