"""Attention: each query takes a weighted mean of values, with weights from how well it fits their keys."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import Any

from ... import tf
from .. import base, random, regularizers
from ..layer import Layer
from .common import Weighted
from .einsum import EinsumDense
from .elementwise import Softmax
from .noise import Dropout


class MultiHeadAttention(Weighted):
    """Attention of several heads, each with projections of its own.

    A call takes a ``query`` (batch, queries, features) and a ``value`` (batch, values, features), by default also as the
    ``key``; the outputs have the shape of the query, or end in ``output_shape``. Keys and queries are projected to
    ``key_dim`` features for each head, values to ``value_dim`` (``key_dim`` by default). Over more axes than one
    ``attention_axes`` are those that are attended; ``use_gate`` multiplies each head by a sigmoid of the query;
    ``dropout`` is the rate for the weights. A call may also take a boolean ``attention_mask`` (batch, queries, values),
    True for what may be attended, ``use_causal_mask`` (nothing later), and ``return_attention_scores`` for the weights as
    a second result; masks that come with the query, value and key count as well, and ``sliding_window`` leaves only
    values nearer than that. Differentiable. Raises ValueError for sizes that are not positive ints, for keys and values
    of different lengths, and where ``flash_attention`` would be used.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)
    >>> x = tf.random.stateless_normal([1, 4, 5], seed=[1, 2])
    >>> y, weights = layer(x, x, return_attention_scores=True, use_causal_mask=True)
    >>> y.shape, weights.shape, float(tf.reduce_max(weights[:, :, 0, 1:]))
    (TensorShape([1, 4, 5]), TensorShape([1, 2, 4, 4]), 0.0)
    >>> [tuple(w.shape) for w in layer.weights][:2]
    [(5, 2, 3), (2, 3)]
    """

    _config = (
        "num_heads key_dim value_dim dropout use_bias use_gate output_shape attention_axes sliding_window "
        "kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer "
        "kernel_constraint bias_constraint seed"
    )

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: Any = None,
        attention_axes: Any = None,
        sliding_window: int | None = None,
        flash_attention: bool | None = None,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        use_gate: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        _check_positive(num_heads, "Received an invalid value for argument `num_heads`", "num_heads", False)
        _check_positive(key_dim, "Received an invalid value for argument `key_dim`", "key_dim", False)
        _check_positive(value_dim, "Received an invalid value for argument `value_dim`", "value_dim", True)
        super().__init__(**kwargs)
        self.supports_masking = True
        self.num_heads, self.key_dim, self.value_dim = num_heads, key_dim, value_dim or key_dim
        self.dropout, self.use_bias, self.use_gate, self.seed = dropout, use_bias, use_gate, seed
        self._given_output_shape = _output_shape(output_shape)
        self._flash_attention = flash_attention
        self._set_kind("kernel", kernel_initializer, kernel_regularizer, kernel_constraint)
        self._set_kind("bias", bias_initializer, bias_regularizer, bias_constraint)
        self._projections_regularizer = regularizers.get(activity_regularizer)  # of the projections, not of the result
        if isinstance(attention_axes, int):
            attention_axes = (attention_axes,)
        elif attention_axes and not isinstance(attention_axes, (list, tuple)):
            raise ValueError(
                f"`attention_axes` must be an int, list, or tuple.Received: attention_axes={attention_axes}"
            )
        self.attention_axes = attention_axes
        if sliding_window is not None and (not isinstance(sliding_window, int) or sliding_window <= 0):
            raise ValueError(
                f"`sliding_window` must be `None` or a positive integer. Received: sliding_window={sliding_window}"
            )
        self.sliding_window = sliding_window
        if flash_attention and dropout > 0.0:
            raise ValueError(
                "Dropout is not supported when flash attention is enabled. Please set dropout to 0.0 to use flash "
                "attention."
            )

    def build(self, query_shape: Any, value_shape: Any, key_shape: Any = None) -> None:
        """Creates the projections of query, key and value, the gate, and the projection of the result."""
        key_shape = _checked_key_shape(value_shape, key_shape)
        heads = self.num_heads
        self.query_dense = self._projection("query", query_shape, 1, (heads, self.key_dim))
        self.key_dense = self._projection("key", key_shape, 1, (heads, self.key_dim))
        if self.use_gate:
            self._gate_dense = self._projection("gate", query_shape, 1, (heads, self.value_dim), "sigmoid")
        self.value_dense = self._projection("value", value_shape, 1, (heads, self.value_dim))
        axes = range(1, len(value_shape) - 1) if self.attention_axes is None else self.attention_axes
        self.attention_axes = tuple(a if a >= 0 else len(value_shape) + a for a in axes)
        self._compare, self._combine = _equations(len(value_shape) + 1, self.attention_axes)
        count = len(self.attention_axes)
        self._softmax = Softmax(axis=tuple(range(-count, 0)), dtype=self.dtype)
        self._dropout_layer = Dropout(self.dropout, dtype=self.dtype, seed=self.seed)
        out = self._given_output_shape or query_shape[-1:]
        inner = (*query_shape[:-1], heads, self.value_dim)
        self.output_dense = self._projection("attention_output", inner, 2, tuple(out))

    def _projection(
        self, name: str, shape: Any, summed: int, out: tuple[int, ...], activation: Any = None
    ) -> EinsumDense:
        """A layer, built, from the last axes of the shape, ``summed`` many, to axes of the sizes ``out``."""
        kept, ends = ascii_lowercase[: len(shape) - summed], ascii_lowercase[len(shape) : len(shape) + len(out)]
        inner = ascii_lowercase[len(kept) : len(shape)]
        layer = EinsumDense(
            f"{kept}{inner},{inner}{ends}->{kept}{ends}",
            (None,) * (len(kept) - 1) + out,
            activation,
            ends if self.use_bias else None,
            _again(self.kernel_initializer),
            _again(self.bias_initializer),
            self.kernel_regularizer,
            self.bias_regularizer,
            self.kernel_constraint,
            self.bias_constraint,
            activity_regularizer=self._projections_regularizer,
            dtype=self.dtype,
            name=name,
        )
        layer.build(tuple(shape))
        return layer

    def call(
        self,
        query: Any,
        value: Any,
        key: Any = None,
        query_mask: Any = None,
        value_mask: Any = None,
        key_mask: Any = None,
        attention_mask: Any = None,
        return_attention_scores: bool = False,
        training: Any = None,
        use_causal_mask: bool = False,
    ) -> Any:
        """The result of attention; with ``return_attention_scores`` also the weights (batch, heads, queries, values)."""
        key = value if key is None else key
        query_mask = base.get_keras_mask(query)
        for x in (query, value, key):  # as in Keras the masks are used up
            base.set_keras_mask(x, None)
        masks = query_mask, value_mask, key_mask
        allowed = self._attention_mask(query, value, masks, attention_mask, use_causal_mask)
        gate = self._gate_dense(query) if self.use_gate else None
        heads = self.query_dense(query), self.key_dense(key), self.value_dense(value)
        out, scores = self._compute_attention(*heads, allowed, training, return_attention_scores)
        out = self.output_dense(out if gate is None else out * gate)
        if query_mask is not None:
            base.set_keras_mask(out, query_mask)
        return (out, scores) if return_attention_scores else out

    def _attention_mask(self, query: Any, value: Any, masks: Any, given: Any, causal: bool) -> Any:
        """What all masks allow, in a shape that broadcasts to (batch, queries, values); None where there is none."""
        found = [
            tf.expand_dims(tf.cast(mask, tf.bool), axis) for mask, axis in zip(masks, (-1, -2, -2), strict=True)
            if mask is not None
        ]  # fmt: skip
        ahead = tf.range(query.shape[1])[:, None] - tf.range(value.shape[1])[None, :]
        if causal:
            found.append((ahead >= 0)[None])
        if self.sliding_window is not None:
            found.append((tf.abs(ahead) < self.sliding_window)[None])
        allowed = None if given is None else tf.cast(given, tf.bool)
        merged = None
        for mask in found:
            merged = mask if merged is None else merged & mask
        return merged if allowed is None else allowed if merged is None else allowed & merged

    def _compute_attention(
        self,
        query: Any,
        key: Any,
        value: Any,
        attention_mask: Any = None,
        training: Any = None,
        return_attention_scores: bool = False,
    ) -> tuple[Any, Any]:
        """The heads' results, and their weights where those are wanted."""
        if self._flash_attention and return_attention_scores:
            raise ValueError(
                "Returning attention scores is not supported when flash attention is enabled. Please disable flash "
                "attention to access attention scores."
            )
        if attention_mask is not None:
            axis = -len(self.attention_axes) * 2 - 1
            while len(attention_mask.shape) < len(query.shape) - 1 + len(self.attention_axes):
                attention_mask = tf.expand_dims(attention_mask, axis)
        scale = tf.constant(1.0 / math.sqrt(float(self.key_dim)), query.dtype)
        if not (self.dropout > 0.0 or return_attention_scores or len(query.shape) != 4):
            if self._flash_attention:
                raise ValueError("Flash attention is not supported in tensorflow backend.")
            return _attend(query, key, value, attention_mask, scale), None
        scores = self._softmax(tf.einsum(self._compare, key, query * scale), mask=attention_mask)
        kept = self._dropout_layer(scores, training=training) if self.dropout > 0.0 else scores
        return tf.einsum(self._combine, kept, value), scores

    def compute_output_shape(self, query_shape: Any, value_shape: Any, key_shape: Any = None) -> Any:
        """The query's shape, with another end where ``output_shape`` was given."""
        _checked_key_shape(value_shape, key_shape)
        return (*query_shape[:-1], *(self._given_output_shape or query_shape[-1:]))

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this."""
        from ..serial import plain

        own = {"output_shape": self._given_output_shape, "activity_regularizer": plain(self._projections_regularizer)}
        return {**super().get_config(), **own}


def _check_positive(value: Any, start: str, name: str, optional: bool) -> None:
    if not (isinstance(value, int) and value > 0) and not (optional and value is None):
        wanted = "a positive integer or `None`" if optional else "a positive integer"
        raise ValueError(f"{start}, expected {wanted}. Received: {name}={value}")


def _output_shape(given: Any) -> Any:
    if not given:
        return given
    try:
        return (given,) if isinstance(given, int) else tuple(given)
    except TypeError:
        raise ValueError(
            f"Invalid `output_shape`: {given}. When specified, the `output_shape` should be of type tuple, list, or int."
        ) from None


def _checked_key_shape(value_shape: Any, key_shape: Any) -> Any:
    """The key's shape, that of the value by default; ValueError where their lengths differ."""
    key_shape = value_shape if key_shape is None else key_shape
    if tuple(value_shape[1:-1]) != tuple(key_shape[1:-1]):
        raise ValueError(
            "All dimensions of `value` and `key`, except the last one, must be equal. Received: "
            f"value_shape={tuple(value_shape)} and key_shape={tuple(key_shape)}"
        )
    return key_shape


