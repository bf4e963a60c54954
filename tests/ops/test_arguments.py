"""Arguments do what TensorFlow 2.21 lets them do, or are refused: each case was tried there."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf

v1 = tf.compat.v1
RP = tf.experimental.RowPartition


def in_graph(function):
    with tf.Graph().as_default():
        return function()


# -- refused, where minitape cannot do it ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.train.Checkpoint().write("x", options=1), "Checkpoint.write does not support `options`"),
        (lambda: tf.train.Checkpoint().restore("x", options=1), "Checkpoint.restore does not support `options`"),
        (lambda: tf.autograph.to_graph(len, recursive=False), "to_graph does not support `recursive=False`"),
        (lambda: tf.Graph().as_graph_def(add_shapes=True), "as_graph_def does not support `add_shapes`"),
        (lambda: tf.Graph().as_graph_def(from_version=1), "as_graph_def does not support `from_version`"),
        (lambda: v1.Session(graph=tf.Graph()).run([], run_metadata=1), "run does not support `run_metadata`"),
        (lambda: v1.get_variable("v", initializer=1.0, partitioner=len), "get_variable does not support `partitioner`"),
        (
            lambda: in_graph(lambda: v1.get_variable("v", initializer=1.0, use_resource=False)),
            "get_variable does not support `use_resource=False`",
        ),
    ],
)
def test_what_can_not_be_done_is_refused(call, message):
    with pytest.raises(NotImplementedError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: v1.Session(graph=tf.Graph(), config=3), TypeError, 'must be a tf.ConfigProto, but got "int"'),
        (lambda: v1.Session(graph=tf.Graph()).run([], options=3), TypeError, 'must be a tf.RunOptions, but got "int"'),
        (
            lambda: in_graph(lambda: tf.gradients(tf.constant(1.0), [], aggregation_method=9)),
            ValueError,
            "Invalid `aggregation_method` specified 9. Accepted values are",
        ),
        (
            lambda: v1.train.Optimizer().compute_gradients(len, gate_gradients=7),
            ValueError,
            "gate_gradients must be one of: Optimizer.GATE_NONE, .* Not 7",
        ),
        (
            lambda: tf.Variable(1.0, synchronization=7, name="w"),
            ValueError,
            "Invalid variable synchronization mode: 7 for variable: w",
        ),
        (lambda: tf.Variable(1.0, aggregation=7), ValueError, "Invalid variable aggregation mode: 7 for variable: None"),
        (
            lambda: tf.data.Dataset.range(3).map(abs, num_parallel_calls=0),
            tf.errors.InvalidArgumentError,
            "num_parallel_calls must be greater than zero",
        ),
        (
            lambda: tf.data.Dataset.range(3).prefetch(-7),
            tf.errors.InvalidArgumentError,
            "buffer_size must be >= 0 or set buffer_size to be -1",
        ),
        (lambda: tf.data.Dataset.range(3).with_options(3), TypeError, "must be a tf.data.Options"),
        (lambda: tf.linalg.matrix_rank([1.0]), ValueError, r"must have at least 2 dimensions \(saw: 1\)"),
        (
            lambda: tf.matmul(tf.ones([2, 2, 2]), tf.ones([2, 2, 2]), b_is_sparse=True),
            tf.errors.InvalidArgumentError,
            r"a is not a matrix \[Op:SparseMatMul\]",
        ),
        (
            lambda: tf.map_fn(lambda n: tf.ones([n]), tf.constant([1, 2]), fn_output_signature=tf.float32),
            ValueError,
            r"Incompatible shape for value \(\(2,\)\), expected \(\(1,\)\)",
        ),
        (
            lambda: tf.map_fn(
                lambda n: tf.ones([n]), tf.constant([1, 2]), fn_output_signature=tf.float32, infer_shape=False
            ),
            tf.errors.InvalidArgumentError,
            r"values\[0\].shape = \[1\] != values\[1\].shape = \[2\]",
        ),
        (lambda: tf.make_tensor_proto([1, 2], shape=[2, 1], verify_shape=True), TypeError, r"\(2, 1\), but got \(2,\)"),
        (lambda: tf.make_tensor_proto([1, 2, 3], shape=[2]), ValueError, "Takes at most 2, but got 3"),
        (
            lambda: v1.constant_initializer([1, 2, 3], verify_shape=True)([3, 1]),
            TypeError,
            r"with shape \(3, 1\), but got shape \(3,\)",
        ),
        (lambda: in_graph(lambda: v1.name_scope(None, 3).__enter__()), TypeError, "`default_name` type"),
        (
            lambda: in_graph(lambda: v1.name_scope(None, None, [3]).__enter__()),
            ValueError,
            "At least one of name .None. and default_name .None. must be provided",
        ),
        (
            lambda: in_graph(lambda: v1.get_variable("w", initializer=1.0).load(5.0)),
            ValueError,
            "Either session argument should be provided",
        ),
        (
            lambda: in_graph(lambda: tf.tuple([tf.constant(1.0)], control_inputs=[3])),
            TypeError,
            "'control_inputs' must only contain Operation or Tensor",
        ),
        (lambda: tf.parallel_stack([1, 2]), RuntimeError, "not compatible with eager execution"),
    ],
)
def test_wrong_values_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


# -- honoured ---------------------------------------------------------------------------------------------------------


def test_a_regularizer_and_a_constraint_of_a_scope_are_defaults():
    with tf.Graph().as_default() as graph:
        with v1.variable_scope("s", constraint=abs, regularizer=lambda v: v * 2.0):
            w = v1.get_variable("w", initializer=1.0)
            v1.get_variable("u", initializer=1.0, regularizer=lambda v: v * 3.0)
        losses = v1.get_collection("regularization_losses")
        assert w.constraint is abs
        assert [loss.name for loss in losses] == ["s/w/Regularizer/mul:0", "s/u/Regularizer/mul:0"]
        assert [v.name for v in graph.get_collection("variables", "s/w")] == ["s/w:0"]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            assert session.run(losses) == [2.0, 3.0]


def test_a_variable_that_is_synchronized_on_reading_is_not_trainable():
    on_read = tf.VariableSynchronization.ON_READ
    assert not tf.Variable(1.0, synchronization=on_read).trainable
    assert tf.Variable(1.0, synchronization=on_read, trainable=True).trainable
    v = in_graph(lambda: v1.get_variable("w", initializer=1.0, synchronization=on_read))
    assert (v.trainable, v.synchronization) == (False, on_read)


def test_part_of_a_variable_is_initialized_as_the_whole():
    class Whole:
        full_shape = (10_000, 2)

    made = v1.glorot_uniform_initializer(seed=1)([100, 2], partition_info=Whole)
    assert 0.02 < float(tf.reduce_max(tf.abs(made))) <= (6 / 10_002) ** 0.5


def test_tensors_in_values_choose_the_graph():
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        x = tf.constant(1)
    with second.as_default():
        y = tf.constant(1)
        with v1.name_scope("n", None, [x]):
            assert v1.get_default_graph() is first
        with pytest.raises(ValueError, match="must be from the same graph"), v1.name_scope("n", None, [x, y]):
            pass


def test_from_generator_knows_its_shapes():
    make = tf.data.Dataset.from_generator
    dataset = make(lambda: iter([[1, 2], [3, 4, 5]]), output_types=tf.int32, output_shapes=[None])
    assert dataset.element_spec == tf.TensorSpec([None], tf.int32)
    assert [d.numpy().tolist() for d in dataset] == [[1, 2], [3, 4, 5]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"element of shape \(3,\) where an element of shape \(2,\)"):
        list(make(lambda: iter([[1, 2], [3, 4, 5]]), output_types=tf.int32, output_shapes=[2]))
    with pytest.raises(TypeError, match="`output_shapes` argument can not be used together"):
        make(list, output_signature=tf.TensorSpec([], tf.int32), output_shapes=[])
    with pytest.raises(TypeError, match="To specify the output signature"):
        make(list, output_shapes=[])


def test_the_row_splits_of_a_ragged_batch():
    dataset = tf.data.Dataset.range(3).map(tf.range).ragged_batch(3, row_splits_dtype=tf.int32)
    assert next(iter(dataset)).row_splits.dtype == tf.int32


@pytest.mark.parametrize(("loop", "eager"), [
    (lambda x: tf.map_fn(lambda v: v * v, x, back_prop=False), [2, 4]),
    (lambda x: tf.scan(lambda a, v: a + v * v, x, back_prop=False), [2, 4]),
    (lambda x: tf.foldl(lambda a, v: a + v * v, x, back_prop=False), [1, 4]),
    (lambda x: tf.foldr(lambda a, v: a + v * v, x, back_prop=False), [2, 1]),
    (lambda x: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x), (0, x), back_prop=False)[1], [3, 12]),
])  # fmt: skip
def test_no_gradient_passes_a_loop_of_a_graph_without_back_prop(loop, eager):
    x = tf.Variable([1.0, 2.0])
    found = []
    for f in (loop, tf.function(loop)):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(f(x))
        found.append(tape.gradient(y, x))
    assert found[0].numpy().tolist() == eager
    assert found[1] is None


def test_case_unpacks_a_list_of_one_unless_strict():
    pairs = [(tf.constant(True), lambda: [tf.constant(1)])]
    other = lambda: [tf.constant(3)]  # noqa: E731
    assert tf.case(pairs, default=other, strict=False).numpy() == 1
    assert [t.numpy() for t in tf.case(pairs, default=other, strict=True)] == [1]
    assert [t.numpy() for t in tf.case(pairs)] == [1]  # the last one without a default is called by itself


def test_a_tuple_of_a_graph_runs_its_control_inputs():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=1.0)
        with pytest.raises(TypeError, match="must only contain Operation or Tensor"):
            tf.tuple([tf.constant(5.0)], control_inputs=[v.assign_add(1.0)])
        (x,) = tf.tuple([tf.constant(5.0)], control_inputs=[v.assign_add(1.0).op])
        session.run(v.initializer)
        assert (session.run(x), session.run(v)) == (5.0, 2.0)


def test_a_signature_on_one_line():
    concrete = tf.function(lambda x, y=2: x).get_concrete_function(tf.constant(1.0))
    spec = "TensorSpec(shape=(), dtype=tf.float32, name=None)"
    assert concrete.pretty_printed_signature(verbose=False) == f"(x: {spec}, y: Literal[2]) -> {spec}"


def test_a_partly_known_value():
    with tf.Graph().as_default():
        stacked = tf.stack([v1.placeholder(tf.int32, []), 3])
        known = tf.get_static_value(stacked, partial=True)
        assert known[0] is None and known[1] == 3
        assert tf.get_static_value(stacked) is None


def test_a_proto_is_filled_with_its_last_element():
    assert tf.make_ndarray(tf.make_tensor_proto([1, 2, 3], shape=[2, 2])).tolist() == [[1, 2], [3, 3]]


# -- ragged and sparse tensors as structures --------------------------------------------------------------------------

RAGGED = tf.ragged.constant([[[1]], [[2], [3, 4]]])


def test_composite_tensors_are_expanded():
    parts = tf.nest.flatten([RAGGED], expand_composites=True)
    assert [p.numpy().tolist() for p in parts] == [[1, 2, 3, 4], [0, 1, 3], [0, 1, 2, 4]]
    (again,) = tf.nest.pack_sequence_as([RAGGED], [parts[0] * 10, *parts[1:]], expand_composites=True)
    assert again.to_list() == [[[10]], [[20], [30, 40]]]
    uniform = tf.RaggedTensor.from_uniform_row_length(tf.ragged.constant([[1], [2, 3]]), 2)
    doubled = tf.nest.map_structure(lambda t: t * 2 if t.dtype == tf.int32 else t, uniform, expand_composites=True)
    assert (doubled.to_list(), doubled.shape) == ([[[2], [4, 6]]], uniform.shape)
    sparse = tf.sparse.from_dense([[1, 0]])
    assert [p.numpy().tolist() for p in tf.nest.flatten(sparse, expand_composites=True)] == [[[0, 0]], [1], [1, 2]]


def test_the_leaves_of_a_module_are_expanded():
    module = tf.Module()
    module.r, module.v = tf.ragged.constant([[1.0], [2.0, 3.0]]), tf.Variable(1.0)
    paths = [path for path, _ in module._flatten(expand_composites=True, with_path=True, predicate=tf.is_tensor)]
    assert paths == [("r", "RaggedTensor", 0), ("r", "RaggedTensor", 1), ("v",)]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (tf.constant(1), 'is a sequence, while substructure "type=EagerTensor str=tf.Tensor.1, shape=.., dtype=int32." is n'),
        (tf.sparse.from_dense([[1]]), "Incompatible CompositeTensor TypeSpecs: type=RaggedTensorSpec .* vs. type=Sparse"),
        (tf.ragged.constant([[1]]), "Incompatible CompositeTensor TypeSpecs: type=RaggedTensorSpec .* vs. type=Ragged"),
    ],
)
def test_composite_tensors_of_other_kinds_differ(other, message):
    tf.nest.assert_same_structure([RAGGED], [other])
    with pytest.raises(ValueError, match=message):
        tf.nest.assert_same_structure([RAGGED], [other], expand_composites=True)


def test_sparse_tensors_of_other_shapes_are_alike():
    tf.nest.assert_same_structure(tf.sparse.from_dense([[1, 0]]), tf.sparse.from_dense([3]), expand_composites=True)


# -- row partitions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda **k: RP.from_row_splits([0, 2, 2, 3], **k),
        lambda **k: RP.from_row_lengths([2, 0, 1], **k),
        lambda **k: RP.from_row_starts([0, 2, 2], 3, **k),
        lambda **k: RP.from_row_limits([2, 2, 3], **k),
        lambda **k: RP.from_value_rowids([0, 0, 2], **k),
    ],
)
def test_row_partitions(make):
    rows = make()
    assert repr(rows) == "tf.RowPartition(row_splits=[0 2 2 3])"
    assert rows.dtype == tf.int64 and make(dtype=tf.int32).dtype == tf.int32
    assert rows.with_dtype(tf.int32).nrows().dtype == tf.int32
    assert rows.offsets_in_rows().numpy().tolist() == [0, 1, 0]
    assert (rows.row_starts().numpy().tolist(), rows.row_limits().numpy().tolist()) == ([0, 2, 2], [2, 2, 3])
    assert (rows.static_nrows, rows.is_uniform(), rows.uniform_row_length()) == (3, False, None)


def test_uniform_row_partitions():
    rows = RP.from_uniform_row_length(2, nvals=6, dtype=tf.int32)
    assert repr(rows) == "tf.RowPartition(nrows=3, uniform_row_length=2)"
    assert (rows.dtype, rows.uniform_row_length().numpy(), rows.is_uniform()) == (tf.int32, 2, True)
    assert RP.from_uniform_row_length(2, nvals=7, validate=False).static_nrows == 3


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RP.from_row_splits([0, 2, 1]), tf.errors.InvalidArgumentError, "valid RaggedTensor:monotonic"),
        (lambda: RP.from_row_splits([1, 2]), tf.errors.InvalidArgumentError, "valid RaggedTensor:zero"),
        (lambda: RP.from_row_lengths([-1, 2]), tf.errors.InvalidArgumentError, "x >= 0 did not hold"),
        (lambda: RP.from_row_starts([0, 5], 3), tf.errors.InvalidArgumentError, "x <= y did not hold"),
        (lambda: RP.from_row_limits([2, 1]), tf.errors.InvalidArgumentError, "x >= 0 did not hold"),
        (lambda: RP.from_value_rowids([1, 0]), tf.errors.InvalidArgumentError, "x >= 0 did not hold"),
        (lambda: RP.from_value_rowids([0, 3], nrows=2), ValueError, "Expected nrows >= value_rowids"),
        (lambda: RP.from_uniform_row_length(2, nvals=7), ValueError, "must equal nvals=7"),
        (lambda: RP.from_uniform_row_length(2), ValueError, "Either .or both. of nvals and nrows must be specified"),
        (lambda: RP.from_row_splits([0, 2], dtype=tf.float32), ValueError, "row_splits must have dtype int32 or int64"),
        (lambda: RP([0, 1]), ValueError, "RowPartition constructor is private"),
    ],
)
def test_wrong_row_partitions_are_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_what_is_not_validated_is_kept():
    assert RP.from_row_splits([0, 2, 1], validate=False).row_splits().numpy().tolist() == [0, 2, 1]
    np.testing.assert_array_equal(RP.from_row_lengths([-1, 2], validate=False).row_splits(), [0, -1, 1])
