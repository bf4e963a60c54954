"""``tf.image``: adjustments of colours."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.image", {
    "images": "adjust_brightness adjust_contrast adjust_hue adjust_saturation",
}, globals())  # fmt: skip
