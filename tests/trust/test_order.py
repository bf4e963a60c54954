"""minitape keeps the order of elements where TensorFlow does. The expected values come from TensorFlow 2.21."""

import minitape as tf


def test_all_of_a_row_are_sorted_even_where_no_order_was_asked_for():
    assert tf.math.top_k([1.0, 3.0, 2.0], 3, sorted=False)[1].numpy().tolist() == [1, 2, 0]
