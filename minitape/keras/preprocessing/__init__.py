"""``tf.keras.preprocessing``: where older programs find what is in ``tf.keras.utils`` today."""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.keras.preprocessing", {
    "keras.folders": "text_dataset_from_directory",
    "keras.windows": "timeseries_dataset_from_array",
}, globals(), {name: (f"keras.preprocessing.{name}", "") for name in ("sequence", "text")})  # fmt: skip
