"""What the lessons' tables say of PyTorch, TensorFlow and JAX, asked of each where it is installed."""

import re
import threading

import numpy as np
import pytest

from tests.lesson_source import find_lesson_source


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'minitape[torch]'")


@pytest.fixture
def jax():
    return pytest.importorskip("jax", reason="JAX is not installed: pip install 'minitape[jax]'")


@pytest.fixture
def tensorflow():
    return pytest.importorskip("tensorflow", reason="TensorFlow is not installed: pip install 'minitape[tensorflow]'")


def test_pytorch_goes_back_in_the_calling_thread_on_a_cpu(torch):
    threads = []
    x = torch.tensor(2.0, requires_grad=True)
    x.register_hook(lambda gradient: threads.append(threading.get_ident()))
    (x * x).backward()
    assert threads == [threading.get_ident()]


def test_jax_without_jit_runs_python_at_each_call(jax):
    runs = []

    def f(x):
        runs.append(x)
        return x * x

    slope = jax.grad(f)
    assert [float(slope(3.0)), float(slope(3.0))] == [6.0, 6.0] and len(runs) == 2
    compiled = jax.jit(slope)
    assert [float(compiled(3.0)), float(compiled(3.0))] == [6.0, 6.0] and len(runs) == 3


def test_pytorch_gives_a_tuple_of_gradients_if_it_is_asked_for_one(torch):
    a, b = (torch.tensor([value], requires_grad=True) for value in (2.0, 3.0))
    assert [float(g) for g in torch.autograd.grad((a * b).sum(), (a, b))] == [3.0, 2.0]


def test_jax_gives_a_tuple_of_gradients_if_it_is_asked_for_one(jax):
    assert [float(g) for g in jax.grad(lambda a, b: a * b, argnums=(0, 1))(2.0, 3.0)] == [3.0, 2.0]


def test_rounding_gives_zeros_in_pytorch_and_numpy_on_the_way_an_error(torch):
    x = torch.tensor(1.4, requires_grad=True)
    torch.round(x).backward()
    assert float(x.grad) == 0.0
    with pytest.raises(RuntimeError, match="requires grad"):
        np.tanh(torch.tensor([1.0], requires_grad=True))


def test_rounding_gives_zeros_in_jax_and_numpy_on_the_way_an_error(jax):
    assert float(jax.grad(jax.numpy.round)(1.4)) == 0.0
    with pytest.raises(jax.errors.TracerArrayConversionError):
        jax.grad(lambda x: np.tanh(x))(1.0)


def test_pytorch_s_std_divides_by_one_less_unless_it_is_told(torch):
    x = torch.tensor([1.0, 2.0, 4.0])
    assert float(x.std()) == pytest.approx(np.std([1, 2, 4], ddof=1))
    assert float(x.std(correction=0)) == pytest.approx(np.std([1, 2, 4]))


def test_tensorflow_hands_nothing_on_where_there_are_steps_and_raises_where_there_is_no_rule(tensorflow):
    tf = tensorflow
    x = tf.Variable([1.5, 2.5])
    for step in (
        tf.floor,
        tf.round,
        lambda x: tf.cast(tf.argmax(x), tf.float32),
        lambda x: tf.cast(x > 2.0, tf.float32),
    ):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(step(x))
        assert tape.gradient(y, x) is None
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.unique(x).y)
    with pytest.raises(LookupError):
        tape.gradient(y, x)
    with pytest.raises(TypeError, match="NoneType"):
        0.1 * tape.gradient(tf.constant(1.0), x)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # TensorFlow's own
def test_py_function_around_numpy_gives_a_silent_zero_in_tensorflow_too(tensorflow):
    tf = tensorflow
    x, y = tf.Variable(1.2), tf.Variable(0.5)
    with tf.GradientTape() as tape:
        z = tf.py_function(lambda x, y: (x.numpy() % y.numpy()).astype(np.float32), [x, y], tf.float32)
    assert float(tape.gradient(z, x)) == 0.0
    with tf.GradientTape() as tape:
        z = tf.numpy_function(lambda x, y: (x % y).astype(np.float32), [x, y], tf.float32)
    assert tape.gradient(z, x) is None


def test_the_jax_program_of_the_appendix_prints_what_the_appendix_says(jax, capsys):
    section = find_lesson_source("appendix").read_text(encoding="utf-8").partition("<!-- id: jax -->")[2]
    program = re.search(r"^```python quoted\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[1]
    printed = re.search(r"^```text\n(.*?)^The answer", section, re.DOTALL | re.MULTILINE)[1]
    names = {}
    exec(program, names)
    assert capsys.readouterr().out == printed
    loss, w, xs = names["loss"], names["w"], names["xs"]
    with pytest.raises(TypeError, match="scalar"):
        jax.grad(loss)(w, xs)
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(lambda x: x if x > 0.0 else -x)(w)
    assert float(jax.grad(jax.grad(loss))(w, xs[2])) == 18.0
