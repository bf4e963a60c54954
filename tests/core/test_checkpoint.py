"""Checkpoints keep values by the paths of attributes, and never run what is in a file."""

from __future__ import annotations

import numpy as np
import pytest

import minitape as tf


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
    with pytest.raises(AssertionError, match=r"w/\.ATTRIBUTES"):
        status.assert_existing_objects_matched()
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="Shape mismatch"):
        tf.train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0])).restore(path)


def test_a_pickle_in_the_file_is_refused(tmp_path):
    with open(tmp_path / "c.index", "wb") as file:
        np.savez(file, **{"v/.ATTRIBUTES/VARIABLE_VALUE": np.array([object()], dtype=object)})
    with pytest.raises(ValueError, match="pickle"):
        tf.train.Checkpoint(v=tf.Variable(1.0)).restore(tmp_path / "c")


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