def _again(initializer: Any) -> Any:
    """Another initializer like this, which draws numbers of its own unless it has a seed."""
    return initializer.clone() if hasattr(initializer, "clone") else initializer


def _equations(rank: int, attended: tuple[int, ...]) -> tuple[str, str]:
    """The einsums of (key, query) to the weights, and of (weights, value) to the result, for projections of a rank."""
    query = ascii_lowercase[:rank]
    others = iter(ascii_lowercase[rank:])
    key = "".join(next(others) if i in attended else c for i, c in enumerate(query))
    batch = "".join(c for i, c in enumerate(query) if i not in attended and i != rank - 1)
    weights = batch + "".join(query[i] for i in attended) + "".join(key[i] for i in attended)
    return f"{key},{query}->{weights}", f"{weights},{key}->{query}"


def _attend(query: Any, key: Any, value: Any, mask: Any, scale: Any) -> Any:
    """Attention of (batch, steps, heads, features), whose weights nobody wants to see."""
    kind = query.dtype
    exact = tf.float32 if kind.size < 4 else kind
    logits = tf.cast(tf.einsum("btnh,bsnh->bnts", query, key), exact) * tf.cast(scale, exact)
    if mask is not None:
        logits = tf.where(mask, logits, tf.constant(-0.7 * 3.38953e38, exact))
    return tf.einsum("bnts,bsnh->btnh", tf.cast(tf.nn.softmax(logits, -1), kind), value)


