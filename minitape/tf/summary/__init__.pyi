"""The names of `tf.tf.summary`, for editors and type checkers: see `python tests/house/make_stubs.py`."""

from minitape.tf.summary import (
    experimental as experimental,
)
from minitape.tf.summary.writing import (
    SummaryWriter as SummaryWriter,
    create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer,
    flush as flush,
    histogram as histogram,
    image as image,
    record_if as record_if,
    scalar as scalar,
    should_record_summaries as should_record_summaries,
    text as text,
    write as write,
)
