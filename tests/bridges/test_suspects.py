"""Gradients that are there and wrong: the cause and the line, and what only looks so."""

import importlib
import importlib.util
import re
import sys
import types
import warnings

import pytest

from minitape.common.translation import LANGUAGE_VARIABLES
from minitape.explain.causes import CAUSES, runs

from .cases import (
    apply_fixes,
    compile_program,
    find_english_sentences,
    list_blamed_line_numbers,
    parse_programs_by_name,
    strip_fix_comments,
)

FRAMEWORKS = {  # with the line that each of its programs begins with
    "torch": "import torch, torch.nn as nn, torch.nn.functional as F; torch.manual_seed(0)",
    "tensorflow": "import tensorflow as tf; tf.random.set_seed(0)",
    "jax": "import jax, jax.numpy as jnp",
}
CASES = {
    name: parse_programs_by_name(importlib.import_module(f"tests.bridges.{name}_suspects").CASES) for name in FRAMEWORKS
}
EVERY = [pytest.param(fw, name, id=f"{fw}-{name}") for fw, cases in CASES.items() for name in cases]
WRONG = [param for param in EVERY if CASES[param.values[0]][param.values[1]][0] != "connected"]


def run_program_file(folder, text, names):
    """The names of a program after it has run from a file, whose lines an explanation can quote."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    space = dict(names)
    exec(compile(text, str(path), "exec"), space)
    return space


def record_program(bridge, text, program):
    """The recording of a program, or of the function and the arguments that a program of JAX has."""
    if bridge.__name__.endswith("jax"):
        exec(compile_program(text, program.__file__), vars(program))
        return bridge.record(program.loss, *program.args)
    with bridge.record() as recording:
        exec(compile_program(text, program.__file__), vars(program))
    return recording


def explain_program_and_translate(framework, text, name):
    """The page of all that a program trained, and its text in Chinese."""
    pytest.importorskip(framework)
    bridge = importlib.import_module(f"minitape.bridges.{framework}")
    program = types.ModuleType(f"program_{name}")
    program.__file__ = f"<{name}>"
    sys.modules[program.__name__] = program
    exec(FRAMEWORKS[framework], vars(program))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch warns of some of these itself
            recording = record_program(bridge, text, program)
        names = vars(program) | {"recording": recording}
        page = eval("recording.explain()", names)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(LANGUAGE_VARIABLES[0], "zh")
            chinese = str(eval("recording.explain()", names))
    finally:
        del sys.modules[program.__name__]
    assert recording.internal_error is None
    return page, chinese


@pytest.mark.parametrize(("framework", "name"), EVERY)
def test_cause_and_line(framework, name):
    cause, text = CASES[framework][name]
    page, chinese = explain_program_and_translate(framework, strip_fix_comments(text), name)
    found = page.problems
    assert re.search("有梯度：|没有梯度：|正常：", chinese) and find_english_sentences(chinese) == [], chinese
    if cause == "connected":
        assert not found and "Healthy: " in str(page), str(page)
        return
    first = found[0]
    assert (first.cause, first.line) == (cause, list_blamed_line_numbers(text)[0]), str(page)
    assert first.kind == "suspect" and first.connected and first.filename == f"<{name}>"
    assert first.message and first.fix and "{" not in first.message and first.numbers.norm is not None


@pytest.mark.parametrize(("framework", "name"), WRONG)
def test_what_fixes_it(framework, name):
    text = CASES[framework][name][1]
    assert apply_fixes(text) != strip_fix_comments(text), "a program has its fix"
    page, _ = explain_program_and_translate(framework, apply_fixes(text), name)
    assert not page.problems, str(page)


RUN_CAUSES = {cause.name for cause in runs.CAUSES}  # test_run_watch has their programs.


def test_every_cause_has_a_program():
    told = {cause for cases in CASES.values() for cause, _ in cases.values()}
    assert told == {name for name, cause in CAUSES.items() if cause.kind == "suspect"} - RUN_CAUSES | {"connected"}


def test_a_part_that_a_draw_alone_trains_has_no_gradient():
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    mean, scale = torch.nn.Linear(4, 1), torch.nn.Parameter(torch.zeros(1))  # both go into one broadcast
    x = torch.ones(8, 4)
    with record() as recording:
        distribution = torch.distributions.Normal(mean(x), scale.exp())
        draw = distribution.sample()
        loss = draw.pow(2).mean() - distribution.entropy().mean()
        loss.backward()
    why, other = recording.explain(mean).problems[0], recording.explain(scale)
    assert (why.cause, why.connected, why.code) == ("sampled", False, "draw = distribution.sample()")
    assert (other.cause, other.connected, other.line) == ("sampled", True, why.line)


def test_a_saturated_activation_is_not_blamed_for_the_tiny_gradient_of_another_branch():
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    torch.manual_seed(0)
    gate, side, x = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1), torch.randn(8, 4)
    with torch.no_grad():
        gate.bias.fill_(8.0)
    with record() as recording:
        loss = torch.tanh(gate(x)).pow(2).mean() + 1e-9 * side(x).pow(2).mean()
        loss.backward()
    assert side.weight.grad.abs().max() < 1e-6
    why, others = recording.explain(gate).problems[0], recording.explain(side)
    assert why.cause == "vanishing" and "torch.tanh(gate(x))" in why.code, str(why)
    assert not others.problems, str(others)


def test_what_ran_before_the_block_is_unknown():
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    whole = net(torch.ones(2, 3)).sum()
    loss = net[2](net[1](net[0](torch.ones(2, 3))).detach()).sum()
    with record() as recording:
        loss.backward()
    answers = recording.explain(net)
    assert [why.cause for why in answers.values()] == ["unknown", "unknown", "connected", "connected"]
    assert "the forward pass ran before the block" in answers["net.0.weight"].message
    with record() as recording:
        whole.backward()
    assert not recording.explain(net).problems


def test_why_asks_without_a_block():
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import why

    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    loss = net[1](net[0](torch.ones(1, 2)).detach()).sum()
    said = str(why(loss, net))
    assert said.startswith("No gradient for net.0.weight, bias (2 of 4).\nunknown: ")
    assert "Healthy: net.1.weight, bias (2 of 4)" in said
    assert list(why(lambda: net(torch.ones(1, 2)).sum())) == list(why(loss, net))
    assert why(loss, net[1].weight).problems == [] and net[1].weight.grad is None
    loss.backward()


def test_of_a_layer_that_came_after_the_optimizer_the_line_is_that_which_makes_the_optimizer():
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    model.head = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model.head = torch.nn.Linear(2, 3)
    with record() as recording:
        for _ in range(2):
            model(torch.ones(4, 2)).pow(2).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    why = recording.explain(model).problems[0]
    assert (why.cause, why.code) == ("not_optimized", "optimizer = torch.optim.SGD(model.parameters(), 0.1)")


@pytest.mark.parametrize(
    "replacement", ["model.head = torch.nn.Linear(2, 3)", "model.head.weight = torch.nn.Parameter(torch.ones(3, 2))"]
)
def test_a_part_replaced_while_recorded_is_missed_by_an_older_optimizer(replacement, tmp_path):
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    text = f"""
model = torch.nn.Sequential()
model.body, model.head = torch.nn.Linear(2, 2), torch.nn.Linear(2, 3)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
with record() as recording:
    {replacement}
    for _ in range(2):
        model(torch.ones(4, 2)).pow(2).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
