"""The names of `tf.tf.io`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.data.files import (
    decode_csv as decode_csv,
    read_file as read_file,
    write_file as write_file,
)
from minitape.tf.image.codecs import (
    decode_image as decode_image,
    decode_jpeg as decode_jpeg,
    decode_png as decode_png,
    encode_jpeg as encode_jpeg,
    encode_png as encode_png,
)
from minitape.tf.strings.encoding import (
    decode_base64 as decode_base64,
    decode_raw as decode_raw,
    encode_base64 as encode_base64,
)