class Attention(Layer):
    """Attention by the product of query and key, without projections.

    A call takes a list: query (batch, queries, features), value (batch, values, features) and perhaps key, else the value;
    the outputs are (batch, queries, features). ``use_scale`` multiplies the products by a weight; ``score_mode``
    "concat" compares by the sum of ``tanh(query + key)`` instead, times a weight. ``dropout`` is the rate for the weights.
    A call may take ``mask``, a list of masks (batch, queries) and (batch, values): values without True are not attended,
    queries without it give 0; ``use_causal_mask`` and ``return_attention_scores`` as in ``MultiHeadAttention``.
    Differentiable. Raises ValueError for what is not a list of two or three, and for another score mode.

    >>> import minitape as tf
    >>> query, value = tf.constant([[[10.0, 0.0]]]), tf.constant([[[1.0, 0.0], [0.0, 1.0]]])
    >>> tf.keras.layers.Attention()([query, value]).numpy().round(3)
    array([[[1., 0.]]], dtype=float32)
    """

    _config = "use_scale score_mode dropout seed"

    def __init__(
        self, use_scale: bool = False, score_mode: str = "dot", dropout: float = 0.0, seed: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.use_scale, self.score_mode, self.dropout, self.seed = use_scale, score_mode, dropout, seed
        if dropout > 0:
            self.seed_generator = random.SeedGenerator(seed)
        if score_mode not in ("dot", "concat"):
            raise ValueError(
                "Invalid value for argument score_mode. Expected one of {'dot', 'concat'}. "
                f"Received: score_mode={score_mode}"
            )

    def build(self, input_shape: Any) -> None:
        """Creates ``scale`` and ``concat_score_weight``, where the arguments ask for them."""
        self._check_inputs_and_mask(input_shape, None)
        self.scale = self.add_weight((), "ones", name="scale") if self.use_scale else None
        concat = self.score_mode == "concat"
        self.concat_score_weight = self.add_weight((), "ones", name="concat_score_weight") if concat else None

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: bool = False,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        """The result of attention; with ``return_attention_scores`` also the weights (batch, queries, values)."""
        self._check_inputs_and_mask(inputs, mask)
        query, value, key = inputs[0], inputs[1], inputs[-1]
        query_mask, value_mask = (mask[0], mask[1]) if mask else (None, None)
        scores = self._calculate_scores(query, key)
        allowed = None if value_mask is None else tf.expand_dims(value_mask, -2)
        if use_causal_mask:
            earlier = (tf.range(scores.shape[-2])[:, None] >= tf.range(scores.shape[-1])[None, :])[None]
            allowed = earlier if allowed is None else allowed & earlier
        if allowed is not None:
            far = tf.constant(65504.0 if scores.dtype == tf.float16 else 1.0e9, scores.dtype)
            scores = tf.where(allowed, scores, scores - far)
        weights = tf.nn.softmax(scores, -1)
        if training and self.dropout > 0:
            weights = random.dropout(weights, self.dropout, None, self.seed_generator)
        out = tf.matmul(weights, value)
        if query_mask is not None:
            out = tf.where(tf.expand_dims(query_mask, -1), out, tf.zeros((), out.dtype))
        return (out, weights) if return_attention_scores else out

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        """How well each query fits each key."""
        if self.score_mode == "dot":
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        both = tf.expand_dims(query, -2) + tf.expand_dims(key, -3)
        return self.concat_score_weight * tf.reduce_sum(tf.tanh(both if self.scale is None else self.scale * both), -1)

    def _check_inputs_and_mask(self, inputs: Any, mask: Any) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or [query, value, key]. "
                f"Received: inputs={inputs}."
            )
        if not 2 <= len(inputs) <= 3:
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]. "
                f"Received length: {len(inputs)}."
            )
        if mask is not None and not isinstance(mask, list):
            raise ValueError(
                f"{name} layer mask must be a list, namely [query_mask, value_mask]. Received: mask={mask}."
            )
        if mask is not None and not 2 <= len(mask) <= 3:
            raise ValueError(
                f"{name} layer accepts mask list of length 2 or 3. Received: inputs={inputs}, mask={mask}."
            )

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The mask of the query."""
        self._check_inputs_and_mask(inputs, previous_mask)
        return None if previous_mask is None else previous_mask[0]

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The query's shape with the value's features."""
        return (*input_shape[0][:-1], input_shape[1][-1])


class AdditiveAttention(Attention):
    """Attention by the sum of ``tanh(query + key)`` over the features, each times a weight with ``use_scale``.

    Calls, shapes, masks and errors are those of ``Attention``.

    >>> import minitape as tf
    >>> query, value = tf.constant([[[10.0, 0.0]]]), tf.constant([[[1.0, 0.0], [0.0, 1.0]]])
    >>> tf.keras.layers.AdditiveAttention(use_scale=False)([query, value]).numpy().round(3)
    array([[[0.318, 0.682]]], dtype=float32)
    """

    _config = "use_scale dropout seed"

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(use_scale=use_scale, dropout=dropout, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Creates ``scale``, where it is asked for."""
        self._check_inputs_and_mask(input_shape, None)
        self.scale = self.add_weight((input_shape[0][-1],), "glorot_uniform", name="scale") if self.use_scale else None

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        both = tf.tanh(tf.expand_dims(query, -2) + tf.expand_dims(key, -3))
        return tf.reduce_sum(both if self.scale is None else self.scale * both, -1)
