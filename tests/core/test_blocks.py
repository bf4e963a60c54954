"""Formulas over large arrays: the same numbers as NumPy's plain way, in memory that nobody else holds."""

from __future__ import annotations

import numpy as np
import pytest

from minitape.primitives import TABLE, blocks

SHAPE = (300, 301)


@pytest.mark.parametrize("primitive", [p for p in TABLE.values() if p.code], ids=lambda p: p.name)
@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_blocks_agree_with_small_arrays(primitive, real):
    rng = np.random.default_rng(0)
    arity = len(primitive.texts) - 1
    xs = [(0.1 + 0.8 * rng.random(SHAPE)).astype(real) for _ in range(arity)]
    g = rng.random(SHAPE).astype(real)

    def by_rows(function, *arrays):
        return np.stack([np.broadcast_to(function(*rows), SHAPE[1:]) for rows in zip(*arrays, strict=True)])

    with np.errstate(all="ignore"):
        z = primitive.forward(*xs)
        assert z.dtype == real
        assert np.allclose(z, by_rows(primitive.forward, *xs), rtol=4 * np.finfo(real).eps, equal_nan=True)
        for rule in primitive.rules:
            if rule is not None:
                want = by_rows(rule, g, z, *xs)
                assert np.allclose(rule(g, z, *xs), want, rtol=8 * np.finfo(real).eps, equal_nan=True)


def test_a_buffer_is_used_again_only_when_nobody_refers_to_it():
    first = blocks.buffer((123_457,), np.float32)
    place = first.__array_interface__["data"][0]
    view = first[5:10].reshape(5, 1)
    del first
    assert blocks.buffer((123_457,), np.float32).__array_interface__["data"][0] != place
    del view
    assert blocks.buffer((123_457,), np.float32).__array_interface__["data"][0] == place


def test_the_pool_is_bounded(monkeypatch):
    monkeypatch.setattr(blocks, "POOL_BYTES", 10_000_000)
    held = [blocks.buffer((1_000_000,), np.float32) for _ in range(6)]
    assert sum(b.nbytes for b in blocks._pool) <= 10_000_000
    assert len({b.__array_interface__["data"][0] for b in held}) == 6
