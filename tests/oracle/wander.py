"""Random programs, and whether TensorFlow does the same with them.

    python tests/oracle/wander.py --python PYTHON_WITH_TENSORFLOW --seed 1 --count 300

Each takes a few arrays, goes some steps from the table below, and asks tapes for first or second derivatives. A step is
taken when minitape can take it, so programs need no rules about shapes. `test_wander.py` compares the ways in which
minitape itself may run them.
"""

import argparse
import importlib
import json
import linecache
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

SMALL = [(), (3,), (4, 3), (3, 4), (1, 3), (4, 1), (2, 3, 4)]
LARGE = [(70_000,), (300, 250), (2, 150, 250), (2000,), (1, 40_000), (3,), ()]
STEPS = """
{a} + {b} | {a} - {b} | {a} * {b} | {a} / ({b} * {b} + 1.0) | {a} @ {b} | -{a} | {a} ** 2 | 1.5 - {a}
{a} * 0.3 | tf.sin({a}) | tf.tanh({a}) | tf.exp(0.1 * {a}) | tf.sqrt(tf.abs({a}) + 1.0) | tf.sigmoid({a})
tf.nn.relu({a}) | tf.nn.softplus({a}) | tf.clip_by_value({a}, -0.5, 0.7) | tf.stop_gradient({a}) * {b}
tf.identity({a}) | tf.sign({a}) * {a} | tf.maximum({a}, {b}) | tf.minimum({a}, {b})
tf.where({a} > {b}, {a}, 2.0 * {b}) | tf.math.divide_no_nan({a}, tf.abs({b}) + 0.5)
tf.math.atan2({a}, {b} + 2.0) | tf.cast(tf.cast({a}, tf.float64), tf.float32) + {b} | tf.reduce_sum({a})
tf.reduce_sum({a}, axis=-1, keepdims=True) | tf.reduce_mean({a}, axis=0) | tf.reduce_max({a}, axis=-1)
tf.reduce_min({a}) | tf.math.reduce_variance({a}, axis=0) | tf.norm({a} + 1.0)
tf.math.l2_normalize({a} + 2.0, axis=-1) | {a}[0] | {a}[..., -1] | {a}[1:] | {a}[:-1] | {a}[::-1] | {a}[::2]
{a}[..., None] | {a}[:, None] | {a}[None, ..., 1:] | {a}[:, 1:-1] | tf.reshape({a}, [-1]) | tf.transpose({a})
tf.squeeze({a}) | tf.concat([{a}, -{a}], 0) | tf.stack([{a}, {b}]) | tf.split({a}, 2)[1]
tf.pad({a}, [[1, 2]] * len({a}.shape)) | tf.tile({a}, [2] * len({a}.shape)) | tf.gather({a}, [0, 1, 0])
tf.gather({a}, [1, 1], axis=-1) | tf.sort({a}) | tf.nn.softmax({a}) | tf.repeat({a}, 2, axis=0)
tf.linalg.diag({a}) | tf.tensordot({a}, {a}, 1)
tf.cond(tf.reduce_sum({a}) > 0.0, lambda: {a} * {a}, lambda: 0.3 * {a})
tf.while_loop(lambda i, q: i < 3, lambda i, q: (i + 1, 0.8 * q + {a}), [0, {a}])[1]
tf.math.top_k({a}, 2).values
"""
TABLE = [step.strip() for line in STEPS.strip().splitlines() for step in line.split(" | ")]


def program(seed: int) -> dict[str, Any]:
    """The text of a function ``step(tf, x0, x1, ...)``, and the shapes of what it takes."""
    import minitape as tf

    chance = random.Random(seed)
    shapes = [chance.choice(LARGE if seed % 3 == 0 else SMALL) for _ in range(chance.randint(1, 3))]
    known: dict[str, Any] = dict(
        zip((f"x{i}" for i in range(len(shapes))), map(tf.constant, arrays(seed, shapes)), strict=True)
    )
    given, lines, length = [*known], [], chance.randint(3, 12)
    while len(lines) < length:
        a, b = chance.choice([*known][-4:]), chance.choice([*known])
        template = chance.choice(TABLE)
        if _grows(template, *(known[name].shape for name in (a, b))):
            continue
        step = template.format(a=a, b=b)
        try:
            value = eval(step, {"tf": tf, **known})
        except Exception:  # of shapes that do not fit
            continue
        if (
            value.dtype is tf.float32
            and 0 < value.shape.num_elements() <= 100_000
            and float(tf.reduce_max(tf.abs(value))) < 1e4
        ):
            name = f"t{len(lines)}"
            known[name] = value
            lines.append(f"{name} = {step}")
    target, sources = lines[-1].partition(" ")[0], f"[{', '.join(given)}]"
    text = [f"def step(tf, {', '.join(given)}):"]
    if seed % 2:
        text += ["    with tf.GradientTape() as tape:", f"        tape.watch({sources})"]
        text += [f"        {line}" for line in lines]
        text += [f"    return [{target}, *tape.gradient({target}, {sources}, unconnected_gradients='zero')]"]
    else:
        text += ["    with tf.GradientTape() as outer:", f"        outer.watch({sources})"]
        text += ["        with tf.GradientTape() as tape:", f"            tape.watch({sources})"]
        text += [f"            {line}" for line in lines]
        text += [f"        slopes = tape.gradient({target}, {sources}, unconnected_gradients='zero')"]
        text += ["        total = tf.add_n([tf.reduce_sum(tf.convert_to_tensor(s) * 1.5) for s in slopes])"]
        text += [f"    return [{target}, *slopes, *outer.gradient(total, {sources}, unconnected_gradients='zero')]"]
    return {"text": "\n".join(text), "shapes": shapes, "seed": seed}


