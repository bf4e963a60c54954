"""tf.data.Dataset against lists of Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minitape as tf

D = tf.data.Dataset
QUICK = settings(max_examples=40, deadline=None, derandomize=True)
NUMBERS = st.lists(st.integers(-9, 9), min_size=1, max_size=9)


def listed(dataset):
    return [x.tolist() if isinstance(x, np.ndarray) else x for x in dataset.as_numpy_iterator()]


def of(numbers):
    return D.from_tensor_slices(np.array(numbers, np.int64))


@QUICK
@given(NUMBERS, st.integers(1, 4), st.booleans())
def test_batches(numbers, size, drop):
    wanted = [numbers[i : i + size] for i in range(0, len(numbers), size)]
    batches = of(numbers).batch(size, drop_remainder=drop)
    assert listed(batches) == [b for b in wanted if len(b) == size or not drop]
    assert len(batches) == len(listed(batches))


@QUICK
@given(NUMBERS, st.integers(0, 5), st.integers(0, 3))
def test_steps_that_keep_the_order(numbers, count, times):
    data = of(numbers)
    assert listed(data.take(count)) == numbers[:count]
    assert listed(data.skip(count)) == numbers[count:]
    assert listed(data.repeat(times)) == numbers * times
    assert listed(data.map(lambda x: x * 2 + 1)) == [2 * x + 1 for x in numbers]
    assert listed(data.filter(lambda x: x > 0)) == [x for x in numbers if x > 0]
    assert listed(D.zip(data, data.map(lambda x: -x))) == [(x, -x) for x in numbers]
    assert listed(data.prefetch(2).cache()) == numbers


def test_shuffling_changes_from_one_iteration_to_the_next():
    data = D.range(50).shuffle(50)
    assert listed(data) != listed(data)


def test_structures():
    data = D.from_tensor_slices({"a": [1, 2], "b": ([3.0, 4.0], ["x", "y"])})
    first = next(iter(data))
    assert first["a"] == 1 and first["b"][1].numpy() == b"x"
    assert data.element_spec["b"][0] == tf.TensorSpec((), tf.float32)
    assert [x.numpy().tolist() for x in D.from_tensors([1, 2])] == [[1, 2]]


def test_generators_and_ranges():
    data = D.from_generator(lambda: iter([1, 2, 3]), output_signature=tf.TensorSpec((), tf.int32))
    assert listed(data) == listed(data) == [1, 2, 3]
    assert listed(D.range(2, 9, 3)) == [2, 5, 8]


def test_what_a_generator_yields_must_have_the_type_that_was_announced():
    signature = (tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
    assert [n.tolist() for n in listed(D.from_generator(lambda: [(1, [2, 3])], output_signature=signature))[0]] == [
        1,
        [2.0, 3.0],
    ]
    for item, message in ((1, "did not match the expected structure"), ((1, 2.0), r"yielded an element of shape \(\)")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            listed(D.from_generator(lambda item=item: [item], output_signature=signature))


def test_a_method_that_is_not_here_is_answered():
    for asked in (D, D.range(3)):
        with pytest.raises(
            AttributeError, match=r"^tf\.data\.Dataset\.interleave is not in minitape, a tape to learn from\."
        ):
            asked.interleave  # noqa: B018
    with pytest.raises(AttributeError, match=r"^'Dataset' object has no attribute 'shufle'$"):
        D.range(3).shufle  # noqa: B018
    with pytest.raises(AttributeError, match=r"^type object 'Dataset' has no attribute 'rnge'$"):
        D.rnge  # noqa: B018
    with pytest.raises(TypeError, match="Elements of datasets are dense tensors in minitape"):
        D.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))


def test_unequal_lengths_raise():
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        D.from_tensor_slices(([1, 2], [3]))


def test_a_training_loop():
    w = tf.Variable(0.0)
    x = np.linspace(-1, 1, 32, dtype=np.float32)
    for a, b in D.from_tensor_slices((x, 3 * x)).shuffle(32).batch(4).repeat(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((w * a - b) ** 2)
        w.assign_sub(0.5 * tape.gradient(loss, w))
    assert abs(float(w) - 3) < 1e-2


@pytest.mark.parametrize(
    "made",
    [
        lambda w: D.from_tensor_slices(w * 2.0),
        lambda w: D.from_tensor_slices(w),
        lambda w: D.from_tensors(w * 2.0),
        lambda w: D.from_tensors((w * 2.0, 1.0)).map(lambda a, b: a),
        lambda w: D.from_tensor_slices([1.0, 2.0]).map(lambda v: v * w[0]),
        lambda w: D.from_tensor_slices([[1.0, 2.0]]).batch(1).map(lambda v: v * w),
    ],
)
def test_no_tape_sees_into_a_dataset(made):
    # as in TensorFlow, where it runs beside the program; what is computed from its elements is recorded
    w = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        total = sum(tf.reduce_sum(e) for e in made(w))
        used = sum(tf.reduce_sum(e * w) for e in made(w))
    assert tape.gradient(total, w) is None
    assert tape.gradient(used, w) is not None
    assert tape.explain(total, w).cause in ("nondifferentiable_op", "outside_tape")
