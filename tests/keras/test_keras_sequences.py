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
