"""What others wrote is read as data: a file names what minitape lists, and nothing that it says is run.

`hostile.py` reads hundreds of files that were written to do harm, in a process in which every import, every compiled text
and every opened file is seen.
"""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

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
    with pytest.raises(Exception) as caught:  # which one is asked last: first, whether anything was run
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
    copies = (K.models.load_model(tmp_path / "model.keras"), K.models.model_from_json(model.to_json()), K.models.clone_model(model),
              pickle.loads(pickle.dumps(model)))  # fmt: skip
    for again in copies:
        for one, other in zip(model(value), again(value), strict=True):
            np.testing.assert_array_equal(one, other)


def configured(name, **config):
    return {"class_name": name, "module": "keras.layers", "config": config, "registered_name": None}


LAMBDA = {"class_name": "__lambda__", "config": {"code": "4wEAAAA=", "defaults": None, "closure": None}}


@pytest.mark.parametrize("config", [{"function": LAMBDA}, {"function": "<lambda>"}, {"function": "triple", "output_shape": LAMBDA}])
def test_a_lambda_layer_with_code_is_refused_as_in_keras(tmp_path, config):
    message = "Requested the deserialization of a `Lambda` layer whose `function` is a Python lambda. This carries a potential risk"
    for read in (K.layers.Lambda.from_config, lambda c: K.layers.deserialize(configured("Lambda", **c))):
        with pytest.raises(ValueError, match=message):
            read(config)
    K.Sequential([K.Input((2,)), K.layers.Lambda(lambda x: x * 2.0)]).save(tmp_path / "model.keras")
    for safe_mode in (True, False):
        with pytest.raises(ValueError, match=message):
            K.models.load_model(tmp_path / "model.keras", safe_mode=safe_mode)
    with pytest.raises(ValueError, match="Requested the deserialization of a Python lambda"):
        K.layers.deserialize(LAMBDA)


def test_a_vocabulary_is_no_path_in_a_configuration(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n")
    assert len(K.layers.StringLookup(vocabulary=str(words)).get_vocabulary()) == 3  # the user's own path
    for name in ("StringLookup", "IntegerLookup", "TextVectorization"):
        config = {"vocabulary": str(words)}
        for read in (
            getattr(K.layers, name).from_config,
            lambda config, name=name: K.layers.deserialize(configured(name, **config)),
            lambda config, name=name: K.Sequential.from_config({"name": "a", "layers": [configured(name, **config)]}),
        ):
            with pytest.raises(ValueError, match=r"loading of a vocabulary file outside of the model archive.*words\.txt"):
                read(config)
    model = K.Sequential([K.Input((1,), dtype="string"), K.layers.StringLookup(vocabulary=["a", "b"])])
    model.save(tmp_path / "model.keras")
    layer = {"vocabulary": str(words)}
    path = rewritten(tmp_path / "model.keras", lambda about: about["config"]["layers"][1]["config"].update(layer))
    with pytest.raises(ValueError, match="outside of the model archive"):
        K.models.load_model(path)
    assert K.models.load_model(path, safe_mode=False).layers[0].get_vocabulary() == ["[UNK]", "a", "b"]
    K.layers.StringLookup(vocabulary=str(words))  # safe mode is over


def test_only_public_classes_are_found_by_name():
    for name in ("deserialize", "Input", "add", "InputSpec", "Lure", "os", "__class__", None, ["Dense"], {"class_name": "Dense"}):
        with pytest.raises(TypeError, match="Could not locate class"):
            K.layers.deserialize({"class_name": name, "config": {}})
    for name in ("Any", "Configured", "public", "__loader__", "LearningRateSchedule"):
        with pytest.raises(ValueError, match="Could not interpret learning rate schedule identifier"):
            K.optimizers.SGD.from_config({"learning_rate": {"class_name": name, "config": {}}})
    with K.utils.custom_object_scope({"f": print}), pytest.raises(TypeError, match=r"missing a `from_config\(\)` method"):
        K.layers.deserialize({"class_name": "f", "config": {"sep": ""}})


def test_the_note_in_a_folder_of_checkpoints_names_none_elsewhere(tmp_path):
    prefix = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tmp_path / "theirs" / "ckpt")
    (tmp_path / "mine").mkdir()
    for name in (prefix, "../theirs/ckpt-1", "sub/ckpt-1"):
        (tmp_path / "mine" / "checkpoint").write_text(f'model_checkpoint_path: "{name}"\n')
        for read in (tf.train.latest_checkpoint, tf.train.load_checkpoint):
            with pytest.raises(ValueError, match="names a checkpoint outside of its folder"):
                read(tmp_path / "mine")