def _grows(template: str, a: Any, b: Any) -> bool:
    """Whether a step could make an array that is too large even to be tried."""
    sizes = [shape.num_elements() for shape in (a, b)]
    if "diag" in template:
        return sizes[0] > 300
    if "tensordot" in template and len(a) > 1:
        return a[0] == a[-1] and sizes[0] ** 2 > 1_000_000 * a[0] ** 2
    return "{b}" in template and a != b and min(sizes) > 1 and sizes[0] * sizes[1] > 1_000_000


def arrays(seed: int, shapes: Any) -> list[np.ndarray]:
    """What a program is given."""
    stream = np.random.default_rng(seed)
    return [stream.standard_normal(shape).astype(np.float32) for shape in shapes]


def made(text: str) -> Any:
    """The function of a program, whose text Python finds again: functions of a graph are made from it."""
    name, space = f"<program {abs(hash(text))}>", dict[str, Any]()
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), space)
    return space["step"]


def answer(tf: Any, found: Any) -> list[np.ndarray]:
    """What a program returned, as arrays."""
    return [np.array("None") if value is None else np.asarray(tf.convert_to_tensor(value)) for value in found]


def agree(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    """Whether two answers are the same but for rounding, measured by the largest number among all."""
    if [(a.shape, a.dtype) for a in one] != [(a.shape, a.dtype) for a in other] or one[0].dtype.kind == "U":
        return False
    size = max([1.0, *(float(np.max(np.abs(a), initial=0)) for a in one)])
    return all(np.allclose(a, b, rtol=1e-3, atol=1e-4 * size, equal_nan=True) for a, b in zip(one, other, strict=True))


def unstable(p: dict[str, Any], tries: int = 20) -> bool:
    """Whether a program's answer depends on how its steps are rounded: then two libraries may differ.

    Each step is changed by one unit in the last place, up or down by chance. Where a condition stands on an edge, or
    what is left of a sum that cancels out is divided by, the answer is another one then.
    """
    import minitape as tf

    text = re.sub(r"^( +t\d+ = )(.*)$", r"\1_rounded(\2)", p["text"], flags=re.MULTILINE)
    stream = np.random.default_rng(p["seed"])

    def rounded(value: Any) -> Any:
        if not getattr(value, "dtype", tf.int32).is_floating:
            return value
        signs = stream.integers(-1, 2, value.shape)
        return value * tf.constant((1.0 + signs * 2.0**-23).astype(value.dtype.as_numpy_dtype))

    step = made(text)
    step.__globals__.update(_rounded=rounded)
    given = [tf.constant(a) for a in arrays(p["seed"], p["shapes"])]
    first = answer(tf, made(p["text"])(tf, *given))
    return not all(agree(first, answer(tf, step(tf, *given))) for _ in range(tries))


def _run(module: str, source: Path, target: Path) -> None:
    """Runs the programs of a file, and writes their answers."""
    tf = importlib.import_module(module)
    found = {}
    for p in json.loads(source.read_text()):
        given = [tf.constant(a) for a in arrays(p["seed"], p["shapes"])]
        try:
            values = answer(tf, made(p["text"])(tf, *given))
        except Exception as error:  # TensorFlow does not support it yet
            values = [np.array(type(error).__name__)]
        found |= {f"{p['seed']}/{at}": value for at, value in enumerate(values)}
    np.savez(target, **found)


def _answers(module: str, python: str, programs: list[dict[str, Any]]) -> dict[str, list[np.ndarray]]:
    """What programs return in a process of its own, by their seeds."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "programs.json", Path(folder) / "answers.npz"
        source.write_text(json.dumps(programs))
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
        subprocess.run([python, __file__, "--run", module, source, target], env=environment, check=True)
        answers: dict[str, list[np.ndarray]] = {}
        with np.load(target) as values:
            for key in values.files:
                answers.setdefault(key.partition("/")[0], []).append(values[key])
    return answers


def main() -> int:
    """Compares random programs in minitape and TensorFlow, and prints those that differ, but for those whose answer
    changes when each step is rounded otherwise.
    """
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--python", help="an interpreter that has TensorFlow")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--run", nargs=3, metavar=("MODULE", "SOURCE", "TARGET"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        _run(options.run[0], *map(Path, options.run[1:]))
        return 0
    programs = [program(at) for at in range(options.seed, options.seed + options.count)]
    both = [_answers(*of, programs) for of in (("minitape", sys.executable), ("tensorflow", options.python))]
    differ = [p for p in programs if not agree(*(answers[str(p["seed"])] for answers in both))]
    refused = [p for p in differ if "UnimplementedError" in map(str, both[1][str(p["seed"])])]
    rounded = refused + [p for p in differ if p not in refused and unstable(p)]
    for p in differ:
        if p not in rounded:
            print(f"# seed {p['seed']}, shapes {p['shapes']}\n{p['text']}\n")
    few = f"{len(refused)} TensorFlow cannot run, {len(rounded) - len(refused)} differ by rounding"
    print(f"{options.count} programs: {options.count - len(differ)} agree, {few}")
    return 1 if len(differ) > len(rounded) else 0


if __name__ == "__main__":
    sys.exit(main())
