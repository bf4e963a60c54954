"""``tf.io``: strings as base64, as raw numbers and as rows of values; files read and written whole; images."""

from ..engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.io", {
    "tf.data.files": "decode_csv read_file write_file",
    "tf.image.codecs": "decode_image decode_jpeg decode_png encode_jpeg encode_png",
    "tf.strings.encoding": "decode_base64 decode_raw encode_base64",
}, globals())  # fmt: skip
