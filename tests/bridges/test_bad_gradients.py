"""``record(after_bad_gradient=True)`` around a training loop: a step is recorded only after a bad gradient, and a
warning says why.
"""

import warnings

import pytest

from .frameworks import FRAMEWORKS

TORCH, TENSORFLOW, JAX = FRAMEWORKS


def torch_loop(torch, steps, change, first=100, last=100):
    """``change`` is what becomes of the hidden values from the step ``first`` to the step ``last``."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    optimizer = torch.optim.Adam(net.parameters())
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        hidden = net[0](torch.ones(2, 3))
        if first <= step <= last:
            hidden = change(hidden)
        loss = (net[2](net[1](hidden)) ** 2).sum()
        loss.backward()
        optimizer.step()
    return [p.detach().numpy().tobytes() for p in net.parameters()]


def tensorflow_loop(tf, steps, change, first=100, last=100):
    w, b = tf.Variable([1.0, 2.0], name="w"), tf.Variable(0.5, name="b")
    for step in range(1, steps + 1):
        with tf.GradientTape() as tape:
            hidden = w * 3.0
            if first <= step <= last:
                hidden = change(hidden)
            loss = tf.reduce_sum(hidden * b)
        gradient, of_b = tape.gradient(loss, [w, b])
        if gradient is not None:
            w.assign_sub(0.01 * gradient)
        b.assign_sub(0.01 * of_b)
    return [v.numpy().tobytes() for v in (w, b)]


CHANGES = [
    pytest.param(TORCH, torch_loop, lambda torch: torch.detach, "detach", "net[0].weight no gradient.",
        id="torch-missing"),
    pytest.param(TORCH, torch_loop, lambda torch: lambda h: h * 0.0, "zero_factor",
        "net[0].weight a gradient of zeros only.", id="torch-zero"),
    pytest.param(TENSORFLOW, tensorflow_loop, lambda tf: tf.stop_gradient, "stop_gradient", "w no gradient.",
        id="tensorflow-missing"),
    pytest.param(TENSORFLOW, tensorflow_loop, lambda tf: lambda h: h * 0.0, "zero_factor",
        "w a gradient of zeros only.", id="tensorflow-zero"),
]  # fmt: skip


@pytest.mark.parametrize(("framework", "loop", "change", "cause", "said"), CHANGES)
def test_the_step_after_a_bad_gradient_says_why(framework, loop, change, cause, said):
    """The first, the eleventh step and so on are looked at."""
    module = framework.module
    plain = loop(module, 14, change(module), first=4)
    with (
        framework.bridge.record(after_bad_gradient=True) as recording,
        pytest.warns(RuntimeWarning, match="Step 11 gave ") as told,
    ):
        bits = loop(module, 14, change(module), first=4)
    assert bits == plain
    assert f"Step 11 gave {said}\n{cause}: " in str(told[0].message) and len(told) == 1
    assert {
        (found.step, found.why.cause, found.why.filename) for found in recording.found if found.why.name in said
    } == {(11, cause, __file__)}
    assert len(recording.latest.sweeps) == 1  # one step, and no other after it
    assert "in step 11" in repr(recording)


LOOPS = [pytest.param(TORCH, torch_loop, id="torch"), pytest.param(TENSORFLOW, tensorflow_loop, id="tensorflow")]


@pytest.mark.parametrize(("framework", "loop"), LOOPS)
def test_good_steps_are_not_recorded(framework, loop):
    with framework.bridge.record(after_bad_gradient=True) as recording, warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        loop(framework.module, 6, None)
    assert recording.latest is None and recording.found == []
    assert repr(recording) == "AfterBadGradient(6 steps, nothing bad)"
    with pytest.raises(
        RuntimeError,
        match=r"No gradient was missing, zero, NaN or infinite in 6 steps, each tenth of which was looked at: none "
        r"was recorded.",
    ):
        recording.explain(1)


@pytest.mark.parametrize(("framework", "loop"), LOOPS)
def test_what_was_bad_for_a_moment_is_no_finding_and_is_looked_at_again(framework, loop):
    module = framework.module
    with framework.bridge.record(after_bad_gradient=True) as recording, warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        loop(module, 6, lambda h: h * 0.0, first=1, last=1)
    assert recording.found == [] and recording.latest is not None
    with framework.bridge.record(after_bad_gradient=True) as recording:
        loop(module, 1, lambda h: h * 0.0, first=1)
    with pytest.raises(RuntimeError, match="Step 1 gave a gradient of zeros only, and no step came after it"):
        recording.explain(1)


def test_gradients_that_are_not_finite():
    torch = TORCH.module
    with (
        TORCH.bridge.record(after_bad_gradient=True) as recording,
        pytest.warns(RuntimeWarning, match="a gradient with NaN or infinity"),
    ):
        torch_loop(torch, 3, lambda h: torch.sqrt(h * 0.0), first=1)
    assert {found.why.kind for found in recording.found} == {"nonfinite"}


def test_after_the_block_pytorch_is_as_it_was():
    torch = TORCH.module
    from torch.optim import optimizer

    before = dict(optimizer._global_optimizer_pre_hooks), torch.optim.Optimizer.zero_grad
    with pytest.raises(KeyError), TORCH.bridge.record(after_bad_gradient=True):
        torch_loop(torch, 2, None)
        raise KeyError
    assert (dict(optimizer._global_optimizer_pre_hooks), torch.optim.Optimizer.zero_grad) == before


@pytest.mark.parametrize("framework", [TORCH, TENSORFLOW], ids=lambda framework: framework.name)
def test_one_way_to_choose_steps(framework):
    for options in ({"every": 3, "after_bad_gradient": True}, {"every": 3, "first": 2}):
        with pytest.raises(ValueError, match="every=, first= and after_bad_gradient= each choose the steps"):
            framework.bridge.record(**options)


def test_a_compiled_step_of_jax():
    jax = JAX.module
    jnp, bridge = jax.numpy, JAX.bridge

    def loss(params, x):
        return jnp.sum(jnp.sqrt(params["w"] * x) + params["b"])

    step = jax.jit(jax.grad(loss))
    recordings = []
    for w in (1.0, 0.5, 0.0):
        params = {"w": jnp.array([w, 1.0]), "b": jnp.array(1.0)}
        recordings.append(bridge.record_if_bad(step(params, 2.0), loss, params, 2.0))
    assert recordings[:2] == [None, None]
    assert recordings[2].explain(params["w"]).cause == "nan_backward"
    # small and large are good
    assert bridge.record_if_bad({"w": jnp.array([1e-30]), "b": jnp.array(1e30)}, loss, params, 2.0) is None
    assert bridge.record_if_bad(jnp.zeros(2), loss, params, 2.0) is not None
    with pytest.raises(TypeError, match="while a function is traced there are none"):
        jax.jit(lambda g: bridge.record_if_bad(g, loss, params, 2.0))(jnp.ones(2))