"""
    space = run_program_file(tmp_path, text, {"torch": torch, "record": record})
    why = space["recording"].explain(space["model"]).problems[0]
    assert (why.cause, why.code) == ("not_optimized", replacement)
    assert "after the optimizer was created" in why.message


def test_a_variable_is_asked_about_the_pass_that_was_asked_for_it():
    tf = pytest.importorskip("tensorflow")
    from minitape.bridges.tensorflow import record

    made, judge = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with record() as recording:
        with tf.GradientTape() as one, tf.GradientTape() as other:
            judged = tf.reduce_sum(made * judge)
            wrong = tf.reduce_sum(judge * 2.0)
        assert one.gradient(wrong, [made]) == [None]
        other.gradient(judged, [judge])
    page = recording.explain({"made": made, "judge": judge})
    assert [(why.name, why.cause) for why in page.problems] == [("made", "independent")]


def test_what_a_variable_that_is_not_trained_was_assigned():
    tf = pytest.importorskip("tensorflow")
    from minitape.bridges.tensorflow import record

    raw, unit = tf.Variable([3.0, 4.0]), tf.Variable([0.0, 0.0], trainable=False)
    with record() as recording:
        with tf.GradientTape() as tape:
            unit.assign(raw / tf.norm(raw))
            loss = tf.reduce_sum(tf.transpose(unit))
        assert tape.gradient(loss, raw) is None
    assert (recording.explain(raw).cause, recording.explain(raw).code) == (
        "variable_assign",
        "unit.assign(raw / tf.norm(raw))",
    )


def test_a_page_has_integers_whose_gradient_was_asked_for_and_layers_that_were_never_called():
    tf = pytest.importorskip("tensorflow")
    from minitape.bridges.tensorflow import record

    class Model(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.used = tf.keras.layers.Dense(1)
            self.unused = tf.keras.layers.Dense(1)
            self.unused.build((None, 2))
            self.power = tf.Variable(2)
            self.count = tf.Variable(0)

        def call(self, x):
            return self.used(x) ** tf.cast(self.power, tf.float32)

    model = Model()
    with record() as recording:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(tf.ones((1, 2))))
        tape.gradient(loss, [*model.trainable_variables, model.power])
    found = {(why.cause, why.code) for why in recording.explain(model).problems}
    assert found == {
        ("integer_dtype", "self.power = tf.Variable(2)"),
        ("unused_layer", "self.unused = tf.keras.layers.Dense(1)"),
    }
    assert "model.count" not in recording.explain(model)


def test_a_page_says_why_the_last_backward_pass_was_refused():
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    cell, other, x = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2), torch.ones(1, 2)
    state = x
    with record() as recording:
        other(x).sum().backward()
        with pytest.raises(RuntimeError):
            for _ in range(2):
                state = torch.tanh(cell(state))
                state.sum().backward()
    assert {answer.cause for answer in recording.explain(cell).values()} == {"backward_twice"}
    assert not recording.explain(other).problems


def test_all_that_was_asked_about_is_frozen():
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    net = torch.nn.Sequential(torch.nn.Linear(2, 2).requires_grad_(False), torch.nn.Linear(2, 1))
    with record() as recording:
        net(torch.ones(1, 2)).sum().backward()
    assert not recording.explain(net).problems and "Frozen: " in str(recording.explain(net))
    page = recording.explain(net[0])
    assert [answer.cause for answer in page.problems] == ["requires_grad", "requires_grad"]
    assert str(page).startswith("All parameters are frozen: ")


def test_an_optimizer_that_holds_the_original_of_a_copy():
    torch = pytest.importorskip("torch")
    import copy

    from minitape.bridges.torch import record

    first, x = torch.nn.Linear(4, 1), torch.ones(8, 4)
    optimizer = torch.optim.SGD(first.parameters(), 0.1)
    net = copy.deepcopy(first)
    with record() as recording:
        for _ in range(3):
            net(x).pow(2).mean().backward()
            optimizer.step()
    page = recording.explain(net)
    assert {answer.cause for answer in page.problems} == {"not_optimized"}
    assert page.problems[0].code == "optimizer = torch.optim.SGD(first.parameters(), 0.1)"


def test_a_layer_that_was_called_is_not_said_to_be_unused(tmp_path):
    """Neither it nor one whose first values are those of another: LayerNorms begin alike."""
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    text = """
class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.spare = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    def forward(self, x): return x * self.used

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = Scale()
        self.norms = torch.nn.ModuleList([torch.nn.LayerNorm(2), torch.nn.LayerNorm(2)])
    def forward(self, x): return self.norms[0](self.scale(x))

