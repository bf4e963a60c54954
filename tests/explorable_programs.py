"""Run `<mini-tape>` programs in minitape itself, as a reference for the evaluator in the browser."""

import ast
import builtins
import json
import random
import re
from typing import Any

import minitape as tf
from minitape.picture.snapshots import build_snapshot
from minitape.picture.source import get_picture_source

# Each item is a program, and the values of names to which the program does not assign.
EXAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("y = x * sin(x)", {"x": 3.0}),
    ("w = 0.8\nb = -0.3\np = sigmoid(w * 1.5 + b)\nloss = -log(p)", {}),
    (
        "x = [0.3, -0.7, 1.1, 2.2]\ne = exp(x - max(x))\np = e / sum(e)\nloss = -sum([0, 0, 1, 0] * log(p))  # entropy",
        {},
    ),
    ("y = x ** 3\ndy = grad(y, x)\nd2y = grad(dy, x)", {"x": 2.0}),
    ("y = mean(x * x * w) * 2.0\ndy = grad(y, x)\nz = dy * x", {"x": 3.0, "w": [1.0, 2.0]}),
    ("y = max(v * v)\nd = grad(y, v)\nz = sum(d * d)", {"v": [1.0, -2.0, 0.5]}),
    ("y = sum(where(v > 0.0, v * v, sin(v)))\nd = grad(y, v)\nz = sum(d * v)", {"v": [1.0, -2.0, 0.5]}),
    (
        "h = x @ w\ny = sum(h * h)\nd = grad(y, w)\nz = sum(d * d)",
        {"x": [[1.0, 2.0], [0.5, -1.0], [0.25, 3.0]], "w": [[0.5, 1.5], [-0.25, 0.75]]},
    ),
    ("y = floor(x) * x + stop_gradient(x) * x", {"x": 2.5}),
    ("h = 1.0\nfor k in range(3):\n    h = tanh(h * w + 0.5)\ny = h * h", {"w": 0.7}),
    ("def f(a, b=2.0):\n    return a * b + sin(a)\ny = f(x) + f(2.0, x)", {"x": 1.25}),
    ("y = sum(stack([x, x * x, 2.0 * x]) * [1.0, 2.0, 3.0])", {"x": 1.5}),
    ("a = [[1.0, 2.0], [3.0, 4.0]]\ny = sum(a, axis=0)[1] * mean(a, axis=1, keepdims=True)[0, 0] + sum(a[:, 0])", {}),
    ("y = sum(softmax(v) * [1.0, 0.0, 2.0]) + log_softmax(v)[0]", {"v": [1.0, -2.0, 0.5]}),
    (
        "y = min(m, axis=0)\nz = sum(y * y) + sum(max(m, axis=1))\ndz = grad(z, m)\nq = sum(dz * m)",
        {"m": [[1.0, -2.0], [1.0, 3.0]]},
    ),
    ("y = x * 2 ** 3 - (5 // 2) * x + 7 % 3", {"x": -1.3}),
    (
        "import minitape as tf\n\nx = tf.Variable(3.0)\nwith tf.GradientTape() as t2:\n"
        "    with tf.GradientTape() as t1:\n        y = x * x * x\n    dy = t1.gradient(y, x)\n"
        "d2y = t2.gradient(dy, x)\n",
        {},
    ),
    (
        'w = tf.Variable([1.0, 2.0], name="weights")\nc = tf.constant(2.0)\n'
        "with tf.GradientTape(persistent=True) as tape:\n    tape.watch(c)\n    a = tf.reduce_sum(w * c)\n"
        "    b = a * a\n"
        "g = tape.gradient(a, w)\nh = tape.gradient(b, [w, c])\n",
        {},
    ),
    (
        "w = tf.Variable(1.0)\nfor step in range(3):\n    with tf.GradientTape() as tape:\n"
        "        loss = (w * 3.0 - 2.0) ** 2\n    g = tape.gradient(loss, w)\n    w.assign_sub(0.1 * g)\n",
        {},
    ),
    ("c = tf.constant(2.0)\nwith tf.GradientTape() as tape:\n    y = c * c\ng = tape.gradient(y, c)\n", {}),
]
SHORT_NAMES: dict[str, Any] = {
    **{
        name: getattr(tf, name)
        for name in "sin cos tan tanh exp sqrt square abs sign floor negative sigmoid identity stop_gradient maximum "
        "minimum where matmul stack concat reshape transpose atan sinh cosh".split()
    },
    **{name: getattr(tf.math, name) for name in "log log1p softplus softmax log_softmax".split()},
    "relu": tf.nn.relu,
    "sum": tf.reduce_sum,
    "mean": tf.reduce_mean,
    "max": lambda x, *y, **axes: tf.maximum(x, *y) if y else tf.reduce_max(x, **axes),
    "min": lambda x, *y, **axes: tf.minimum(x, *y) if y else tf.reduce_min(x, **axes),
}


