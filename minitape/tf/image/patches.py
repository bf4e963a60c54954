"""Patches of images and volumes, one beside the other in the channels of the result."""

from __future__ import annotations

from typing import Any

from ...engine.errors import OutOfRangeError
from ...engine.invalid import invalid, shown
from ...engine.opdefs import accept, accept_list, accept_text
from ...engine.operands import call, deferred, static, tensor_of
from ..nn.convolution import check_windows, pads_of, unimplemented


def _across_space(value: Any, name: str, op: str, spelled: str) -> tuple[int, ...]:
    """The numbers of a list for the spatial axes; those of batch and channels must be 1."""
    found = accept_list(op, name, static(value), spelled)
    if found[0] != 1 or found[-1] != 1:
        raise unimplemented(f"Only support {name} across space.", op)
    if min(found) < 1:
        raise OutOfRangeError(None, None, f"{name} is out of range. [Op:{op}] name: ")
    return tuple(found[1:-1])


def _extracted(x: Any, sizes: Any, strides: Any, rates: Any, padding: str, op: str, spelled: str, axes: int) -> Any:
    accept_text(op, "padding", padding)
    size, steps, holes = (
        _across_space(value, name, op, spelled)
        for value, name in ((sizes, "ksizes"), (strides, "strides"), (rates, "rates"))
    )
    accept(op, x.dtype)
    if x.ndim != axes + 2:
        raise invalid(f"input must be {axes + 2}-dimensional{shown(x.shape)}", op)
    pads = pads_of(padding, x.shape[1:-1], size, steps, holes)
    check_windows(x.shape[1:-1], size, steps, holes, pads, op)
    return call("patches", x, size=size, strides=steps, pads=pads, dilations=holes)


@deferred
def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Any:
    """The patches of ``sizes`` around each place of images, ``strides`` apart: batch x rows x columns x elements of a patch.

    ``sizes``, ``strides`` and ``rates`` (the distance of a patch's own elements) are lists [1, height, width, 1]; ``padding``
    is "SAME" (zeros outside of the image) or "VALID". Differentiable. Raises InvalidArgumentError unless ``images`` is batch x
    height x width x channels, UnimplementedError for numbers other than 1 of the batch or the channels.

    >>> import minitape as tf
    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.extract_patches(image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").numpy()[0, 0].tolist()
    [[0.0, 1.0, 3.0, 4.0], [1.0, 2.0, 4.0, 5.0]]
    """
    return _extracted(tensor_of(images), sizes, strides, rates, padding, "ExtractImagePatches", "extract_image_patches", 2)


@deferred
def extract_volume_patches(input: Any, ksizes: Any, strides: Any, padding: str, name: str | None = None) -> Any:
    """The same of volumes: batch x depth x height x width x channels; see ``tf.image.extract_patches``.

    >>> import minitape as tf
    >>> volume = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> tf.extract_volume_patches(volume, [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], "VALID").shape
    TensorShape([1, 2, 1, 1, 4])
    """
    op = "ExtractVolumePatches"
    return _extracted(tensor_of(input), ksizes, strides, [1] * 5, padding, op, "extract_volume_patches", 3)
