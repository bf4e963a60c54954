"""``tf.image``: other sizes and colours."""

from .namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.image", {
    "resizing": "ResizeMethod resize",
    "images": "adjust_brightness adjust_contrast adjust_hue adjust_saturation",
}, globals())  # fmt: skip
