"""The functions of ``tf.compat.v1`` other than graphs and sessions behave as in TensorFlow."""

import logging

import pytest

import minitape as tf
from minitape.engine.record import log_warnings

v1 = tf.compat.v1


def test_get_variable_makes_a_variable_from_a_value_or_a_shape():
    assert v1.get_variable("w", initializer=3.0).name == "w:0"
    assert v1.get_variable("w", [2, 3], trainable=False).shape == (2, 3)
    assert v1.get_variable("w", [2], initializer=tf.ones).numpy().tolist() == [1, 1]
    assert v1.get_variable("w", [2], tf.float64, tf.zeros).dtype == tf.float64
    for given in ({}, {"shape": [2], "initializer": 3.0}):
        with pytest.raises(ValueError, match="shape"):
            v1.get_variable("w", **given)


def test_variables_are_assigned_at_once_or_by_a_session():
    v = tf.Variable(1.0)
    assert v1.assign(v, 2.0).numpy() == v.numpy() == 2.0
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", initializer=1.0)
        step = v1.assign(w, 4.0)
        session.run(v1.global_variables_initializer())
        assert session.run(w) == 1.0 and session.run(step) == 4.0 and session.run(w) == 4.0


def test_a_scope_of_names():
    with v1.name_scope("layer") as name:
        assert name == "layer/"
    with v1.op_scope([1.0], None, "mod") as name:
        assert name == "mod/"
    with pytest.raises(ValueError, match="a name or a default_name"), v1.name_scope(None, None, [1.0]):
        pass


def test_py_func_says_once_that_it_is_deprecated(caplog, monkeypatch):
    monkeypatch.setattr(log_warnings, "_log_counts", {})
    with caplog.at_level(logging.WARNING, "tensorflow"):
        found = [v1.py_func(lambda x, n=n: x * n, [2.0], tf.float32).numpy() for n in (2, 3)]
    assert found == [4.0, 6.0]
    (record,) = caplog.records
    assert "py_func (from tensorflow.python.ops.script_ops) is deprecated" in record.getMessage()
