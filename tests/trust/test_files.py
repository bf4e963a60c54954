"""What others wrote is read as data: a file names what minitape lists, and nothing that it says is run.

`hostile.py` reads hundreds of files that were written to do harm, in a process in which every import, every compiled text
and every opened file is seen.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

import minitape as tf

K = tf.keras


def rewritten(path, change):
    """A saved model whose description was changed by somebody else."""
    with np.load(path) as archive:
        arrays = dict(archive)
    about = json.loads(str(arrays.pop("about")))
    change(about)
    with open(path, "wb") as file:
        np.savez(file, about=np.array(json.dumps(about)), **arrays)
    return path


@pytest.mark.parametrize("safe_mode", [True, False])
def test_a_model_in_a_file_runs_no_text_of_it(tmp_path, safe_mode):
    x, sign = K.Input((1,)), tmp_path / "it_was_run"
    K.Model(x, x * 2.0).save(tmp_path / "model.keras")
    text = f"f(x=open({str(sign)!r}, 'w').close()) = x\n    facts\n    (1) -> 1\n"
    what = {"what": "minitape.keras.operations.formulas:_define", "args": [{"__name__": "f"}, "pass", text], "kwargs": {}}
    path = rewritten(tmp_path / "model.keras", lambda about: about["config"]["layers"][1]["config"].update(what))
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one comes after the file
        K.models.load_model(path, safe_mode=safe_mode)
    assert not sign.exists()
    assert caught.type is ValueError and "'minitape.keras.operations.formulas:_define' is neither" in str(caught.value)


def test_every_function_of_ops_on_symbolic_tensors_is_in_the_table():
    from minitape.keras.configs import FUNCTIONS, _named

    for name in dir(K.ops):
        function = getattr(K.ops, name)
        if function.__module__ == "minitape.keras.ops":  # the others see to symbolic tensors themselves
            assert name in FUNCTIONS and _named(function.__name__) is function.__wrapped__


def test_functions_and_operators_of_a_model_come_back(tmp_path):
    x = K.Input((2, 3))
    ops = [
        K.ops.exp2(x), K.ops.silu(x), K.ops.hard_swish(x), K.ops.concatenate([x, x], -1), K.ops.max(x, axis=1, keepdims=True),
        K.ops.einsum("bij,bkj->bik", x, x), K.ops.add(x, np.ones((2, 3), np.float32)), x.cast("int32"),
        1.0 - x, 2.0**x, x @ K.ops.transpose(x, (0, 2, 1)), -x, abs(x), x[:, 0, ..., 1:], x > 0.5, ~(x != 1.0), (x > 0) & (x < 1),
        7.0 // (x + 1.0), x % 2.0, True | (x >= 0.0), x / 3.0,
    ]  # fmt: skip
    model = K.Model(x, ops)
    model.save(tmp_path / "model.keras")
    value = tf.reshape(tf.range(6.0), (1, 2, 3))
    for again in (K.models.load_model(tmp_path / "model.keras"), K.models.model_from_json(model.to_json()), K.models.clone_model(model)):
        for one, other in zip(model(value), again(value), strict=True):
            np.testing.assert_array_equal(one, other)