@pytest.mark.parametrize("graph", ["", "{}", "[]", "[[null, {}], 1]", '[["x", {}]]', '[[null, {"v": 7}]]', '[[null, {"v": -1}]]', "[" * 10**5])
def test_a_checkpoint_that_does_not_describe_its_objects_is_refused(tmp_path, graph):
    with open(tmp_path / "c.index", "wb") as file:
        np.savez(file, _CHECKPOINTABLE_OBJECT_GRAPH=np.array(graph))
    with pytest.raises(ValueError, match="is no checkpoint that minitape wrote"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path / "c")


@pytest.mark.parametrize("data", [b"", b"hello", b"PK\x03\x04", b"\x80\x04}."])
def test_a_file_of_another_kind_is_told(tmp_path, data):
    model = K.Sequential([K.Input((2,)), K.layers.Dense(1)])
    for name, read in (
        ("a.keras", K.models.load_model),
        ("a.weights.h5", model.load_weights),
        ("a.index", lambda path: tf.train.load_checkpoint(path.with_suffix(""))),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=rf"{name} is no \w+ that minitape wrote"):
            read(tmp_path / name)
    np.savez(tmp_path / "a.npz", np.ones(2))
    (tmp_path / "a.npz").rename(tmp_path / "a.keras")
    with pytest.raises(ValueError, match=r"a\.keras does not describe a model"):
        K.models.load_model(tmp_path / "a.keras")


def header(shape, kind="<f4"):
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": kind, "fortran_order": False, "shape": shape})
    return out.getvalue()


BOMBS = {
    "small, unpacks to 100 MB": (zipfile.ZIP_DEFLATED, header((25_000_000,)) + bytes(10**8)),
    "a header of 4 TB": (zipfile.ZIP_STORED, header((10**12,))),
    "elements without room": (zipfile.ZIP_STORED, header((10**15,), "|V0")),
    "a shape beyond all numbers": (zipfile.ZIP_STORED, header((10**9,) * 3)),
}


@pytest.mark.parametrize("what", BOMBS)
def test_an_archive_takes_no_more_memory_than_it_is_large(tmp_path, what):
    kind, content = BOMBS[what]
    model = K.Sequential([K.Input((2,)), K.layers.Dense(1)])
    for name, read in (("a.keras", K.models.load_model), ("a.weights.h5", model.load_weights),
                       ("a.index", lambda path: tf.train.load_checkpoint(path.with_suffix("")))):  # fmt: skip
        with zipfile.ZipFile(tmp_path / name, "w", kind) as archive:
            archive.writestr("0.npy", content)
        del archive
        tracemalloc.start()
        with pytest.raises(ValueError, match=rf"{name} is no \w+ that minitape wrote"):
            read(tmp_path / name)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 5_000_000


@pytest.fixture(scope="module")
def seen(tmp_path_factory, long, longest):
    """What the process that reads hostile files saw, for each kind of file; with ``--longest`` ten minutes of each kind, others each time."""
    script = Path(__file__).with_name("hostile.py")
    done = subprocess.run([sys.executable, script, *(["--minutes=10"] if longest else [] if long else ["--part=0.1"])], cwd=tmp_path_factory.mktemp("hostile"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", ["guard", "models", "configurations", "archives", "checkpoints", "progress", "snapshots", "recordings", "hand_ins", "data", "images"])
def test_hostile_files_import_run_and_open_nothing(seen, kind):
    assert seen[kind] == [] and "outside" not in seen, f"read: {seen['read']}"
