"""Blocks of space become batch elements, or channels, and back: ``space_to_batch``, ``space_to_depth`` and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..engine.invalid import invalid, shown
from ..engine.operands import call, integers, strict, tensor_of
from ..engine.tensor import Tensor


@strict
def space_to_batch_nd(input: Any, block_shape: Any, paddings: Any, name: str | None = None) -> Tensor:
    """Makes a batch of each place in the blocks of ``block_shape`` that cover the axes after the first.

    These axes get zeros around them first, ``paddings[i] = [before, after]``. The result has shape
    [batch * product of block_shape, padded sizes / block_shape, ...]. Differentiable. Raises InvalidArgumentError when
    the blocks do not cover the padded axes evenly.

    >>> import minitape as tf
    >>> tf.space_to_batch([[1, 2, 3, 4]], [2], [[0, 0]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    op, x = "SpaceToBatchND", tensor_of(input)
    blocks, around = _arguments(op, x, block_shape, paddings, "paddings", "Tpaddings")
    count = len(blocks)
    padded = [int(n + a + b) for n, (a, b) in zip(x.shape[1:], around, strict=False)]
    for i, (n, b) in enumerate(zip(padded, blocks, strict=True)):
        if n % b:
            raise invalid(f"padded_shape[{i}]={n} is not divisible by block_shape[{i}]={b}", op)
    batch, rest = x.shape[0], list(x.shape[count + 1 :])
    if any(map(any, around)):
        x = call("pad", x, paddings=((0, 0), *around, *[(0, 0)] * len(rest)), mode="CONSTANT", fill=x.dtype.as_numpy_dtype(0))
    split = [size for n, b in zip(padded, blocks, strict=True) for size in (n // b, b)]
    parts = call("reshape", x, shape=(batch, *split, *rest))
    places, within = range(1, 2 * count, 2), range(2, 2 * count + 1, 2)
    moved = call("transpose", parts, perm=(*within, 0, *places, *range(2 * count + 1, 2 * count + 1 + len(rest))))
    return call("reshape", moved, shape=(batch * math.prod(blocks), *split[::2], *rest))


space_to_batch = space_to_batch_nd


@strict
def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """The inverse of ``space_to_batch``: batches become the places in the blocks again, and ``crops`` are cut off.

    ``block_shape`` may be one number for two axes. Differentiable. Raises InvalidArgumentError when the batch cannot
    be divided or the crops leave less than nothing.

    >>> import minitape as tf
    >>> tf.batch_to_space([[1, 3], [2, 4]], [2], [[0, 0]]).numpy().tolist()
    [[1, 2, 3, 4]]
    """
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    op, x = "BatchToSpaceND", tensor_of(input)
    blocks, cut = _arguments(op, x, block_shape, crops, "crops", "Tcrops")
    count, product = len(blocks), math.prod(blocks)
    batch, sizes, rest = x.shape[0], list(x.shape[1 : count + 1]), list(x.shape[count + 1 :])
    if batch % product:
        raise invalid(f"Input batch dimension ({batch}) is not divisible by product of block sizes ({product})", op)
    whole = [n * b for n, b in zip(sizes, blocks, strict=True)]
    for i, (n, (a, b)) in enumerate(zip(whole, cut, strict=True)):
        if n - a - b < 0:
            raise invalid(f"cropped_shape[{i}]={n - a - b} must be non-negative", op)
    parts = call("reshape", x, shape=(*blocks, batch // product, *sizes, *rest))
    pairs = [axis for i in range(count) for axis in (count + 1 + i, i)]
    moved = call("transpose", parts, perm=(count, *pairs, *range(2 * count + 1, 2 * count + 1 + len(rest))))
    out = call("reshape", moved, shape=(batch // product, *whole, *rest))
    if not any(map(any, cut)):
        return out
    kept = [slice(a, n - b) for n, (a, b) in zip(whole, cut, strict=True)]
    return call("slice", out, spec=(slice(None), *kept))


def _arguments(op: str, x: Any, block_shape: Any, pairs: Any, label: str, attr: str) -> tuple[list[int], Any]:
    """The sizes of the blocks and the pairs for their axes; InvalidArgumentError for what does not fit."""
    blocks, pairs = integers(block_shape, op, "Tblock_shape"), integers(pairs, op, attr)
    if blocks.ndim != 1:
        raise invalid(f"block_shape rank should be 1 instead of {blocks.ndim}", op)
    count = blocks.size
    if x.ndim < count + 1:
        raise invalid(f"input rank should be >= {count + 1} instead of {x.ndim}", op)
    if pairs.shape != (count, 2):
        raise invalid(f"{label} should have shape [{count}, 2] instead of {shown(pairs.shape)}", op)
    for i, b in enumerate(blocks.tolist()):
        if b < 1:
            raise invalid(f"All values in block_shape must be positive, got value, {b} at index {i}.", op)
    if np.any(pairs < 0):
        raise invalid(f"{label.capitalize()} must be non-negative", op)
    return blocks.tolist(), tuple((int(a), int(b)) for a, b in pairs)


# -- channels ---------------------------------------------------------------------------------------------------------


def _check_blocks(op: str, x: Any, block: int, data_format: str, deep: bool) -> None:
    if data_format != "NHWC":
        raise invalid(f"Only NHWC data_format supported on CPU. Got {data_format}", op)
    if block < 2:
        raise invalid(f"Value for attr 'block_size' of {block} must be at least minimum 2\n\t; NodeDef: {{{{node {op}}}}}; "
                      f"Op<name={op}; signature=input:T -> output:T; attr=T:type; attr=block_size:int,min=2; "
                      'attr=data_format:string,default="NHWC",allowed=["NHWC", "NCHW", "NCHW_VECT_C"]>', op)  # fmt: skip
    if x.ndim != 4:
        raise invalid(f"Input rank should be: 4 instead of: {x.ndim}" if deep else
                      f"Input rank should be 4 instead of {x.ndim}", op)  # fmt: skip
    if deep and x.shape[3] % (block * block):
        raise invalid(f"Input depth dimension {x.shape[3]} should be divisible by: {block * block}", op)
    if not deep and (x.shape[1] % block or x.shape[2] % block):
        raise invalid(
            f"Image width {x.shape[2]} and height {x.shape[1]} should be divisible by block_size: {block}", op
        )


@strict
def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Makes the pixels of each block_size x block_size block the channels of one pixel. Differentiable.

    >>> import minitape as tf
    >>> tf.nn.space_to_depth(tf.ones([1, 4, 4, 1]), 2).shape
    TensorShape([1, 2, 2, 4])
    """
    x, b = tensor_of(input), int(block_size)
    _check_blocks("SpaceToDepth", x, b, data_format, False)
    n, h, w, c = x.shape
    parts = call("reshape", x, shape=(n, h // b, b, w // b, b, c))
    return call("reshape", call("transpose", parts, perm=(0, 1, 3, 2, 4, 5)), shape=(n, h // b, w // b, b * b * c))


@strict
def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Tensor:
    """Makes the channels of each pixel a block_size x block_size block of pixels. Differentiable.

    >>> import minitape as tf
    >>> tf.nn.depth_to_space(tf.ones([1, 2, 2, 4]), 2).shape
    TensorShape([1, 4, 4, 1])
    """
    x, b = tensor_of(input), int(block_size)
    _check_blocks("DepthToSpace", x, b, data_format, True)
    n, h, w, c = x.shape
    parts = call("reshape", x, shape=(n, h, w, b, b, c // (b * b)))
    return call("reshape", call("transpose", parts, perm=(0, 1, 3, 2, 4, 5)), shape=(n, h * b, w * b, c // (b * b)))
