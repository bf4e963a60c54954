"""What is left of ``tf.compat.v1`` beside graphs and sessions, which the oracle compares with TensorFlow."""

import logging

import pytest

import minitape as tf
from minitape.engine.recording import logs

v1 = tf.compat.v1


def test_a_variable_is_found_again_by_its_name():
    with tf.Graph().as_default():
        with v1.variable_scope("layer") as layer:
            made = v1.get_variable("w", [2])
            with pytest.raises(ValueError, match="Variable layer/w already exists, disallowed"):
                v1.get_variable("w", [2])
        with v1.variable_scope(layer, reuse=True):
            assert v1.get_variable("w", [2]) is made
        with v1.variable_scope("layer", reuse=v1.AUTO_REUSE):
            assert v1.get_variable("w") is made and v1.get_variable("b", [1]).name == "layer/b:0"


def test_a_function_is_in_the_scope_around_it_and_variables_are_set_and_assigned():
    names = []
    with tf.Graph().as_default(), v1.variable_scope("layer"):
        tf.function(lambda: names.append(v1.get_variable_scope().name))()
        step = v1.assign(v1.get_variable("v", []), 4.0)
        with v1.Session() as session:
            session.run(v1.initialize_all_variables())
            assert session.run(step) == 4.0 and names == ["layer"]


def test_programs_of_tensorflow_1_begin_before_any_tape_and_name_their_scopes():
    with tf.GradientTape(), pytest.raises(ValueError, match="must be called at program startup"):
        v1.disable_eager_execution()
    with pytest.raises(ValueError, match="At least one of name"), v1.name_scope(None, None, [1.0]):
        pass
    assert not hasattr(v1, "autodiff") and not hasattr(v1, "explain") and not hasattr(v1, "snapshot")


def test_an_argument_that_is_not_here_is_refused():
    for call in (
        lambda: v1.get_variable("v", [2], regularizer=lambda v: v),
        lambda: v1.get_variable("v", [2], tf.float32, None, lambda v: v),
        lambda: v1.variable_scope("v", partitioner=lambda v: v),
        lambda: v1.assign(tf.Variable(1.0), 2.0, use_locking=True),
    ):
        with pytest.raises(TypeError):
            call()


def test_py_func_says_once_that_it_is_deprecated(caplog, monkeypatch):
    monkeypatch.setattr(logs, "_told", set())
    with caplog.at_level(logging.WARNING, "tensorflow"):
        found = [v1.py_func(lambda x, n=n: x * n, [2.0], tf.float32).numpy() for n in (2, 3)]
    assert found == [4.0, 6.0]
    (record,) = caplog.records
    assert "py_func (from tensorflow.python.ops.script_ops) is deprecated" in record.getMessage()


def test_a_name_of_tensorflow_1_that_is_not_here_is_answered():
    with pytest.raises(AttributeError, match=r"^tf\.compat\.v1\.train is not in minitape, a tape to learn from\."):
        v1.train  # noqa: B018
