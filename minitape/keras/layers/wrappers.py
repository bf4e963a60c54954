"""Layers around another layer: for each step, and in both directions."""

from __future__ import annotations

from typing import Any

from ... import tf
from .. import initializers
from ..layer import InputSpec, Layer
from ..serial import known, made

_MODES = ("sum", "mul", "ave", "concat", None)


class Wrapper(Layer):
    """The base class of layers around another one, ``layer``; ValueError for what is no layer.

    >>> import minitape as tf
    >>> class Twice(tf.keras.layers.Wrapper):
    ...     def call(self, x):
    ...         return self.layer(self.layer(x))
    >>> Twice(tf.keras.layers.Rescaling(3.0))(tf.constant([1.0])).numpy()
    array([9.], dtype=float32)
    """

    _config = "layer"

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Layer {layer} supplied to Wrapper isn't a supported layer type. Please ensure wrapped layer is a valid "
                "Keras layer."
            )
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape: Any = None) -> None:
        """Builds the layer inside."""
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The layer with these arguments."""
        with known(custom_objects):
            return super().from_config({**config, "layer": made(config["layer"])})


class SpectralNormalization(Wrapper):
    """A layer whose ``kernel`` (or ``embeddings``) is divided by its largest singular value, in each call in training.

    It is found by ``power_iterations`` from a vector that is kept. Gradients are those of the layer inside. Raises
    ValueError for no iterations, and for a layer without such weights.

    >>> import minitape as tf
    >>> dense = tf.keras.layers.Dense(2, kernel_initializer="ones")
    >>> layer = tf.keras.layers.SpectralNormalization(dense, power_iterations=3)
    >>> y = layer(tf.ones([1, 2]), training=True)
    >>> dense.kernel.numpy().round(4)
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """

    _config = "layer power_iterations"

    def __init__(self, layer: Layer, power_iterations: int = 1, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        if power_iterations <= 0:
            raise ValueError(
                "`power_iterations` should be greater than zero. Received: "
                f"`power_iterations={power_iterations}`"
            )
        self.power_iterations = power_iterations

    def build(self, input_shape: Any = None) -> None:
        """Builds the layer inside and the vector that the iterations begin with."""
        super().build(input_shape)
        self.input_spec = InputSpec(min_ndim=1, axes={-1: input_shape[-1]})
        for name in ("kernel", "embeddings"):
            if hasattr(self.layer, name):
                self.kernel = getattr(self.layer, name)
                break
        else:
            raise ValueError(f"{type(self.layer).__name__} object has no attribute 'kernel' nor 'embeddings'")
        start = initializers.TruncatedNormal(stddev=0.02)
        self.vector_u = self.add_weight((1, self.kernel.shape[-1]), start, trainable=False, name="vector_u")

    def call(self, inputs: Any, training: bool = False) -> Any:
        """The layer's outputs; in training with a kernel that has just been divided."""
        if training:
            kernel, u = tf.convert_to_tensor(self.kernel), tf.convert_to_tensor(self.vector_u)
            u, kernel = tf.cond(tf.reduce_all(kernel == 0), lambda: (u, kernel), lambda: self._divided(kernel, u))
            self.vector_u.assign(u)
            self.kernel.assign(kernel)
        return tf.cast(self.layer(inputs), inputs.dtype)

    def _divided(self, kernel: Any, u: Any) -> tuple[Any, Any]:
        weights = tf.reshape(kernel, [-1, kernel.shape[-1]])
        for _ in range(self.power_iterations):
            v = _unit(tf.matmul(u, weights, transpose_b=True))
            u = _unit(tf.matmul(v, weights))
        return u, kernel / tf.matmul(tf.matmul(v, weights), u, transpose_b=True)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the layer's outputs."""
        return self.layer.compute_output_shape(input_shape)


def _unit(x: Any) -> Any:
    return x * tf.math.rsqrt(tf.maximum(tf.reduce_sum(tf.square(x)), 1e-12))


