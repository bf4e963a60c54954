"""``tf.summary``: numbers, histograms, pictures and texts in the files that TensorBoard reads.

``writing`` is what a program calls; ``events`` the bytes of a file (records of protocol buffers, with their checksums);
``values`` how each kind of summary is put into a tensor.
"""

from ...engine.namespace import lazy as _lazy

__getattr__, __dir__ = _lazy("tf.summary", {
    "tf.summary.writing": "SummaryWriter create_file_writer create_noop_writer flush histogram image record_if scalar "
                          "should_record_summaries text write",
}, globals(), {"experimental": ("tf.summary.experimental", "")})  # fmt: skip
