"""Checkpoints keep values by the paths of attributes, and never run what is in a file."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf
from minitape.tf.archive import arrays_in, write


class Dense(tf.Module):
    def __init__(self, n):
        self.w = tf.Variable(tf.ones([n, n]), name="w")
        self.b = tf.Variable(tf.zeros([n]))


class Net(tf.Module):
    def __init__(self):
        self.layers = [Dense(2), Dense(3)]
        self.table = {"scale": tf.Variable(2.0)}


def test_round_trip_through_lists_and_dictionaries(tmp_path):
    net, other = Net(), Net()
    net.layers[1].b.assign([1.0, 2.0, 3.0])
    net.table["scale"].assign(7.0)
    path = tf.train.Checkpoint(model=net).write(tmp_path / "c")
    tf.train.Checkpoint(model=other).restore(path).assert_consumed()
    assert other.layers[1].b.numpy().tolist() == [1.0, 2.0, 3.0]
    assert other.table["scale"].numpy() == 7.0
    keys = dict(tf.train.list_variables(path))
    assert keys["model/layers/0/w/.ATTRIBUTES/VARIABLE_VALUE"] == [2, 2]


def test_what_does_not_match_is_told(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(1.0)).write(tmp_path / "c")
    status = tf.train.Checkpoint(w=tf.Variable(2.0)).restore(path)
    with pytest.raises(AssertionError, match=r"Found 1 Python objects .*numpy=2\.0"):
        status.assert_existing_objects_matched()
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="Received incompatible tensor with shape"):
        tf.train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0])).restore(path)


def test_a_value_is_found_on_any_path_that_leads_to_it(tmp_path):
    v = tf.Variable([1.0, 2.0])
    path = tf.train.Checkpoint(one=[v], two={"again": v}).write(tmp_path / "c")
    assert [key for key, _ in tf.train.list_variables(path)][1:] == ["one/0/.ATTRIBUTES/VARIABLE_VALUE"]
    other = tf.Variable([0.0, 0.0])
    tf.train.Checkpoint(two={"again": other}).restore(path).assert_existing_objects_matched()
    assert other.numpy().tolist() == [1.0, 2.0]
    tf.train.Checkpoint(data=tf.data.Dataset.range(2), function=tf.function(abs)).write(tmp_path / "d")
    assert len(tf.train.list_variables(tmp_path / "d")) == 1
    with pytest.raises(ValueError, match="was expecting n to be a trackable object"):
        tf.train.Checkpoint(n=3)


class Late(tf.Module):
    def __call__(self, x):
        if not hasattr(self, "w"):
            self.w = tf.Variable(1.0)
        return x * self.w


def make_subclass():
    class Inner(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(2)

        def call(self, x):
            return self.dense(x)

    return Inner()


@pytest.mark.parametrize("make", [Late, make_subclass, lambda: tf.keras.Sequential([tf.keras.layers.Dense(2)])])
def test_what_is_made_after_restoring_gets_its_value_when_it_comes(tmp_path, make):
    x = tf.constant([[1.0, 2.0]])
    model = make()
    model(x)
    for v in model.variables:
        v.assign(tf.reshape(tf.range(5.0, 5.0 + tf.size(v, tf.float32)), v.shape))
    path = tf.train.Checkpoint(model=model).write(tmp_path / "c")
    for function in (lambda f: f, tf.function):
        other = make()
        tf.train.Checkpoint(model=other).restore(path)
        assert function(other.__call__)(x).numpy().tolist() == model(x).numpy().tolist()


def test_an_optimizer_goes_on_with_its_momentums(tmp_path):
    def train(v, optimizer):
        optimizer.apply_gradients([(tf.constant(3.0), v)])

    v, optimizer = tf.Variable(1.0), tf.keras.optimizers.Adam(0.1)
    train(v, optimizer)
    path = tf.train.Checkpoint(v=v, optimizer=optimizer).write(tmp_path / "c")
    w, other = tf.Variable(0.0), tf.keras.optimizers.Adam(0.1)
    tf.train.Checkpoint(v=w, optimizer=other).restore(path)
    for _ in range(3):
        train(v, optimizer), train(w, other)
    assert w.numpy() == v.numpy()


def test_lists_and_dictionaries_of_a_checkpoint_take_what_is_awaited(tmp_path):
    path = tf.train.Checkpoint(listed=[tf.Variable(1.0)], mapped={"a": tf.Variable(2.0)}).write(tmp_path / "c")
    restored = tf.train.Checkpoint()
    status = restored.restore(path)
    with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint \(root\).listed.0"):
        status.assert_consumed()
    restored.listed, restored.mapped = [], {}
    restored.listed.append(tf.Variable(0.0))
    restored.mapped["a"] = tf.Variable(0.0)
    assert repr(restored.listed[0].numpy()) == "np.float32(1.0)" and restored.mapped["a"].numpy() == 2.0
    assert repr(restored.listed).startswith("ListWrapper([<tf.Variable")
    status.assert_consumed()


def test_an_iterator_goes_on_where_it_was(tmp_path):
    iterator = iter(tf.data.Dataset.range(40).shuffle(7).repeat().batch(2))
    checkpoint = tf.train.Checkpoint(iterator=iterator)
    for _ in range(25):
        next(iterator)
    path = checkpoint.save(tmp_path / "c")
    following = [next(iterator).numpy().tolist() for _ in range(30)]
    checkpoint.restore(path)
    assert [next(iterator).numpy().tolist() for _ in range(30)] == following


def test_a_reader_shows_what_is_in_a_file(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0]), i=iter(tf.data.Dataset.range(2))).save(tmp_path / "c")
    reader = tf.train.load_checkpoint(tmp_path)
    assert reader.get_variable_to_shape_map()["v/.ATTRIBUTES/VARIABLE_VALUE"] == [2]
    kinds = {key: kind.name for key, kind in reader.get_variable_to_dtype_map().items()}
    assert sorted(kinds.values()) == ["float32", "int64", "string", "variant"] and reader.has_tensor(min(kinds))
    assert reader.get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [1.0, 2.0]
    with pytest.raises(tf.errors.NotFoundError, match="Key x not found in checkpoint"):
        reader.get_tensor("x")
    assert tf.train.list_variables(path) == sorted(reader.get_variable_to_shape_map().items())


def test_a_pickle_in_the_file_is_refused(tmp_path):
    with open(tmp_path / "c.index", "wb") as file:
        np.savez(file, **{"v/.ATTRIBUTES/VARIABLE_VALUE": np.array([object()], dtype=object)})
    with pytest.raises(ValueError, match="pickle"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path / "c")


def test_a_file_that_cannot_be_written_whole_leaves_the_old_one(tmp_path):
    write(tmp_path / "file", {"a": np.ones(2)})
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        write(tmp_path / "file", {"a": np.zeros(2), "b": np.array([None])})
    assert arrays_in(tmp_path / "file", "file")["a"].tolist() == [1.0, 1.0]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_manager_keeps_the_last_ones(tmp_path):
    v = tf.Variable(0.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), tmp_path, max_to_keep=2)
    for n in range(12):
        v.assign(float(n))
        manager.save()
    assert [p.rpartition("-")[2] for p in manager.checkpoints] == ["11", "12"]
    tf.train.Checkpoint(v=v).restore(manager.checkpoints[0])
    assert v.numpy() == 10.0
    assert tf.train.latest_checkpoint(tmp_path) == manager.latest_checkpoint


def test_the_manager_counts_steps_and_keeps_the_folder_as_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    step, called = tf.Variable(0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step), "./here", 3, step_counter=step, checkpoint_interval=5, init_fn=lambda: called.append(1)
    )
    assert manager.restore_or_initialize() is None and called == [1]
    saved = []
    for _ in range(12):
        saved.append(manager.save())
        step.assign_add(1)
    assert [s for s in saved if s] == ["./here/ckpt-1", "./here/ckpt-2", "./here/ckpt-3"] == manager.checkpoints
    assert manager.restore_or_initialize() == "./here/ckpt-3" and step.numpy() == 10


def test_an_optimizer_of_tensorflow_1_goes_on_as_well(tmp_path):
    def make():
        v, optimizer = tf.Variable([1.0, 2.0]), tf.compat.v1.train.AdamOptimizer(0.1)
        return v, lambda: optimizer.minimize(lambda: tf.reduce_sum(v * v)), tf.train.Checkpoint(v=v, optimizer=optimizer)

    v, step, checkpoint = make()
    step()
    path = checkpoint.save(tmp_path / "c")
    w, other_step, other = make()
    other.restore(path)
    step(), other_step()
    assert w.numpy().tolist() == v.numpy().tolist()
