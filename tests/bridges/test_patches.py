"""A patch passes the gradient or makes derivatives finite, and changes no finite number."""

import pytest

import minitape

from .cases import compile_program
from .frameworks import FRAMEWORKS, is_usable

TORCH, TENSORFLOW, JAX = FRAMEWORKS
AROUND = {
    "torch": "import torch\nw = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nn = torch.tensor([0.0, 2.0, "
    "4.0])\n{}\nloss = y.sum()\nloss.backward()\n",
    "tensorflow": "import tensorflow as tf\nw = tf.Variable([1.0, 2.0, 3.0])\nn = tf.constant([0.0, 2.0, 4.0])\nwith "
    "tf.GradientTape() as tape:\n    {}\n    y = tf.reduce_sum(y)\ngrad = tape.gradient(y, w)\n",
    "jax": "import jax.numpy as jnp\nw = jnp.array([1.0, 2.0, 3.0])\nn = jnp.array([0.0, 2.0, 4.0])\ndef loss(w):\n   "
    " {}\n    return jnp.sum(y)\nargs = w,\ngrad = jax.grad(loss)(w)\n",
}
LINES = [  # the statements, and the patch of the first that is to blame
    (TORCH, "y = (w > 1.5).float()", None),  # a sigmoid is another number: words only
    (TORCH, "y = torch.round(w + torch.randn(3))", None),  # one draw: words only
    (TORCH, "y = torch.round(w - 0.2)", None),
    (TORCH, "y = torch.round(w).long().float()", None),  # two steps on one line
    (JAX, "y = w / ((w * 0.0).std() + 1.0)", None),  # where all is zero, it stays zero: words only
    (JAX, "y = jnp.outer(n, w).std(1) + 1.0", None),
    (TENSORFLOW, "y = tf.math.reduce_std(n[:, None] * w, 1) + 1.0", None),
    (TENSORFLOW, "y = tf.norm((n * w)[:, None], axis=1)", None),  # compiled, a number that is added may be lost
]  # fmt: skip


@pytest.mark.parametrize(
    ("framework", "line", "patch"), LINES, ids=[f"{case[0].name}-{number}" for number, case in enumerate(LINES)]
)
def test_a_patch_changes_no_finite_number(framework, line, patch):
    text = AROUND[framework.name].format(line)
    space, recording, _ = framework.record_and_explain_program(text, f"<{line}>")
    target = recording.value if framework is JAX else space[framework.target_name]
    # where its names are
    why = eval(
        compile("recording.explain(target, w)", "<ask>", "eval"), space | {"recording": recording, "target": target}
    )
    assert why.cause != "connected"
    assert why.patch == patch, str(why)


ALIKE = [  # what a program of ``tf`` makes its target of, and the patch: the same for a tape and for TensorFlow
    ("x = tf.constant([1.5, 2.5])", "y = x * 2.0", "tape.watch(x)\ny = x * 2.0"),
    ("x = tf.Variable([1, 2])", "y = tf.cast(x, tf.float32) ** 2", None),  # in words
    ("x = tf.Variable([1.5, 2.5], trainable=False)", "y = x * 2.0", "x = tf.Variable([1.5, 2.5], trainable=True)"),
    ("x = tf.Variable([1.5, 2.5])", "y = tf.stop_gradient(x * 2.0) * 3.0", "y = (x * 2.0) * 3.0"),
    ("x = tf.Variable([1.5, 2.5])", "y = tf.constant(np.exp(x.numpy()))  # by NumPy", "y = tf.exp(x)  # by NumPy"),
    ("x = tf.Variable([1.5, 2.5])", "y = np.dot(x.numpy(), [1.0, 2.0])", "y = tf.tensordot(x, [1.0, 2.0], 1)"),
    ("x = tf.Variable([0.0, 2.5])", "y = tf.sqrt(x)", "y = tf.sqrt(x + 1e-12)"),
    ("x = tf.Variable([-1.5, -2.5])", "y = tf.nn.relu(x)", None),  # another function: words only
]  # fmt: skip


@pytest.mark.parametrize(("made", "line", "patch"), ALIKE)
def test_a_tape_and_tensorflow_have_the_same_patch(made, line, patch):
    text = (
        f"import numpy as np\n{made}\nwith tf.GradientTape(persistent=True) as tape:\n    {line}\n    loss = "
        "tf.reduce_sum(y)\ngrad = tape.gradient(loss, x)\n"
    )
    space = {"tf": minitape}
    exec(compile_program(text, "<alike>"), space)
    assert eval("tape.explain(loss, x)", space).patch == patch
    space = {"tf": TENSORFLOW.module}
    with TENSORFLOW.bridge.record() as space["recording"]:
        exec(compile_program(text, "<alike>"), space)
    assert eval("recording.explain(loss, x)", space).patch == patch


OF_JAX = [  # programs whose gradient JAX refuses, or gives by another argument, and the patch; none: words only
    ("def loss(w):\n    return jnp.sum(w[w > 1.0] ** 2)\nargs = w,\ngrad = jax.jit(jax.grad(loss))(*args)",
     None),
    ("def loss(x, w):\n    return jnp.sum(x * w ** 2)\nargs = n, w\ngrad = jax.grad(loss)(*args)",
     None),
    ("def loss(w):\n    return jnp.sum(np.array([w[0], w[1] ** 2]))\nargs = w,\ngrad = jax.grad(loss)(*args)",
     "return jnp.sum(jnp.array([w[0], w[1] ** 2]))"),
    ("def loss(w):\n    return w ** 2\nw = 3\nargs = w,\ngrad = jax.grad(loss)(w)", None),
]  # fmt: skip


@pytest.mark.parametrize(("program", "patch"), OF_JAX)
def test_a_patch_of_jax_gives_a_gradient(program, patch):
    made = "import numpy as np\nw, n = jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 2.0, 4.0])\n"
    text = f"{made}{program}\n"
    space, recording, _ = JAX.record_and_explain_program(text, "<of jax>")
    why = recording.explain(recording.value, space["w"])
    assert why.patch == patch, str(why)
    if patch is not None:
        lines = text.splitlines()
        old = lines[why.patch_line - 1]
        lines[why.patch_line - 1] = old[: len(old) - len(old.lstrip())] + patch
        space = JAX.run_program("\n".join(lines), "<patched>")
        assert "error" not in space and is_usable(space["grad"])
