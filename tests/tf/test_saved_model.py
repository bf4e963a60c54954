"""``tf.saved_model``: what was traced comes back without the classes that it had, with the same values and gradients."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest

import minitape as tf

K = tf.keras


class Trained(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0], [2.0]], name="w")
        self.b = tf.Variable(0.5)
        self.steps = tf.Variable(0, trainable=False)
        self.parts = {"again": [self.w, tf.Variable(3.0)]}
        self.inner = tf.Module()
        self.inner.z = tf.Variable(9.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def __call__(self, x):
        return tf.reshape(x, [-1, 2]) @ self.w + self.b

    @tf.function
    def step(self, x, y, rate=0.1):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        for v, g in zip([self.w, self.b], tape.gradient(loss, [self.w, self.b]), strict=True):
            v.assign_sub(rate * g)
        self.steps.assign_add(1)
        return {"loss": loss, "steps": self.steps}

    @tf.function
    def loop(self, n, x):
        i = 0
        while i < n:
            if tf.reduce_sum(x) > 5.0:
                x = x * self.b
            else:
                x = x + tf.reduce_sum(self.w)
            i += 1
        return x, i

    @tf.function
    def slope(self, n, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = self.loop(n, x)[0]
        return tape.gradient(y, x)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None])])
    def scanned(self, words, x):
        return tf.strings.join([words, tf.constant(b"\x00!")]), tf.scan(lambda a, e: a * self.b + e, x)


X = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]], np.float32)
Y = np.ones((3, 1), np.float32)


def traced():
    """A module that was used before it is saved."""
    module = Trained()
    module.step(X, Y)
    for n in (2, 4):
        module.slope(tf.constant(n), tf.constant([1.0, 2.0]))
    return module


def results(module):
    """What the functions of a module give, and its gradients; the step changes its variables."""
    x, words = tf.constant([1.0, 2.0]), tf.constant([b"a", b"b"])
    found = [module(X)]
    for n in (0, 1, 5):
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                z, turns = module.loop(tf.constant(n), x)
            first = tape.gradient(z, x)
        found += [z, turns, first, outer.gradient(z, [module.w, module.b, module.inner.z]), outer.gradient(first, module.b),
                  module.slope(tf.constant(n), x)]  # fmt: skip
    with tf.GradientTape() as tape:
        words, sums = module.scanned(words, x)
    found += [words, sums, tape.gradient(sums, module.trainable_variables), module.step(X, Y), module.step(X, Y), module.variables]
    return [None if t is None else np.asarray(t).tolist() for t in tf.nest.flatten(found)]


def saved(module, folder, **options):
    tf.saved_model.save(module, folder, **options)
    return tf.saved_model.load(folder)


def test_values_and_gradients_are_the_same(tmp_path):
    module = traced()
    loaded = saved(module, tmp_path)
    assert results(loaded) == results(module)


@pytest.mark.long
def test_a_process_without_the_class_gives_the_same(tmp_path):
    module = traced()
    tf.saved_model.save(module, tmp_path)
    program = "\n".join(["import json, sys", "import numpy as np", "import minitape as tf", f"X = np.array({X.tolist()}, np.float32)",
                         "Y = np.ones((3, 1), np.float32)", inspect.getsource(results),
                         "print(json.dumps(results(tf.saved_model.load(sys.argv[1])), default=repr))"])  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(json.dumps(results(module), default=repr))


def test_objects_come_back_under_their_names(tmp_path):
    module = traced()
    loaded = saved(module, tmp_path)
    assert loaded.parts["again"][0] is loaded.w
    assert loaded.inner.z.numpy() == 9.0 and loaded.w.name == "w:0"
    assert [v.numpy().tolist() for v in loaded.variables] == [v.numpy().tolist() for v in module.variables]
    assert not loaded.steps.trainable and len(loaded.trainable_variables) == len(module.trainable_variables)
    assert {"step", "parts", "signatures"} <= {*dir(loaded)}
    with pytest.raises(AttributeError, match="the saved model has no 'other'"):
        print(loaded.other)
    assert callable(loaded) and not callable(loaded.inner)


def test_a_loaded_model_can_be_called_in_functions_trained_saved_again_and_restored(tmp_path):
    module = traced()
    loaded = saved(module, tmp_path / "first")
    doubled = tf.function(lambda x: 2.0 * loaded(x))
    np.testing.assert_array_equal(doubled(X), 2 * module(X))
    path = tf.train.Checkpoint(module).write(str(tmp_path / "ckpt"))
    loaded.step(X, Y)
    again = saved(loaded, tmp_path / "second")
    np.testing.assert_array_equal(again.w, loaded.w)
    tf.train.Checkpoint(loaded).restore(path)
    np.testing.assert_array_equal(loaded(X), module(X))
    assert again.steps.numpy() == 2


class Two(tf.Module):
    """Its two functions have input signatures."""

    @tf.function(input_signature=[tf.TensorSpec([]), tf.TensorSpec([])])
    def f(self, y, x):
        return {"sum": x + y, "difference": y - x}

    @tf.function(input_signature=[tf.TensorSpec([])])
    def g(self, x):
        return x, (x + 1.0,)


def test_signatures_take_and_return_tensors_by_name(tmp_path):
    module, x, y = Two(), tf.constant(1.0), tf.constant(3.0)
    assert saved(module, tmp_path).signatures == {}  # which of the two is meant?
    loaded = saved(module, tmp_path, signatures={"serve": module.f, "trace": module.f.get_concrete_function()})
    for name in ("serve", "trace"):
        found = loaded.signatures[name](x=x, y=y)
        assert {key: t.numpy() for key, t in found.items()} == {"sum": 4.0, "difference": 2.0}
    assert loaded.signatures["serve"].structured_input_signature == (
        (), {"x": tf.TensorSpec([], name="x"), "y": tf.TensorSpec([], name="y")})  # fmt: skip
    t = traced()
    first = saved(t, tmp_path, signatures=t.__call__)
    np.testing.assert_array_equal(first.signatures["serving_default"](tf.constant(X))["output_0"], t(X))
    for wrong in (5, tf.function(lambda x: x)):
        with pytest.raises(ValueError, match="with an input signature or concrete functions can be used"):
            tf.saved_model.save(module, tmp_path, signatures=wrong)
    with pytest.raises(ValueError, match="must be a single Tensor, a sequence of Tensors, or a dictionary"):
        tf.saved_model.save(module, tmp_path, signatures=module.g)


def test_arguments_that_were_not_traced_are_refused(tmp_path):
    loaded = saved(traced(), tmp_path)
    with pytest.raises(ValueError, match=r"Could not find matching concrete function to call loaded from the SavedModel(.|\n)*x: TensorSpec"):
        loaded.loop(tf.constant(1), tf.zeros([3]))
    with pytest.raises(TypeError, match="Can not cast"):
        loaded(tf.zeros([1, 2], tf.int32))


OUTSIDE = tf.Variable(1.0)


def filled(x):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for i in tf.range(3):
        array = array.write(i, x * tf.cast(i, tf.float32))
    return array.stack()


OF_UNKNOWN_SIZE = {  # of x, which has the shape [None, None]
    "reshape": lambda x: tf.reshape(x, [tf.shape(x)[0], -1, 1]),
    "slice": lambda x: x[1:, ..., -1] + x[tf.shape(x)[0] - 1, 0],
    "zeros": lambda x: tf.zeros([tf.shape(x)[0], 2]) + x[:, :1],
    "mask": lambda x: tf.boolean_mask(x, x > 0.0),
    "tensordot": lambda x: tf.tensordot(x, x, [[0], [0]]),
    "norm": lambda x: tf.norm(x, axis=0) + tf.linalg.norm(x),
    "conv": lambda x: tf.nn.conv2d(x[None, ..., None], tf.ones([2, 2, 1, 1]), 1, "SAME"),
    "top_k": lambda x: tf.math.top_k(x, 1),
    "scatter": lambda x: tf.tensor_scatter_nd_add(x, [[0]], x[1:2]),
    "array": filled,
    "map": lambda x: tf.map_fn(lambda e: e * e, x),
    "vectorized": lambda x: tf.vectorized_map(lambda e: tf.stop_gradient(e), x),
    "switch": lambda x: tf.switch_case(tf.shape(x)[0], [lambda: x, lambda: -x, lambda: tf.exp(x)]),
    "softmax": lambda x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), x),
    "assigned": lambda x: x * OUTSIDE.assign_add(1.0) * OUTSIDE,
}


@pytest.mark.parametrize("name", OF_UNKNOWN_SIZE)
def test_operations_of_unknown_size(tmp_path, name):
    module, found = tf.Module(), []
    module.v = OUTSIDE
    module.f = tf.function(OF_UNKNOWN_SIZE[name], input_signature=[tf.TensorSpec([None, None])])
    loaded = saved(module, tmp_path)
    for one in (module, loaded):
        x = tf.constant([[1.0, -2.0], [3.0, 0.5]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = one.f(x)
        found.append([None if t is None else t.numpy().tolist() for t in (*tf.nest.flatten(y), tape.gradient(tf.nest.flatten(y)[0], x))])
    assert found[0] == found[1]


@tf.custom_gradient
def passed(x):
    return x, lambda g: g


UNSAVED = {
    "runs a Python function": lambda x: tf.py_function(lambda v: v, [x], tf.float32),
    "its gradient is a Python function": lambda x: passed(x),
    "draws random numbers": lambda x: x + tf.random.normal([2]),
    "prints, asserts": lambda x: (tf.print(x), x)[1],
    "The result of <lambda> cannot be saved": lambda x: tf.RaggedTensor.from_row_lengths(x, [1, 1]),
}


@pytest.mark.parametrize("why", UNSAVED)
def test_what_is_no_data_is_refused_with_the_line(tmp_path, why):
    module = tf.Module()
    module.f = tf.function(UNSAVED[why], input_signature=[tf.TensorSpec([2])])
    with pytest.raises(ValueError, match=why) as caught:
        tf.saved_model.save(module, tmp_path)
    if "result" not in why:
        assert f'"{why}": lambda x' in str(caught.value) and "test_saved_model.py" in str(caught.value)
    assert not any(tmp_path.iterdir())


def test_a_variable_that_the_object_does_not_hold_is_refused(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x * OUTSIDE, input_signature=[tf.TensorSpec([])])
    with pytest.raises(AssertionError, match="references an 'untracked' resource"):
        tf.saved_model.save(module, tmp_path)
    with pytest.raises(ValueError, match="Expected an object of type `Trackable`"):
        tf.saved_model.save(5, tmp_path)


def network():
    layers = K.layers
    return K.Sequential([K.Input((6, 6, 1), name="image"), layers.Conv2D(2, 3, activation="relu"), layers.MaxPooling2D(),
                         layers.BatchNormalization(), layers.Flatten(), layers.Dropout(0.5), layers.Dense(3)])  # fmt: skip


def test_a_keras_model_is_exported_and_trains_on(tmp_path, capsys):
    model, x = network(), np.random.default_rng(0).normal(size=(4, 6, 6, 1)).astype(np.float32)
    model.compile("adam", "mse")
    model.fit(x, np.ones((4, 3)), verbose=0)
    model.export(tmp_path)
    assert "Endpoint 'serve'" in capsys.readouterr().out
    loaded = tf.saved_model.load(tmp_path)
    np.testing.assert_array_equal(loaded.serve(x), model(x))
    np.testing.assert_array_equal(loaded.signatures["serving_default"](image=tf.constant(x))["output_0"], model(x))
    assert len(loaded.variables) == len(model.variables) and len(loaded.trainable_variables) == len(model.trainable_variables)
    found = []
    for call, variables in ((model, model.trainable_variables), (loaded.serve, loaded.trainable_variables)):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(call(x) ** 2)
        found.append(tape.gradient(loss, variables))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    direct = saved(model, tmp_path)
    np.testing.assert_array_equal(direct.signatures["serving_default"](inputs=tf.constant(x))["output_0"], model(x))


def test_export_needs_a_model_that_is_built(tmp_path):
    with pytest.raises(ValueError, match="must be built before export"):
        K.Sequential([K.layers.Dense(1)]).export(tmp_path)
    with pytest.raises(ValueError, match="Received: format=onnx"):
        network().export(tmp_path, format="onnx")


def test_folders_of_tensorflow_and_wrong_files(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(ValueError, match="is a SavedModel of TensorFlow"):
        tf.saved_model.load(tmp_path)
    file = tmp_path / "saved_model.npz"
    file.write_bytes(b"PK")
    with pytest.raises(ValueError, match="is no SavedModel that minitape wrote"):
        tf.saved_model.load(tmp_path)
    tf.saved_model.save(traced(), tmp_path)
    with np.load(file) as archive:
        arrays = dict(archive)
    about = json.loads(str(arrays.pop("about")))
    about["version"] = 2
    np.savez(file, about=np.array(json.dumps(about)), **arrays)
    with pytest.raises(ValueError, match="is no SavedModel that this minitape can read: ValueError: It has version 2"):
        tf.saved_model.load(tmp_path)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "complex64", "uint8", "bool", "string"])
def test_variables_and_constants_of_every_kind(tmp_path, dtype):
    module = tf.Module()
    values = np.array([b"a\x00", b""], object) if dtype == "string" else tf.cast([1, 0], dtype).numpy()
    module.v = tf.Variable(values, shape=[None])
    module.f = tf.function(lambda: (tf.identity(module.v), tf.constant(values)), input_signature=[])
    loaded = saved(module, tmp_path)
    for t in (loaded.v, *loaded.f()):
        assert t.dtype == module.v.dtype and t.numpy().tolist() == values.tolist()
    assert loaded.v.shape.as_list() == [None]


def test_shapes_that_a_file_tells_wrongly_reach_no_machine_code(tmp_path):
    """A chain that is fused, or done block by block, after many runs: only where minitape found the shapes itself."""
    module = tf.Module()

    def chain(x):
        for _ in range(30):
            x = tf.sin(x) * x + 1.0
        return x

    module.f = tf.function(chain, input_signature=[tf.TensorSpec([100000])])
    tf.saved_model.save(module, tmp_path)
    file = tmp_path / "saved_model.npz"
    with np.load(file) as archive:
        arrays = dict(archive)
    about = json.loads(str(arrays.pop("about")))
    trace = next(more for kind, _, more in about["nodes"] if kind == "function")["traces"][0]
    trace["values"] = json.loads(json.dumps(trace["values"]).replace("100000", "3"))
    np.savez(file, about=np.array(json.dumps(about)), **arrays)
    loaded = tf.saved_model.load(tmp_path)
    calls = loaded.f._traces.popitem()[1]
    within = tf.function(lambda x: calls.call_flat([x]) + 0.0)
    expected = chain(tf.constant([0.1, 0.2, 0.3]))
    for _ in range(70):  # more than minitape.graphs.program.OFTEN
        np.testing.assert_allclose(calls.call_flat([tf.constant([0.1, 0.2, 0.3])]), expected, rtol=1e-6)
        np.testing.assert_allclose(within(tf.constant([0.1, 0.2, 0.3])), expected, rtol=1e-6)
