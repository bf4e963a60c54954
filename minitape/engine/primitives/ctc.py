"""Connectionist temporal classification: A. Graves et al. (2006), by the forward and backward algorithm.

A label sequence is stretched by blanks, one before, between and after the labels; ``_FORBIDDEN`` is the logarithm of what
TensorFlow gives a path that begins or ends where none may, so that labels that do not fit cost much and not infinity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import TABLE, declare

if TYPE_CHECKING:
    from ..typed import Array

_FORBIDDEN = np.log(1e-307)


def _moves(before: Array, skips: Array) -> Array:
    """The log probability to come to each state: from itself, the one before, or past a blank."""
    none = np.full_like(before, -np.inf)
    one, two = none.copy(), none.copy()
    one[:, 1:] = before[:, :-1]
    two[:, 2:] = before[:, :-2]
    return np.logaddexp(np.logaddexp(before, one), np.where(skips, two, -np.inf))


def _states(labels: Array, lengths: Array, blank: int) -> tuple[Array, Array, Array]:
    """The class of each state, whether a path may skip the one before it, and the log probability to end in it."""
    batch, count = labels.shape
    classes = np.full((batch, 2 * count + 1), blank, np.int64)
    classes[:, 1::2] = labels
    skips = np.zeros(classes.shape, bool)
    skips[:, 3::2] = labels[:, 1:] != labels[:, :-1]
    place = np.arange(classes.shape[1])
    ends = np.where((place == 2 * lengths[:, None]) | (place == 2 * lengths[:, None] - 1), 0.0, _FORBIDDEN)
    return classes, skips, np.where(place <= 2 * lengths[:, None], ends, -np.inf)


def _ctc(logits: Array, labels: Array, lengths: Array, frames: Array, *, blank: int) -> tuple[Array, Array]:
    """The loss of each sequence, and its slope by the logits (frames, batch, classes)."""
    wide = logits.astype(np.float64)
    wide = wide - wide.max(axis=2, keepdims=True, initial=-np.inf)
    logs = wide - np.log(np.exp(wide).sum(axis=2, keepdims=True))
    count, batch, _ = logs.shape
    classes, skips, ends = _states(labels, lengths, blank)
    seen = np.stack([np.take_along_axis(logs[t], classes, 1) for t in range(count)]) if count else np.empty((0, *classes.shape))
    start = np.full(classes.shape, _FORBIDDEN)
    start[:, :2] = 0.0
    with np.errstate(invalid="ignore"):
        forward = _forward(seen, start, skips)
        backward = _backward(seen, ends, skips, frames)
        after = np.concatenate([start[None], forward])[frames, np.arange(batch)]
        total = np.logaddexp.reduce(after + ends, axis=1)
        share = np.exp(forward + backward - total[:, None])
    slope = np.exp(logs)
    for t in range(count):
        np.subtract.at(slope[t], (np.arange(batch)[:, None], classes), share[t])
    slope[np.arange(count)[:, None] >= frames] = 0.0
    return (-total).astype(logits.dtype), slope.astype(logits.dtype)


def _forward(seen: Array, start: Array, skips: Array) -> Array:
    """The log probability of all beginnings that are in a state at a frame."""
    found, now = np.empty_like(seen), start
    for t, logs in enumerate(seen):
        now = found[t] = (now if t == 0 else _moves(now, skips)) + logs
    return found


def _backward(seen: Array, ends: Array, skips: Array, frames: Array) -> Array:
    """The log probability of all continuations from a state at a frame."""
    found, past = np.empty_like(seen), np.zeros_like(skips)
    past[:, :-2] = skips[:, 2:]
    now = ends
    for t in reversed(range(len(seen))):
        now = found[t] = np.where((frames == t + 1)[:, None], ends, now)
        now = _moves((now + seen[t])[:, ::-1], past[:, ::-1])[:, ::-1]
    return found


def _rule(g: Array, z: Array, logits: Array, labels: Array, lengths: Array, frames: Array, *, blank: int) -> Array:
    return TABLE["reshape"](g[0], shape=(1, -1, 1)) * TABLE["stop_gradient"](z[1])



declare("ctc", _ctc, [_rule, None, None, None], op="CTCLoss", label="ctc", keep="z")
