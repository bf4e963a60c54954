"""``minitape explain train.py``, ``record(first=n)`` and the fixture of pytest."""

import contextlib
import json
import multiprocessing
import os
import runpy
import subprocess
import sys
from types import SimpleNamespace

import pytest

from minitape.bridges.program import find_imported_frameworks

BROKEN = """
import sys
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(int(sys.argv[1])):
    loss = (net(torch.randn(8, 3)) - torch.randn(8)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("done", *sys.argv[2:])
"""
HEALTHY = BROKEN.replace("torch.randn(8))", "torch.randn(8, 1))")


BROKEN_JAX = """
import jax
import jax.numpy as jnp

def loss(params, x, y):
    return jnp.mean((x @ params["w"] - y) ** 2)

@jax.jit
def step(params, x, y):
    gradient = jax.grad(loss)(params, x, y)
    return {"w": params["w"] - 0.1 * gradient["w"]}

params = {"w": jnp.ones((3, 1))}
x, y = jax.random.normal(jax.random.key(0), (8, 3)), jnp.arange(8.0)
for _ in range(4):
    params = step(params, x, y)
print("done", step._cache_size())
"""
STATE_JAX = """
import functools
import jax
import jax.numpy as jnp

class Own:  # what a library differentiates for a function of the program's, used up by a call
    def __init__(self, function):
        self.function, self.waiting = function, [2.0]
        functools.update_wrapper(self, function)

    def __call__(self, *args):
        return self.waiting.pop() * self.function(*args)

class Net:
    @functools.partial(jax.jit, static_argnums=0)
    def step(self, state):
        print("traced")
        def loss(w):
            state["error"] = jnp.mean(jnp.exp(w) @ w)
            return state["error"]
        w = state["w"] - 0.1 * jax.grad(loss)(state["w"])
        return {"w": w, "n": state["n"] + 1}

def loss(w):
    return jnp.mean(jnp.exp(w) @ w)

state = {"w": jnp.linspace(0.1, 1.0, 12), "n": 0}
for _ in range(7):
    state = Net().step(state)
    print(state["n"], *state["w"], jax.grad(Own(loss))(state["w"]))
"""

KEPT_JAX = """
import jax
import jax.numpy as jnp

class Cell:
    def __init__(self):
        self.hidden, self.log = jnp.zeros(3), []

class Net:
    def __init__(self):
        self.cell = Cell()

    def loss(self, w, x):
        h = self.cell.hidden
        h = jnp.tanh(w * x + h)
        self.cell.hidden = h
        self.cell.log.append(x)
        return jnp.sum(h)

net = Net()
for x in (1.0, 2.0):
    try:
        print(jax.grad(net.loss)(jnp.ones(3), x), type(net.cell.hidden).__name__, net.cell.log)
    except jax.errors.UnexpectedTracerError:
        print("UnexpectedTracerError at", x, net.cell.log)
"""
GATE_JAX = """
import jax
import jax.numpy as jnp

def loss(params, x):
    return jnp.sum((x + params["gate"] * jnp.tanh(x @ params["w"]) - 2.0 * x) ** 2)

params = {"gate": jnp.zeros(()), "w": jnp.full((3, 3), 0.5)}
for step in range(3):
    gradient = jax.grad(loss)(params, jnp.linspace(-1.0, 1.0, 12).reshape(4, 3))
    params = jax.tree.map(lambda p, g: p - 0.01 * g, params, gradient)
"""


def run_minitape_explain(tmp_path, text, *options, arguments=("7", "--verbose"), framework="torch", begun=False):
    """What `minitape explain` says of a program. PyTorch takes seconds to import: the process comes from one that has
    done that, but where it is to be `begun` as a user begins it.
    """
    pytest.importorskip(framework)
    program = tmp_path / "train.py"
    program.write_text(text)
    command = ["-m", "minitape", "explain", *options, str(program), *arguments]
    return run_python_command(tmp_path, command, warm=framework == "torch" and not begun)


def run_python_command(folder, command, warm=True):
    """What `python COMMAND` prints in a folder, and its exit status."""
    if not (warm and hasattr(os, "fork")):
        command = [sys.executable, *command]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["minitape.cli", "minitape.bridges.torch", "minitape.bridges.program"])
    files = [folder / "printed.txt", folder / "told.txt"]
    process = context.Process(target=_run, args=(folder, command[1], command[2:], files))
    process.start()
    process.join()
    return SimpleNamespace(returncode=process.exitcode, stdout=files[0].read_text(), stderr=files[1].read_text())