class TimeDistributed(Wrapper):
    """A layer applied to each step of (batch, steps, ...), to all with the same weights.

    The outputs are (batch, steps, ...); a ``mask`` (batch, steps) goes to the layer step by step, where it takes one, and
    on to the layers behind. Differentiable as the layer is. Raises ValueError for what is no layer, for inputs of less
    than three axes, and for a mask that does not begin with the batch and the steps.

    >>> import minitape as tf
    >>> layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2, kernel_initializer="ones"))
    >>> layer(tf.constant([[[1.0, 2.0], [3.0, 4.0]]])).numpy()
    array([[[3., 3.],
            [7., 7.]]], dtype=float32)
    """

    def __init__(self, layer: Layer, **kwargs: Any) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `TimeDistributed` layer with a `keras.layers.Layer` instance. Received: {layer}"
            )
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def _step_shape(self, shape: Any) -> tuple[Any, ...]:
        if not isinstance(shape, (tuple, list)) or len(shape) < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions, "
                f"received: {shape}"
            )
        return (shape[0], *shape[2:])

    def build(self, input_shape: Any) -> None:
        """Builds the layer inside, for one step."""
        super().build(self._step_shape(input_shape))

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """The layer's outputs, step by step."""
        if mask is not None:
            _check_mask(tuple(inputs.shape), tuple(mask.shape))
        outputs = []
        for i in range(inputs.shape[1]):
            given = {"training": training} if self.layer._takes_training else {}
            if self.layer._takes_mask and mask is not None:
                given["mask"] = mask[:, i]
            outputs.append(self.layer.call(inputs[:, i], **given))
        return tf.stack(outputs, axis=1)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The layer's, with the steps."""
        found = self.layer.compute_output_shape(self._step_shape(input_shape))
        return (found[0], input_shape[1], *found[1:])


def _check_mask(shape: tuple[Any, ...], mask: tuple[Any, ...]) -> None:
    if len(mask) < 2:
        raise ValueError(
            "The `mask` passed to the `TimeDistributed` layer must be at least 2D (e.g., `(batch_size, timesteps)`), but "
            f"it has {len(mask)} dimension(s) with shape {mask}."
        )
    if any(None not in pair and pair[0] != pair[1] for pair in zip(mask[:2], shape[:2], strict=True)):
        raise ValueError(
            f"The `mask` passed to the `TimeDistributed` layer has a shape {mask} that is incompatible with the input "
            f"shape {shape}. The first two dimensions of the mask (batch size and timesteps) must match the input's first "
            f"two dimensions. Expected mask shape prefix: ({shape[0]}, {shape[1]})."
        )


