"""``record(every=n)`` around a training loop: the first step and each n-th are recorded, the others run as they are."""

import pytest

from .frameworks import FRAMEWORKS

TORCH, TENSORFLOW, _ = FRAMEWORKS


def run_torch_loop(torch, steps):
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


LOOPS = [
    pytest.param(TORCH, run_torch_loop, "detach", id="torch"),
    pytest.param(TENSORFLOW, tensorflow_loop, "stop_gradient", id="tensorflow"),
]


@pytest.mark.parametrize(("framework", "loop", "cause"), LOOPS)
def test_every_third_step(framework, loop, cause):
    module = framework.module
    _, plain = loop(module, 8)
    with framework.bridge.record(every=3) as recording:
        source, bits = loop(module, 8)
    assert bits == plain
    assert recording.steps == 8 and len(recording.latest.sweeps) == 1  # the seventh
    why = recording.explain(source)
    assert why.cause == cause and why.filename == __file__
    assert repr(recording).startswith("SampledSteps(8 steps, Recording(")


@pytest.mark.parametrize(("framework", "loop", "cause"), LOOPS)
def test_a_block_that_ends_where_a_step_begins_answers_from_the_one_before(framework, loop, cause):
    with framework.bridge.record(every=3) as recording:
        source, _ = loop(framework.module, 9)
    assert recording.steps == 9 and recording.explain(source).cause == cause


@pytest.mark.parametrize(("framework", "loop", "cause"), LOOPS)
def test_a_step_that_is_not_recorded_runs_as_it_is(framework, loop, cause):
    module = framework.module
    seen = []
    with framework.bridge.record(every=4) as recording:
        for _ in range(10):
            seen.append(recording.latest._recording)
            loop(module, 1)
    # the second step shows where one ends
    assert seen == [True, True, False, False, True, False, False, False, True, False]


def test_what_is_no_number_of_steps_and_what_was_not_recorded():
    bridge = TORCH.bridge
    with pytest.raises(ValueError, match="every=0 is not a number of steps"):
        bridge.record(every=0)
    with pytest.raises(ValueError, match="every= and first= both choose the steps"):
        bridge.record(every=3, first=2)
    with bridge.record(every=2) as recording:
        pass
    assert recording.steps == 0
    assert recording.explain(TORCH.module.ones(1, requires_grad=True)).cause == "no_backward"


def test_the_closure_of_an_optimizer_is_the_programs_own():
    torch = TORCH.module
    w, v = torch.tensor([1.0, 2.0], requires_grad=True), torch.ones(2, requires_grad=True)
    optimizer = torch.optim.LBFGS([w, v], max_iter=3)

    def closure():
        optimizer.zero_grad()
        loss = ((w.detach() * 2.0 + v - 1.0) ** 2).sum()
        loss.backward()
        return loss

    with TORCH.bridge.record() as recording:
        optimizer.step(closure)
    assert (
        len(recording.sweeps) == 3 and recording.explain(w).code == "loss = ((w.detach() * 2.0 + v - 1.0) ** 2).sum()"
    )
    assert recording.rows[recording.log.list_rows(v)[-1]].version == 2  # it changed after the first two


def test_a_gradient_may_be_asked_with_names_alone():
    torch = TORCH.module
    w = torch.ones(3, requires_grad=True)
    with TORCH.bridge.record(every=2) as recording:
        for _ in range(3):
            (gradient,) = torch.autograd.grad(outputs=(w * w).sum(), inputs=w)
    assert gradient.tolist() == [2.0] * 3 and recording.steps == 3


def test_a_step_of_two_nets_ends_with_the_gradient_of_the_second():
    """The values are computed before the first zero_grad(), and the second net's gradient comes after the first
    one's.
    """
    torch = TORCH.module
    torch.manual_seed(0)
    maker, judge = torch.nn.Linear(3, 2), torch.nn.Linear(2, 1)
    optimizers = [torch.optim.SGD(net.parameters(), 0.1) for net in (judge, maker)]
    with TORCH.bridge.record(every=4) as recording:
        for _ in range(10):
            made = maker(torch.ones(5, 3)).detach()
            optimizers[0].zero_grad()
            judge(made).mean().backward()
            optimizers[0].step()
            optimizers[1].zero_grad()
            (1.0 - judge(made)).mean().backward()
            optimizers[1].step()
    assert recording.steps == 10 and len(recording.latest.sweeps) == 2
    why = recording.explain(maker.weight)
    assert (why.cause, why.code) == ("detach", "made = maker(torch.ones(5, 3)).detach()")
