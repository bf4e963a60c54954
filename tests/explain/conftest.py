"""Explanations look through the living objects for who holds a tensor: not through those of all tests before."""

from __future__ import annotations

import gc

import pytest


@pytest.fixture(scope="module", autouse=True)
def only_objects_of_this_module():
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