class Bidirectional(Layer):
    """A recurrent layer in both directions: one like ``layer``, and one like it that goes backwards.

    The outputs of both are joined as ``merge_mode`` says: "concat" along the features, "sum", "mul", "ave", or None for
    both; all outputs (``return_sequences``) are in the order of the steps. The states (``return_state``,
    ``initial_state``) are those of the first, then those of the second. Another ``backward_layer`` may be given. A mask
    goes to both; with ``return_sequences`` steps that it leaves out give zeros. Differentiable. Raises ValueError for what
    is no layer, for another mode, for layers that do not fit together, and for ``weights``, which Keras takes and forgets.

    >>> import minitape as tf
    >>> ones = {"kernel_initializer": "ones", "recurrent_initializer": "ones"}
    >>> layer = tf.keras.layers.SimpleRNN(1, "linear", return_sequences=True, **ones)
    >>> tf.keras.layers.Bidirectional(layer)(tf.constant([[[1.0], [2.0], [3.0]]])).numpy()
    array([[[1., 6.],
            [3., 5.],
            [6., 3.]]], dtype=float32)
    """

    _declined = {"weights": None}  # noqa: RUF012

    def __init__(
        self,
        layer: Layer,
        merge_mode: str | None = "concat",
        weights: Any = None,
        backward_layer: Any = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(layer, Layer):
            raise ValueError(
                f"Please initialize `Bidirectional` layer with a `keras.layers.Layer` instance. Received: {layer}"
            )
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(f"`backward_layer` need to be a `keras.layers.Layer` instance. Received: {backward_layer}")
        if merge_mode not in _MODES:
            raise ValueError(
                f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                '{"sum", "mul", "ave", "concat", None}'
            )
        super().__init__(weights=weights or None, **kwargs)
        self.forward_layer = _like(layer, "forward_")
        self.backward_layer = backward_layer
        if backward_layer is None:
            self.backward_layer = _like(layer, "backward_", go_backwards=True)
        _check_directions(self.forward_layer, self.backward_layer)
        for inner in (self.forward_layer, self.backward_layer):
            if getattr(inner, "zero_output_for_mask", None) is not None:
                inner.zero_output_for_mask = inner.return_sequences
        self.merge_mode = merge_mode
        self.stateful, self.return_sequences, self.return_state = (getattr(layer, name) for name in _SHARED)
        self.supports_masking, self.input_spec = True, layer.input_spec

    def build(self, sequences_shape: Any, initial_state_shape: Any = None) -> None:
        """Builds both layers."""
        for inner in (self.forward_layer, self.backward_layer):
            if not inner.built:
                inner.build(sequences_shape)

    def call(self, sequences: Any, initial_state: Any = None, mask: Any = None, training: Any = None) -> Any:
        """The merged outputs, and the states of both layers if they are wanted."""
        given = {"training": training} if self.forward_layer._takes_training else {}
        if self.forward_layer._takes_mask:
            given["mask"] = mask
        half = 0 if initial_state is None else len(initial_state) // 2
        states = (None, None) if initial_state is None else (initial_state[:half], initial_state[half:])
        y = self.forward_layer(sequences, initial_state=states[0], **given)
        back = self.backward_layer(sequences, initial_state=states[1], **given)
        after: tuple[Any, ...] = ()
        if self.return_state:
            after = (*y[1:], *back[1:])
            y, back = y[0], back[0]
        if self.return_sequences:
            back = tf.reverse(back, [1])
        out = _merged(self.merge_mode, y, back)
        if not self.return_state:
            return out
        return (*out, *after) if self.merge_mode is None else (out, *after)

    states = property(
        lambda self: (
            (*self.forward_layer.states, *self.backward_layer.states)
            if self.forward_layer.states and self.backward_layer.states
            else None
        ),
        doc="The kept states of both layers; None unless they are stateful.",
    )

    def reset_state(self) -> None:
        """Sets the kept states of both layers to zero; AttributeError unless they are stateful.

        >>> import minitape as tf
        >>> both = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(1, stateful=True))
        >>> x = tf.ones([1, 2, 1])
        >>> first, second = both(x), both(x)
        >>> both.reset_state()
        >>> bool(tf.reduce_all(first == second)), bool(tf.reduce_all(first == both(x)))
        (False, True)
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    reset_states = reset_state

    def compute_mask(self, inputs: Any, previous_mask: Any = None) -> Any:
        """The mask of the steps, while there are steps."""
        mask = previous_mask[0] if isinstance(previous_mask, list) else previous_mask
        mask = mask if self.return_sequences else None
        return mask if self.merge_mode else (mask, mask)

    def compute_output_shape(self, sequences_shape: Any, initial_state_shape: Any = None) -> Any:
        """The shape of the merged outputs; with ``return_state`` followed by those of the states."""
        shape = self.forward_layer.compute_output_shape(sequences_shape)
        states: tuple[Any, ...] = ()
        if self.return_state:
            shape, states = shape[0], tuple(shape[1:]) * 2
        if self.merge_mode == "concat":
            shape = (*shape[:-1], shape[-1] * 2)
        if not self.return_state:
            return (shape, shape) if self.merge_mode is None else shape
        return (*((shape, shape) if self.merge_mode is None else (shape,)), *states)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make another layer like this."""
        from ..serial import plain

        own = {"layer": plain(self.forward_layer), "backward_layer": plain(self.backward_layer)}
        return {**super().get_config(), "merge_mode": self.merge_mode, **own}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The layer with these arguments."""
        with known(custom_objects):
            inner: dict[str, Any] = {name: made(config[name]) for name in ("layer", "backward_layer") if name in config}
            return super().from_config({**config, **inner})


_SHARED = ("stateful", "return_sequences", "return_state")


def _like(layer: Layer, prefix: str, **changes: Any) -> Any:
    """Another layer with the arguments of this one, and a name that says its direction; TypeError where none is made."""
    config = {**layer.get_config(), "name": prefix + layer.name.removeprefix(prefix), **changes}
    try:
        made = type(layer).from_config(config)
    except Exception as error:
        raise TypeError(
            f"{type(layer)} could not be deserialized properly. Please ensure that components that are Python object "
            "instances (layers, models, etc.) returned by `get_config()` are explicitly deserialized in the model's "
            f"`from_config()` method.\n\nconfig={config}.\n\nException encountered: {error}"
        ) from error
    if hasattr(layer, "use_cudnn"):
        made.use_cudnn = layer.use_cudnn
    return made


def _check_directions(forward: Any, backward: Any) -> None:
    if forward.go_backwards == backward.go_backwards:
        raise ValueError(
            "Forward layer and backward layer should have different `go_backwards` value. Received: "
            f"forward_layer.go_backwards {forward.go_backwards}, backward_layer.go_backwards={backward.go_backwards}"
        )
    for name in _SHARED:
        one, other = getattr(forward, name), getattr(backward, name)
        if one != other:
            raise ValueError(
                f'Forward layer and backward layer are expected to have the same value for attribute "{name}", got '
                f'"{one}" for forward layer and "{other}" for backward layer'
            )


def _merged(mode: str | None, y: Any, back: Any) -> Any:
    if mode == "concat":
        return tf.concat([y, back], -1)
    if mode is None:
        return y, back
    return {"sum": lambda: y + back, "ave": lambda: (y + back) / 2, "mul": lambda: y * back}[mode]()