class _Names(dict[str, Any]):
    """The names of a short program. A name without a value becomes a variable when it is read."""

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(SHORT_NAMES, tf=tf)
        self.given, self.variables = given, dict[str, Any]()

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        self[name] = self.variables[name] = variable = tf.Variable(self.given.get(name, 1.0))
        return variable


def _is_written_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        return _is_written_number(node.operand)
    if isinstance(node, ast.List):
        return all(map(_is_written_number, node.elts))
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _run_short(program: str, given: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Run a program without a tape, and return its names and the tape."""
    names, target = _Names(given), ""
    with tf.GradientTape(persistent=re.search(r"\bgrad\b", program) is not None) as tape:
        names["grad"] = tape.gradient
        for statement in ast.parse(program).body:
            assigned = statement.targets[0] if isinstance(statement, ast.Assign) else None
            if isinstance(assigned, ast.Name) and isinstance(statement, ast.Assign):
                has_point = any(
                    isinstance(node, ast.Constant) and type(node.value) is float for node in ast.walk(statement)
                )
                if _is_written_number(statement.value) and has_point:
                    variable = tf.Variable(ast.literal_eval(statement.value))
                    names[assigned.id] = names.variables[assigned.id] = variable
                    continue
                target = assigned.id
            exec(compile(ast.Module([statement], []), "program.py", "exec"), names)
    tape.gradient(names[target], [*names.variables.values()])
    return {name: value for name, value in names.items() if name not in (*SHORT_NAMES, "tf", "grad")}, tape


def run_in_minitape(program: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return minitape's snapshot of a program.

    Args:
        program: The program as `<mini-tape>` contains it.
        given: The values of names to which the program does not assign.
    """
    if "GradientTape" in program:
        names: dict[str, Any] = {"tf": tf}
        exec(compile(program, "program.py", "exec"), names)
        tape = next(value for value in names.values() if isinstance(value, tf.GradientTape) and value.last_request)
    else:
        names, tape = _run_short(program, given)
    recording = get_picture_source(tape, "a picture takes")
    reader = recording.build_reader([names])
    reader.recompute_into_kept_arrays()
    snapshot = build_snapshot(recording, None, None, reader, reader.read_new_rows())
    return json.loads(json.dumps(snapshot))


ROW_FIELDS = "op inputs kind dtype shape value formula rule said cut tapes status version".split()


def list_differences(browser: dict[str, Any], reference: dict[str, Any]) -> list[str]:
    """List the places at which the browser's snapshot differs from minitape's snapshot in any bit.

    Args:
        browser: The snapshot from the evaluator in the browser, or ``{"error": reason}`` if it refused the program.
        reference: minitape's snapshot of the same program.
    """
    if "error" in browser:
        return [browser["error"]]
    found = []
    if len(browser["rows"]) != len(reference["rows"]):
        return [f"{len(browser['rows'])} rows, not {len(reference['rows'])}"]
    for row, expected in zip(browser["rows"], reference["rows"], strict=True):
        found += [
            f"row {row['row']}: {field} is {row.get(field)}, not {expected.get(field)}"
            for field in ROW_FIELDS
            if (row.get(field) or None) != (expected.get(field) or None)
        ]
    for field in ("target", "sources", "gradients"):
        if browser["sweep"][field] != reference["sweep"][field]:
            found.append(f"{field}: {browser['sweep'][field]}, not {reference['sweep'][field]}")
    names = [[row["name"] for row in snapshot["rows"]] for snapshot in (browser, reference)]
    found += [
        f"row {row} is called {name}, not {expected}"
        for row, (name, expected) in enumerate(zip(*names, strict=True))
        # minitape also shows names from inside the functions of these programs, such as x.
        if name not in (None, expected)
        # minitape writes ∂y/∂(x × x), and the browser writes ∂y/∂#1.
        and not f"{name} {expected}".startswith("∂")
        # minitape reads the name of a start value in the program's file, and these programs have none.
        and not (name.endswith("₀") and expected is None)
    ]
    steps = browser["sweep"]["steps"], reference["sweep"]["steps"]
    if [step["row"] for step in steps[0]] != [step["row"] for step in steps[1]]:
        return [*found, f"the steps are {[step['row'] for step in steps[0]]}"]
    found += [
        f"step at row {step['row']}: {step}, not {expected}"
        for step, expected in zip(*steps, strict=True)
        if step != expected
    ]
    return found


UNARY = "sin cos tanh sigmoid exp softplus relu abs square atan negative sign identity".split()


class ProgramWriter:
    """A writer of random programs that compute with numbers, vectors and matrices.

    Attributes:
        lines: The lines of the program so far.
        shapes: The shape of each name.
    """

    def __init__(self, generator: random.Random) -> None:
        """Begin a program with three variables."""
        self.random = generator
        self.lines: list[str] = []
        self.shapes: dict[str, tuple[int, ...]] = {}
        shapes = generator.choice([[()], [(), (3,)], [(), (3,), (2, 3)]])
        for name in "abc":
            self.shapes[name] = generator.choice(shapes)
            self.lines.append(f"{name} = {self._write_value(self.shapes[name])}")

    def _write_number(self) -> str:
        return repr(round(self.random.uniform(-2, 2), 2) or 0.5)

    def _write_value(self, shape: tuple[int, ...]) -> str:
        if not shape:
            return self._write_number()
        return f"[{', '.join(self._write_value(shape[1:]) for _ in range(shape[0]))}]"

    def add_operation(self) -> None:
        """Add a line that computes something from earlier names."""
        recent = [*self.shapes][-6:]
        x, y = self.random.choice(recent), self.random.choice(recent)
        text, shape = self.random.choice([self._write_elementwise, self._write_pair, self._write_array])(x, y)
        name = f"t{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.shapes[name] = shape

    def _write_elementwise(self, x: str, y: str) -> tuple[str, tuple[int, ...]]:
        number = self._write_number()
        sign = self.random.choice("+-*/")
        texts = [f"{self.random.choice(UNARY)}({x})", f"{x} {sign} {number}", f"{number} - {x}", f"{x} ** 2"]
        return self.random.choice([*texts, f"{x} % 0.7", f"log({x} * {x} + 0.5)"]), self.shapes[x]

    def _write_pair(self, x: str, y: str) -> tuple[str, tuple[int, ...]]:
        shape = self.shapes[x]
        if self.shapes[y] != shape[len(shape) - len(self.shapes[y]) :]:
            y = x  # Other shapes may not broadcast.
        sign = self.random.choice("+-*")
        texts = [f"{x} {sign} {y}", f"{x} / ({y} * {y} + 1.5)", f"max({x}, {y})", f"where({x} > {y}, {x}, {y})"]
        return self.random.choice([*texts, f"stop_gradient({y}) * {x}"]), shape

    def _write_array(self, x: str, y: str) -> tuple[str, tuple[int, ...]]:
        shape = self.shapes[x]
        if not shape:
            return f"sum(stack([{x}, {x} * 2.0]))", ()
        axis = self.random.randrange(len(shape))
        reduced = tuple(side for number, side in enumerate(shape) if number != axis)
        reduction = self.random.choice(["sum", "mean", "max", "min"])
        choices = [(f"{reduction}({x}, axis={axis})", reduced), (f"softmax({x})", shape), (f"{x}[-1]", shape[1:])]
        if len(shape) == 2:
            choices += [(f"{x}[:, 1]", shape[:1]), (f"{x} @ transpose({x})", (shape[0], shape[0]))]
        return self.random.choice(choices)

    def finish(self) -> str:
        """Return the program with a target. One program in four computes the gradient of a gradient."""
        last, source = [*self.shapes][-1], self.random.choice("abc")
        if self.random.random() < 0.25 and "stack" not in "\n".join(self.lines):
            self.lines += [
                f"u = sum({last} * {last}) * sum({source})",
                f"d = grad(u, {source})",
                f"y = sum(d * d + {source})",
            ]
        else:
            self.lines.append(f"y = {self.random.choice(['mean', 'sum'])}({last} * {last} + sum({source}))")
        return "\n".join(self.lines)


def write_programs(seed: int, count: int) -> list[str]:
    """Return random programs.

    Args:
        seed: The seed of the random numbers.
        count: The number of programs to write.
    """
    programs = []
    for number in range(count):
        writer = ProgramWriter(random.Random(1000 * seed + number))
        for _ in range(writer.random.randint(2, 7)):
            writer.add_operation()
        programs.append(writer.finish())
    return programs
