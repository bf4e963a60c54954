"""Layers of sequence models against NumPy, and what happens to masks on the way."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf
from minitape.check import check_grads
from minitape.keras.base import get_keras_mask

K, L = tf.keras, tf.keras.layers


def data(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def close(found, wanted, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=tolerance, atol=tolerance)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# -- attention --------------------------------------------------------------------------------------------------------


def attended(layer, query, value, allowed=True):
    """Attention written head by head."""
    wq, bq, wk, bk, wv, bv, wo, bo = layer.get_weights()
    out = np.zeros((*query.shape[:-1], wo.shape[-1])) + bo
    for head in range(wq.shape[1]):
        q, k, v = (x @ w[:, head] + b[head] for x, w, b in ((query, wq, bq), (value, wk, bk), (value, wv, bv)))
        scores = np.where(allowed, q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]), -1e9)
        out += softmax(scores) @ v @ wo[head]
    return out


def test_heads_attend_each_on_its_own():
    query, value = data(2, 3, 4), data(2, 5, 6, seed=1)
    layer = L.MultiHeadAttention(2, 3, bias_initializer=K.initializers.RandomNormal(seed=1))
    close(layer(query, value), attended(layer, query, value))
    allowed = data(2, 3, 5, seed=2) > -0.5
    allowed[..., 0] = True
    close(layer(query, value, attention_mask=allowed), attended(layer, query, value, allowed))
    close(layer(query, value, use_causal_mask=True), attended(layer, query, value, np.tri(3, 5, dtype=bool)))
    scores = layer(query, value, attention_mask=allowed, return_attention_scores=True)[1].numpy()
    assert scores.shape == (2, 2, 3, 5) and not scores[~np.broadcast_to(allowed[:, None], scores.shape)].any()
    close(scores.sum(-1), np.ones((2, 2, 3)))


def test_the_derivatives_of_attention():
    layer = L.MultiHeadAttention(2, 3, dtype="float64")
    x = tf.constant(data(1, 3, 4), tf.float64)
    layer(x, x)
    check_grads(lambda q, v: layer(q, v, use_causal_mask=True), (x, 2.0 * x), order=2)
    check_grads(lambda q, v: L.Attention(score_mode="concat", dtype="float64")([q, v]), (x, 2.0 * x), order=1)


def test_a_key_bias_has_no_influence_but_a_gradient():
    layer, x = L.MultiHeadAttention(2, 3), tf.constant(data(1, 3, 4))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x, x) ** 2)
    grads = dict(zip([w.path.split("/", 1)[1] for w in layer.weights], tape.gradient(loss, layer.weights), strict=True))
    assert None not in grads.values()
    close(grads["key/bias"], np.zeros((2, 3)))


def test_masks_of_query_and_value_reach_attention():
    x = L.Embedding(5, 4, mask_zero=True)(np.array([[1, 2, 0]]))
    plain = tf.constant(x.numpy())
    layer = L.MultiHeadAttention(1, 2)
    y = layer(x, x)
    close(get_keras_mask(y), [[True, True, False]])
    close(y[:, :2], layer(plain, plain[:, :2])[:, :2])
    x = L.Embedding(5, 4, mask_zero=True)(np.array([[1, 2, 0]]))
    close(L.Attention()([x, x])[0, 2], np.zeros(4))


def test_merged_masks():
    x, y = (L.Embedding(5, 4, mask_zero=True)(np.array([ids])) for ids in ([1, 2, 0, 0], [1, 0, 3, 0]))
    close(get_keras_mask(L.Add()([x, y])), [[True, True, True, False]])
    close(get_keras_mask(L.Concatenate(axis=1)([x, tf.ones([1, 1, 4])])), [[True, True, False, False, True]])
    close(get_keras_mask(L.Concatenate()([x, y])), [[True, True, True, False]])
    assert get_keras_mask(L.Add()([x, tf.ones([1, 4, 4])])) is None


def test_layers_made_anew_from_their_configuration():
    x = data(2, 3, 4)
    for layer in (
        L.MultiHeadAttention(
            2, 3, value_dim=2, output_shape=5, kernel_regularizer="l2", activity_regularizer="l2", seed=1
        ),
        L.EinsumDense("abc,cd->abd", (None, 2), "relu", "d", activity_regularizer="l1"),
    ):
        given = (x, x) if isinstance(layer, L.MultiHeadAttention) else (x,)
        y = layer(*given)
        again = type(layer).from_config(layer.get_config())
        again(*given)
        again.set_weights(layer.get_weights())
        close(again(*given), y)
        assert again.get_config() == layer.get_config() and len(again.losses) == len(layer.losses) > 0


def test_softmax_leaves_out_what_is_masked():
    x, mask = data(2, 3), np.array([[True, False, True], [False, False, False]])
    y = L.Softmax()(x, mask=tf.constant(mask)).numpy()
    close(y[0, [0, 2]], softmax(x[0, [0, 2]]))
    assert not y[~mask].any()
    close(L.Softmax(axis=(1, 2))(data(2, 3, 4)), softmax(data(2, 12)).reshape(2, 3, 4))
    with pytest.raises(ValueError, match="must be broadcastable"):
        L.Softmax()(x, mask=tf.ones([2, 2]))


def test_a_small_transformer_learns():
    ids = np.random.default_rng(0).integers(1, 9, (64, 6))
    labels = (ids[:, 0] > 4).astype(np.float32)
    tokens = K.Input((6,), dtype="int32")
    x = L.Embedding(9, 8, embeddings_initializer=K.initializers.RandomNormal(seed=1))(tokens)
    heads = L.MultiHeadAttention(2, 4, kernel_initializer=K.initializers.GlorotUniform(2))
    x = L.LayerNormalization()(L.Add()([x, heads(x, x)]))
    y = L.Dense(1, "sigmoid", kernel_initializer=K.initializers.GlorotUniform(3))(L.Flatten()(x))
    model = K.Model(tokens, y)
    model.compile(K.optimizers.Adam(0.02), "binary_crossentropy", metrics=["accuracy"])
    history = model.fit(ids, labels, epochs=15, verbose=0, shuffle=False).history
    assert history["accuracy"][-1] > 0.95 and history["loss"][-1] < 0.3 * history["loss"][0]


# -- recurrent cells and wrappers -------------------------------------------------------------------------------------

CELLS = {"SimpleRNN": L.SimpleRNNCell, "GRU": L.GRUCell, "LSTM": L.LSTMCell}


@pytest.mark.parametrize("name", CELLS)
def test_a_recurrent_layer_is_its_cell_step_by_step(name):
    layer, x = getattr(L, name)(3), tf.constant(data(2, 4, 5))
    y = layer(x)
    cell = CELLS[name](3)
    cell.build((None, 5))
    cell.set_weights(layer.get_weights())
    states = cell.get_initial_state(batch_size=2)
    for i in range(4):
        out, states = cell(x[:, i], states)
    close(out, y)
    close(L.RNN(cell)(x), y)
    names = [f"{layer.name}/{layer.cell.name}/{weight}" for weight in ("kernel", "recurrent_kernel", "bias")]
    assert [w.path for w in layer.weights] == names


def test_a_cell_of_ones_own_and_a_stack():
    @K.utils.register_keras_serializable()
    class Sum(K.Layer):
        state_size = 2

        def call(cell, x, states):
            total = states[0] + x
            return total, [total]

    x = data(2, 4, 2)
    layer = L.RNN(Sum(), return_sequences=True, return_state=True)
    y, state = layer(x)
    close(y, x.cumsum(1))
    close(state, x.sum(1))
    mask = np.array([[True, False, True, True]] * 2)
    close(layer(x, mask=mask)[1], x[:, [0, 2, 3]].sum(1))
    stack = L.RNN([Sum(), L.LSTMCell(3)], return_state=True)
    assert [t.shape for t in tf.nest.flatten(stack(x))] == [(2, 3), (2, 2), (2, 3), (2, 3)]
    again = L.RNN.from_config(stack.get_config())
    again(x)
    again.set_weights(stack.get_weights())
    close(again(x)[0], stack(x)[0])


def test_states_that_are_kept():
    x = tf.constant(data(2, 6, 3))
    layer = L.GRU(4, stateful=True)
    layer(x[:, :3])
    second = layer(x[:, 3:])
    whole = L.GRU(4)
    whole(x)
    whole.set_weights(layer.get_weights())
    close(second, whole(x))
    layer.reset_state()
    close(layer(x), whole(x))
    with pytest.raises(ValueError, match="batch size"):
        layer(x[:1])


@pytest.mark.parametrize("mode", ["concat", "sum", "mul", "ave", None])
def test_both_directions(mode):
    x = data(2, 4, 3)
    layer = L.Bidirectional(L.LSTM(2, return_sequences=True, return_state=True), merge_mode=mode)
    found = layer(x)
    ahead, back = (
        L.LSTM(2, return_sequences=True, return_state=True),
        L.LSTM(2, return_sequences=True, return_state=True),
    )
    ahead(x), back(x)
    weights = layer.get_weights()
    ahead.set_weights(weights[:3])
    back.set_weights(weights[3:])
    (y, *states), (z, *others) = ahead(x), back(x[:, ::-1])
    y, z = y.numpy(), z.numpy()[:, ::-1]
    merged = {"concat": [np.concatenate([y, z], -1)], "sum": [y + z], "mul": [y * z], "ave": [(y + z) / 2]}
    for one, other in zip(found, [*merged.get(mode, [y, z]), *states, *others], strict=True):
        close(one, other)
    again = L.Bidirectional.from_config(layer.get_config())
    again(x)
    again.set_weights(weights)
    close(again(x)[0], found[0])


def test_the_derivatives_of_both_directions():
    layer = L.Bidirectional(L.GRU(2, return_sequences=True, dtype="float64"), dtype="float64")
    x = tf.constant(data(1, 3, 2), tf.float64)
    layer(x)
    check_grads(lambda v: layer(v, mask=tf.constant([[True, False, True]])), (x,), order=1)


def test_a_layer_for_each_step():
    x = data(2, 3, 4)
    inner = L.Dense(5, "tanh")
    layer = L.TimeDistributed(inner)
    close(layer(x), np.tanh(x @ inner.get_weights()[0]))
    assert layer.weights[0].path.endswith(f"{layer.name}/{inner.name}/kernel")
    lines = L.TimeDistributed(L.GRU(2))
    mask = data(2, 3, 4) > 0
    y = lines(data(2, 3, 4, 1), mask=mask)
    close(y[:, 1], lines.layer(data(2, 3, 4, 1)[:, 1], mask=mask[:, 1]))
    assert L.TimeDistributed(L.Dense(2)).compute_output_shape((None, 7, 4)) == (None, 7, 2)


def test_padding_does_not_count():
    x = data(2, 4, 3)
    x[0, 2:] = x[1, 3:] = 0
    layers = [L.Masking(), L.Bidirectional(L.GRU(2, return_sequences=True)), L.TimeDistributed(L.Dense(3)), L.LSTM(2)]
    model = K.Sequential(layers)
    y = model(x)
    close(model(x[:1, :2]), y[:1])
    close(model(x[1:, :3]), y[1:])


def test_products_along_axes():
    x, y = data(2, 4, 3), data(2, 3, 5, seed=1)
    close(L.Dot((2, 1))([x, y]), x @ y)
    close(L.dot([x, y], (-1, 1), normalize=True), np.einsum(
        "bik,bkj->bij", x / np.linalg.norm(x, axis=2, keepdims=True), y / np.linalg.norm(y, axis=1, keepdims=True)
    ))  # fmt: skip
    close(L.Dot(1)([x[:, 0], y[:, :, 0]]), (x[:, 0] * y[:, :, 0]).sum(1, keepdims=True))
    with pytest.raises(ValueError, match="Incompatible input shapes"):
        L.Dot(1)([x, y])


def test_saved_with_its_weights(tmp_path):
    x = data(2, 4, 3)
    model = K.Sequential([
        K.Input((4, 3)), L.Masking(), L.Bidirectional(L.LSTM(2, return_sequences=True)), L.TimeDistributed(L.Dense(2)),
        L.RNN([L.GRUCell(2), L.SimpleRNNCell(3)]),
    ])  # fmt: skip
    model.save(tmp_path / "model.keras")
    close(K.models.load_model(tmp_path / "model.keras")(x), model(x))


# -- normalisation and noise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("groups", "axis"), [(2, -1), (3, 1), (-1, -1), (1, 2)])
def test_groups_are_normalised(groups, axis):
    x = data(2, 6, 4)
    y = np.moveaxis(L.GroupNormalization(groups, axis, epsilon=0.0)(x).numpy(), axis, -1)
    groups = y.shape[-1] if groups == -1 else groups
    y = y.reshape(2, y.shape[1], groups, -1)
    close(y.mean((1, 3)), np.zeros((2, groups)))
    close(y.var((1, 3)), np.ones((2, groups)))


def test_whole_channels_are_dropped():
    y = L.SpatialDropout1D(0.5, seed=1)(np.ones((50, 4, 6), np.float32), training=True).numpy()
    assert (y == y[:, :1]).all() and abs(y.mean() - 1) < 0.1
    y = L.SpatialDropout2D(0.5, "channels_first", seed=1)(np.ones((50, 6, 2, 3), np.float32), training=True).numpy()
    assert (y == y[:, :, :1, :1]).all() and abs(y.mean() - 1) < 0.1
    y = L.GaussianDropout(0.2, seed=1)(np.ones((100, 100), np.float32), training=True).numpy()
    assert abs(y.mean() - 1) < 0.01 and abs(y.std() - 0.5) < 0.01


def test_the_configuration_of_small_layers():
    for layer in (
        L.SpatialDropout1D(0.5, seed=1), L.SpatialDropout2D(0.5, "channels_first"), L.GaussianDropout(0.5),
        L.GroupNormalization(2), L.UnitNormalization([1, 2]), L.ActivityRegularization(0.1, 0.2), L.Masking(2.0),
        L.Dot((1, 2), normalize=True), L.Attention(True, "concat", 0.5), L.AdditiveAttention(False),
    ):  # fmt: skip
        assert type(layer).from_config(layer.get_config()).get_config() == layer.get_config()


def test_a_penalty_on_activity():
    layer = L.ActivityRegularization(l1=0.5, l2=0.25)
    x = data(4, 3)
    close(layer(x), x)
    close(layer.losses[0], (0.5 * np.abs(x).sum() + 0.25 * (x**2).sum()) / 4)


# -- models -----------------------------------------------------------------------------------------------------------


def test_twins_share_a_model():
    inputs = K.Input((6, 4))
    tower = K.Model(inputs, L.LSTM(3)(L.SpatialDropout1D(0.2)(inputs)))
    one, other = K.Input((6, 4)), K.Input((6, 4))
    model = K.Model([one, other], L.Dot(1, normalize=True)([tower(one), tower(other)]))
    x, y = data(8, 6, 4), data(8, 6, 4, seed=1)
    close(model([x, x]), np.ones((8, 1)), 1e-4)
    model.compile(K.optimizers.Adam(0.02), "mse")
    losses = model.fit([x, y], np.ones((8, 1)), epochs=30, verbose=0).history["loss"]
    assert losses[-1] < 0.5 * losses[0] and len(model.trainable_variables) == 3


def test_recurrent_layers_are_built_inside_a_function():
    layer = L.Bidirectional(L.LSTM(3, recurrent_initializer=K.initializers.Orthogonal(seed=1)))

    @tf.function
    def gradient(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(loss, layer.trainable_variables)

    x = tf.constant(data(2, 4, 3))
    found = gradient(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(x) ** 2)
    for one, other in zip(found, tape.gradient(loss, layer.trainable_variables), strict=True):
        close(one, other)


def test_a_layer_is_no_part_of_itself():
    class Named(L.Layer):
        def build(me, shape):
            me.w = me.add_weight((shape[-1],), name="w")

        def call(me, x):
            return x * me.w

    layer = Named()
    layer(data(2, 3))
    assert [w.path for w in layer.weights] == ["named/w"]


def test_shapes_in_a_summary():
    class Attends(K.Model):
        def __init__(self):
            super().__init__()
            self.heads, self.both = L.MultiHeadAttention(2, 3, output_shape=5), L.Bidirectional(L.GRU(2))

        def call(self, x):
            return self.both(self.heads(x, x))

    model, lines = Attends(), []
    model(data(2, 4, 3))
    model.summary(print_fn=lines.append)
    assert "(2, 4, 5)" in "".join(lines) and "(2, 4)" in "".join(lines)