net = Net()
optimizer = torch.optim.SGD(net.norms.parameters(), 0.1)
notes = torch.nn.Module()
notes.scale = 0.5
with record() as recording:
    loss = net(torch.tensor([1.0, 2.0]))[0]
    loss.backward()
    optimizer.step()
"""
    space = run_program_file(tmp_path, text, {"torch": torch, "record": record})
    net, notes = space["net"], space["notes"]
    with record() as recording:
        net.norms[0](torch.ones(0, 2)).sum().backward()
    assert "received an empty input in this run" in recording.explain(net.norms[0]).problems[0].message
    ask = lambda parameter: space["recording"].explain(space["loss"], parameter)  # noqa: E731
    assert (ask(net.scale.spare).cause, ask(net.scale.spare).line) == ("unused", None)
    spare = ask(net.norms[1].weight)
    assert spare.cause == "unused" and "layer norms.1 (program.py, line 12) was not called in this run" in spare.message
    # what has an attribute of the same name is another object, as names say where the question is asked
    held = space["recording"].explain(None, net.scale.used)
    assert notes is not net and held.cause == "not_optimized"
    assert text.splitlines()[held.line - 1].startswith("optimizer")


def test_a_keras_layer_that_was_called_is_not_said_to_be_unused():
    tf = pytest.importorskip("tensorflow")
    from minitape.bridges.tensorflow import record

    class Scale(tf.keras.layers.Layer):
        def build(self, shape):
            self.used, self.spare = (self.add_weight(shape=(2,), initializer="ones") for _ in range(2))

        def call(self, x):
            return x * self.used

    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.scale = Scale()

        def call(self, x):
            return self.scale(x)

    net = Net()
    net(tf.ones((1, 2)))
    with record() as recording:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(net(tf.ones((1, 2))))
        tape.gradient(loss, net.trainable_variables)
    assert recording.explain(loss, net.scale.spare).cause == "independent"


def test_a_compiled_step_that_leaves_a_layer_out_and_a_frozen_one():
    tf = pytest.importorskip("tensorflow")
    from minitape.bridges.tensorflow import record

    net = tf.keras.Sequential([tf.keras.Input((2,)), *(tf.keras.layers.Dense(2) for _ in range(3))])
    net.layers[0].trainable = False
    optimizer = tf.keras.optimizers.SGD(0.1)

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(net(x) ** 2)
        grads = tape.gradient(loss, net.trainable_variables)
        optimizer.apply_gradients(zip(grads[:2], net.layers[1].trainable_variables, strict=True))

    for run in (step, tf.function(step)):
        with record() as recording:
            run(tf.ones((3, 2)))
        causes = [answer.cause for answer in recording.explain(net).values()]
        assert sorted(causes) == ["connected"] * 2 + ["not_optimized"] * 2 + ["not_trainable"] * 2


def test_a_state_that_a_copy_was_given_back_hides_no_copy():
    torch = pytest.importorskip("torch")
    import copy

    from minitape.bridges.torch import record

    net, x = torch.nn.Linear(4, 1), torch.ones(8, 4)
    old = net.weight
    with record() as recording:
        with torch.no_grad():
            net(x)
        best = copy.deepcopy(net.state_dict())
        net = copy.deepcopy(net)
        net.load_state_dict(best)
        loss = net(x).pow(2).mean()
        loss.backward()
    why = recording.explain(loss, old)
    assert (why.cause, why.code) == ("rebound", "net = copy.deepcopy(net)")


def test_a_frozen_variable_is_frozen_for_a_target_too():
    tf = pytest.importorskip("tensorflow")
    from minitape.bridges.tensorflow import record

    body, head = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)
    head(body(tf.ones((1, 2))))
    body.trainable = False
    with record() as recording:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(head(body(tf.ones((1, 2)))))
        tape.gradient(loss, head.trainable_variables)
    assert recording.explain(loss, body.kernel).cause == "not_trainable"
    assert recording.explain(loss, head.kernel).cause == "connected"


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_what_is_trained_and_blocked_is_a_finding_beside_its_like(framework):
    pytest.importorskip(framework)
    bridge = importlib.import_module(f"minitape.bridges.{framework}")
    if framework == "jax":
        import jax

        def loss(towers):
            one, other = (jax.numpy.tanh(tower @ tower) for tower in towers)
            return ((one - jax.lax.stop_gradient(other)) ** 2).sum()

        recording = bridge.record(loss, list(jax.random.normal(jax.random.key(0), (2, 4, 4))))
    else:
        import copy

        import torch

        net = torch.nn.Linear(4, 4)
        slow, optimizer = copy.deepcopy(net), torch.optim.SGD(net.parameters(), 0.1)
        with bridge.record() as recording:
            (net(torch.ones(1, 4)).detach() - slow(torch.ones(1, 4)) + 1).pow(2).sum().backward()
            optimizer.step()
    assert recording.explain().problems[0].kind == "cut"


LAYERS_IN_A_LIST = """import torch, torch.nn as nn, torch.nn.functional as F
class Net(nn.Module):
    def __init__({this}):
        super().__init__()
        {this}.layers = [nn.Linear(4, 8), nn.Linear(8, 8)]
        {this}.head = nn.Linear(8, 3)
    def forward({this}, x):
        for layer in {this}.layers:
            x = torch.relu(layer(x))
        return torch.softmax({this}.head(x), dim=1)
torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))
for _ in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("this", ["self", "model"])
def test_each_suspect_of_a_parameter_is_named(this):
    pytest.importorskip("torch")
    from minitape.bridges.torch import record

    program = types.ModuleType("program")
    program.__file__ = f"<layers in a list of {this}>"
    with record() as recording:
        exec(compile_program(LAYERS_IN_A_LIST.format(this=this), program.__file__), vars(program))
    page = recording.explain({"listed": program.net.layers[0].weight, "head": program.net.head.weight})
    said = {name: [(one.cause, one.line) for one in (why, *why.others)] for name, why in page.items()}
    twice = ("activation_twice", 17)
    assert said == {"listed": [twice, ("not_optimized", 5)], "head": [twice]}
    listed = page["listed"]
    assert "nn.ModuleList" in str(listed) and "Remove the softmax" in str(listed)
