"""``record(every=n)`` around a training loop: the first step and each n-th are recorded, the others run as they are."""

import re

import pytest

from .frameworks import FRAMEWORKS

TORCH, TENSORFLOW, _ = FRAMEWORKS


def torch_loop(torch, steps):
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (net(torch.ones(2, 3)).detach() * net.bias).sum()
        loss.backward()
        optimizer.step()
    return net.weight, [p.detach().numpy().tobytes() for p in net.parameters()]


def tensorflow_loop(tf, steps):
    w, b = tf.Variable([1.0, 2.0]), tf.Variable(0.5)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.stop_gradient(w * 3.0) * b)
        b.assign_sub(0.1 * tape.gradient(loss, [w, b])[1])
    return w, [v.numpy().tobytes() for v in (w, b)]


LOOPS = [pytest.param(TORCH, torch_loop, "detach", id="torch"), pytest.param(TENSORFLOW, tensorflow_loop, "stop_gradient", id="tensorflow")]


@pytest.mark.parametrize(("framework", "loop", "cause"), LOOPS)
def test_every_third_step(framework, loop, cause):
    module = framework.module
    _, plain = loop(module, 8)
    with framework.bridge.record(every=3) as recording:
        source, bits = loop(module, 8)
    assert bits == plain
    assert re.fullmatch(r"A recorded step takes as long as [\d.]+ others: every=3 adds [\d.]+% to the time.", recording.cost), recording.cost
    assert recording.steps == 8 and len(recording.latest.sweeps) == 1  # the seventh
    why = recording.explain(source)
    assert why.cause == cause and why.filename == __file__
    assert repr(recording).startswith("Every(3, 8 steps, Recording(")


@pytest.mark.parametrize(("framework", "loop", "cause"), LOOPS)
def test_a_step_that_is_not_recorded_runs_as_it_is(framework, loop, cause):
    module = framework.module
    seen = []
    with framework.bridge.record(every=4) as recording:
        for _ in range(6):
            loop(module, 1)
            seen.append(recording.latest._open)
    assert seen == [True, False, False, False, True, False]


def test_what_is_no_number_of_steps_and_what_was_not_recorded():
    bridge = TORCH.bridge
    with pytest.raises(ValueError, match="every=0 is no number of steps"):
        bridge.record(every=0)
    with bridge.record(every=2) as recording:
        pass
    with pytest.raises(RuntimeError, match=r"No step was recorded yet: a step begins with Optimizer.zero_grad\(\), Module.zero_grad\(\)"):
        recording.explain(1)