def _run(folder, module, arguments, files):
    for number, file in enumerate(files, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.chdir(folder)
    sys.path[0] = str(folder)
    sys.argv = [module, *arguments]
    with contextlib.ExitStack() as ends:
        ends.callback(sys.stdout.flush)
        runpy.run_module(module, run_name="__main__", alter_sys=True)


def test_a_finding_is_told_and_is_the_exit_status(tmp_path):
    done = run_minitape_explain(tmp_path, BROKEN, begun=True)
    assert done.returncode == 1
    assert done.stdout == "done --verbose\n"
    assert "Gradient found for net.weight, bias (2 of 2)" in done.stderr
    assert "broadcast: sub (train.py, line 9) combines the shapes (8, 1) and (8,)" in done.stderr


@pytest.mark.parametrize("module", ["train", "package.train", "package"])
def test_a_module_runs_as_python_runs_it(tmp_path, module):
    pytest.importorskip("torch")
    (tmp_path / "package").mkdir()
    (tmp_path / "train.py").write_text(HEALTHY + "print(__name__, __package__)\n")
    (tmp_path / "package" / "train.py").write_text("from . import data\n" + HEALTHY + "print(__name__, __package__)\n")
    (tmp_path / "package" / "__main__.py").write_text("from . import train\n")
    (tmp_path / "package" / "data.py").touch()
    command = ["-m", module, "2"]
    ends = [
        run_python_command(tmp_path, command, warm=False),
        run_python_command(tmp_path, ["-m", "minitape", "explain", *command]),
    ]
    assert [end.returncode for end in ends] == [0, 0], ends
    assert ends[0].stdout == ends[1].stdout and "Healthy: " in ends[1].stderr


def test_an_option_behind_the_program_is_the_programs_and_that_is_said(tmp_path):
    done = run_minitape_explain(tmp_path, HEALTHY, arguments=("2", "--steps=9"))
    assert (done.returncode, done.stdout) == (0, "done --steps=9\n")
    assert done.stderr.startswith(
        f"--steps comes after {tmp_path / 'train.py'}, so it belongs to the program. Options for"
    )


def test_a_healthy_program_is_one_line(tmp_path):
    done = run_minitape_explain(tmp_path, HEALTHY, "--every", "3")
    assert (done.returncode, done.stdout) == (0, "done --verbose\n")
    assert done.stderr.strip().startswith(
        "Healthy: 7 backward passes and 7 steps; 2 of 2 parameters got a finite gradient"
    )
    assert len(done.stderr.strip().splitlines()) == 1


INNER_GRADIENTS = """
import jax
import jax.numpy as jnp

def measure(weight, x):
    return jnp.sum((x * weight - 1.0) ** 2)

@jax.jit
def climb(weight, x):
    for _ in range(5):
        x = x + 0.01 * jnp.sign(jax.grad(lambda moved: measure(weight, moved))(x))
    return x

@jax.jit
def descend(weight, x):
    return weight - 0.01 * jax.grad(measure)(weight, x)

weight, x = jnp.float32(0.3), jnp.ones(3)
for step in range(6):
    weight = descend(weight, climb(weight, x))
"""


def test_a_report_says_that_it_lacks_the_gradients_of_later_steps(tmp_path):
    done = run_minitape_explain(tmp_path, INNER_GRADIENTS, arguments=(), framework="jax")
    assert done.returncode == 0 and "Healthy: moved (1 of 1)" in done.stderr and "weight" not in done.stderr
    assert "Gradients that only these steps compute are not in the report. Use --steps N" in done.stderr
    done = run_minitape_explain(tmp_path, INNER_GRADIENTS, "--steps", "8", arguments=(), framework="jax")
    assert "Healthy: moved, weight (2 of 2)" in done.stderr


def test_a_program_in_a_function_is_asked_about_when_it_has_ended(tmp_path):
    lines = ("    " + line for line in BROKEN.splitlines())
    file = tmp_path / "answers.json"
    text = "def main():\n" + "\n".join(lines) + "\nmain()\n"
    done = run_minitape_explain(tmp_path, text, "--json", str(file), arguments=("2",))
    assert (done.returncode, done.stdout) == (1, "done\n")
    answers = json.loads(file.read_text())["answers"]
    assert [(answer["name"], answer["cause"], answer["line"]) for answer in answers] == [
        ("Linear.weight", "broadcast", 10),
        ("Linear.bias", "broadcast", 10),
    ]


def test_a_program_of_jax_records_its_first_gradients_and_compiles_then(tmp_path):
    done = run_minitape_explain(tmp_path, BROKEN_JAX, "--steps", "2", arguments=(), framework="jax")
    assert (done.returncode, done.stdout) == (1, "done 1\n")
    assert "Gradient found for params['w'] (1 of 1)" in done.stderr
    assert "broadcast: sub (train.py, line 6) combines the shapes (8, 1) and (8,)" in done.stderr
    done = run_minitape_explain(
        tmp_path, BROKEN_JAX.replace("arange(8.0)", "ones((8, 1))"), arguments=(), framework="jax"
    )
    assert done.returncode == 0 and done.stderr.strip().startswith("Healthy: params['w'] (1 of 1): norm ")
    assert done.stderr.endswith("The report is based on the gradients of 4 steps.\n")
    later = BROKEN_JAX.replace("arange(8.0)", "ones((8, 1))").replace("0.1 *", "1e30 *")
    done = run_minitape_explain(tmp_path, later, "--every", "2", arguments=(), framework="jax")
    assert done.returncode == 1 and "norm nan" in done.stderr


@pytest.mark.parametrize("options", [("--steps", "3"), ("--every", "2")])
def test_a_program_of_jax_has_the_numbers_that_it_has_alone(tmp_path, options):
    done = run_minitape_explain(tmp_path, STATE_JAX, *options, arguments=(), framework="jax")
    plain = subprocess.run([sys.executable, tmp_path / "train.py"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, plain.stdout) and "Healthy: w" in done.stderr


def test_what_a_function_of_jax_keeps_is_as_it_is_alone_and_is_found_where_it_was_kept(tmp_path):
    done = run_minitape_explain(tmp_path, KEPT_JAX, arguments=(), framework="jax")
    plain = subprocess.run([sys.executable, tmp_path / "train.py"], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (1, plain.stdout) and "UnexpectedTracerError at 2.0" in plain.stdout
    assert "leaked_tracer: self.cell.hidden (train.py, line 16) stores a value" in done.stderr


STEPS_JAX = """
import jax
import jax.numpy as jnp

def loss(x, w):
    return jnp.sum((x * w - 1.0) ** 2)

w = jnp.ones(3)
for step in range(5):
    gradient = jax.grad(loss, argnums=1)(jnp.arange(3.0), w)
    w = w - 0.0 * gradient
"""


@pytest.mark.parametrize(
    ("old", "new", "cause", "line"),
    [
        ("", "", "not_applied", 11),
        ("argnums=1", "argnums=0", "argnums", 10),
        ("- 0.0 *", "- 0.1 *", "", 0),
        ("w = w - 0.0 * gradient", "n = w - 0.0 * gradient", "", 0),  # several gradients of the same array
        ("x * w - 1.0", "float(w[0])", "left_jax", 6),
    ],
)
def test_what_a_program_of_jax_makes_of_its_gradients(tmp_path, old, new, cause, line):
    done = run_minitape_explain(tmp_path, STEPS_JAX.replace(old, new), arguments=(), framework="jax")
    assert f"{cause}: " in done.stderr if cause else "Healthy" in done.stderr, done.stderr
    assert f"train.py, line {line}" in done.stderr or not cause
    said, _, page = done.stderr.partition("gradient for")  # what is raised comes first, then why
    assert ("Traceback" in said) == (cause == "left_jax") and "Traceback" not in page


NORMALIZATION_JAX = """
import flax.linen as nn
import jax
import jax.numpy as jnp

norm, x = nn.BatchNorm(use_running_average=False), jnp.arange(12.0).reshape(4, 3) ** 2
values, apply = norm.init(jax.random.key(0), x), norm.apply

@jax.jit
def step(params, stats):
    def loss(params):
        y, new = apply({"params": params, "batch_stats": stats}, x, mutable=["batch_stats"])
        return jnp.mean((y - x) ** 2), new["batch_stats"]
    gradients, new_stats = jax.grad(loss, has_aux=True)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), stats

params, stats = values["params"], values["batch_stats"]
for _ in range(8):
    params, stats = step(params, stats)
"""


def test_dropped_statistics_are_found_if_the_program_imports_flax_and_stores_apply_before_its_steps(tmp_path):
    pytest.importorskip("flax")
    done = run_minitape_explain(tmp_path, NORMALIZATION_JAX, arguments=(), framework="jax")
    assert (done.returncode, "apply() returned (train.py, line 12) are not kept" in done.stderr) == (1, True), done
    kept = NORMALIZATION_JAX.replace("gradients), stats", "gradients), new_stats")
    done = run_minitape_explain(tmp_path, kept, arguments=(), framework="jax")
    assert (done.returncode, "Healthy: params['bias']" in done.stderr) == (0, True), done


def test_a_gate_that_begins_at_zero_and_is_trained_is_no_finding(tmp_path):
    done = run_minitape_explain(tmp_path, GATE_JAX, arguments=(), framework="jax")
    assert done.returncode == 0 and done.stderr.strip().startswith("Healthy: params['gate'], params['w'] (2 of 2)")
    alone = "{'gate': 0.0} | jax.grad(lambda p, x: loss(params | p, x))({'w': params['w']},"
    fixed = GATE_JAX.replace("jax.grad(loss)(params,", alone)
    done = run_minitape_explain(tmp_path, fixed, arguments=(), framework="jax")
    assert done.returncode == 1 and "zero_factor: mul (train.py, line 6)" in done.stderr


def test_the_error_of_a_program_is_its_own(tmp_path):
    done = run_minitape_explain(tmp_path, HEALTHY + "raise ValueError('mine')\n")
    assert done.returncode == 1
    assert "ValueError: mine" in done.stderr and "minitape" not in done.stderr.partition("Traceback")[2]


def test_a_mistake_of_the_page_ends_no_program(tmp_path):
    text = (
        "from minitape.bridges.torch import TorchRecording\nTorchRecording.explain = lambda self, *asked: 1 / 0\n"
        + HEALTHY
    )
    done = run_minitape_explain(tmp_path, text)
    assert (done.returncode, done.stdout) == (0, "done --verbose\n")
    assert "The gradients could not be explained: ZeroDivisionError: division by zero" in done.stderr


def test_a_program_that_is_no_python_is_told_so_without_frames_of_minitape(tmp_path):
    done = run_minitape_explain(tmp_path, "import torch\nx = = 1\n", framework="click")
    assert done.returncode == 1 and "line 2" in done.stderr and done.stderr.rstrip().endswith("invalid syntax")
    assert "Traceback" not in done.stderr


def test_all_frameworks_that_a_program_imports_are_found(tmp_path, monkeypatch):
    monkeypatch.delenv("KERAS_BACKEND", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "no_settings"))

    def find_frameworks(text):
        (tmp_path / "train.py").write_text("import json\nimport model\n")
        (tmp_path / "model.py").write_text(text)
        return find_imported_frameworks(tmp_path / "train.py")

    assert find_frameworks("from torch import nn\n") == ["torch"]
    assert find_frameworks("import jax\nimport torch.utils.data\n") == ["torch", "jax"]
    assert find_frameworks("import tensorflow_datasets\n") == []
    assert find_frameworks("import keras\n") == ["tensorflow"]
    assert find_frameworks("import os\nos.environ['KERAS_BACKEND'] = 'jax'\nimport keras\n") == ["jax"]
    assert find_frameworks("import os\nos.environ.setdefault('KERAS_BACKEND', 'torch')\nimport keras\n") == ["torch"]
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    assert find_frameworks("import keras\n") == ["jax"]


DATA_FROM_TORCH = """
import jax
import jax.numpy as jnp
import torch

data = torch.utils.data.TensorDataset(torch.ones(8, 3), torch.ones(8))

def loss(w, x, y):
    return jnp.mean((jax.lax.stop_gradient(x @ w) - y) ** 2)

w = jnp.ones(3)
for x, y in torch.utils.data.DataLoader(data, batch_size=4):
    w = w - 0.1 * jax.grad(loss)(w, jnp.asarray(x.numpy()), jnp.asarray(y.numpy()))
"""


def test_the_framework_that_took_gradients_is_reported_beside_one_that_loads_data(tmp_path):
    pytest.importorskip("torch")
    done = run_minitape_explain(tmp_path, DATA_FROM_TORCH, arguments=(), framework="jax")
    assert done.returncode == 1
    assert "stop_gradient (train.py, line 9)" in done.stderr and "no parameters" not in done.stderr


def test_the_first_steps_are_one_recording():
    torch = pytest.importorskip("torch")
    from minitape.bridges.torch import record

    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    with record(first=3) as recording:
        for _ in range(9):
            loss = net(torch.ones(2, 3)).sum()
            loss.backward()
            optimizer.step()
    assert len(recording.latest.sweeps) == 3 and repr(recording).startswith("SampledSteps(9 steps, ")
    assert recording.explain(net).problems[0].cause == "accumulated"
    with pytest.raises(ValueError, match="first=0"):
        record(first=0)


def test_a_test_asserts_that_a_model_trains(assert_trains):
    torch = pytest.importorskip("torch")
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def step(output):
        optimizer.zero_grad()
        output(net(torch.ones(2, 3))).pow(2).sum().backward()
        optimizer.step()

    assert_trains(net, lambda: step(lambda y: y))
    net[2].requires_grad_(False)
    assert_trains(net, lambda: step(lambda y: y))
    net[2].requires_grad_(True)
    with pytest.raises(pytest.fail.Exception, match="Sequential does not train") as failed:
        assert_trains(net, lambda: step(lambda y: y.detach() * net[2].bias))
    assert "No gradient for net.0.weight, bias, net.2.weight (3 of 4)" in str(failed.value)
    with pytest.raises(TypeError, match="but received int"):
        assert_trains(3, lambda: None)
