"""Random programs, and whether TensorFlow does the same with them.

    python tests/oracle/wander.py --python PYTHON_WITH_TENSORFLOW --seed 1 --count 300
    python tests/oracle/wander.py --python PYTHON_WITH_TENSORFLOW --seed 1 --count 300 --wild

A wild program may fail, gets NaN, infinities and several dtypes, branches and loops, is a `tf.function` or runs
forward. Its values, None, dtypes, shapes and the class of its error are compared. The others are tame: each takes a few
arrays, goes some steps from the table below, and asks tapes for first or second derivatives. A step is taken when
minitape can take it, so programs need no rules about shapes. `test_wander.py` compares the ways in which minitape
itself may run them.
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
WILD = """
tf.cast({a}, {d}) | tf.cast({a}, {d}) * {b} | {a} > {b} | tf.where({a} > 0, {a}, {b}) | tf.equal({a}, {b})
tf.math.log({a}) | tf.sqrt({a}) | tf.math.rsqrt({a}) | tf.math.reciprocal({a}) | {a} / {b} | {a} // {b}
{a} % {b} | {a} ** {b} | tf.pow({a}, 2) | tf.abs({a}) | tf.round({a}) | tf.floor({a}) | tf.norm({a} - {a})
tf.sqrt({a} - {a}) | tf.math.log({a} - {a}) | tf.math.divide_no_nan({a}, {b}) | tf.math.reduce_std({a})
tf.reduce_max({a}, axis=1) | tf.reduce_mean({a}, axis=-2) | tf.reduce_any({a} > 0) | tf.argmax({a}, axis=0)
tf.math.asin({a}) | tf.math.acos({a}) | tf.math.atanh({a}) | tf.math.expm1({a}) | tf.nn.softmax({a})
tf.nn.log_softmax({a}) | tf.nn.leaky_relu({a}) | tf.matmul({a}, {b}) | tf.matmul({a}, {b}, transpose_b=True)
tf.linalg.trace({a}) | tf.linalg.diag_part({a}) | tf.tensordot({a}, {b}, 1) | tf.linalg.det({a})
tf.linalg.inv({a}) | tf.linalg.matvec({a}, {b}) | tf.reshape({a}, [2, -1]) | tf.reshape({a}, [{i}, {i}])
tf.transpose({a}, [1, 0]) | tf.expand_dims({a}, {i}) | tf.squeeze({a}, axis={i}) | tf.squeeze({a})
tf.concat([{a}, {b}], {i}) | tf.stack([{a}, {b}], axis={i}) | tf.unstack({a})[{i}]
tf.split({a}, 2, axis={i})[0] | tf.split({a}, [1, -1])[1] | tf.gather({a}, [{i}, 0])
tf.gather({a}, {i}, axis=-1) | tf.gather_nd({a}, [[{i}]]) | {a}[{i}] | {a}[{i}:] | {a}[..., {i}] | {a}[:, {i}]
{a}[::-1] | tf.boolean_mask({a}, {a} > 0) | tf.pad({a}, [[{i}, 1]]) | tf.tile({a}, [{i}])
tf.one_hot(tf.cast({a}, tf.int32), 3) | tf.math.top_k({a}, {i}).values | tf.sort({a}, axis={i})
tf.tensor_scatter_nd_update({a}, [[{i}]], {a}[:1]) | tf.zeros_like({a}) + {b} | tf.ones([2, 3], {d}) * {a}
tf.constant({i}) * {a} | tf.constant(0.5) * {a} | 2 * {a} | {a} + 0.5 | {a} - float("inf")
tf.clip_by_value({a}, 0.0, 1.0) | tf.identity({a}) | tf.stop_gradient({a}) | tf.size({a}) | tf.shape({a})
tf.rank({a}) | tf.range({i}) | tf.fill([{i}], {a}) | tf.meshgrid({a}, {b})[0]
tf.cond(tf.reduce_sum({a}) > 0, lambda: {a} + 1, lambda: {b})
tf.while_loop(lambda i, q: i < {i}, lambda i, q: (i + 1, q * {b}), [0, {a}])[1]
"""
BLOCKS = [  # statements, which a tf.function turns into operations of a graph
    "if tf.reduce_sum({a}) > 0:\n    {t} = {x}\nelse:\n    {t} = {y}",
    "{t} = {a}\nfor i in tf.range({i}):\n    {t} = {t} * 0.5 + {b}",
    "{t} = {a}\nfor i in range({i}):\n    {t} = {t} + {b}\n    if tf.reduce_max({t}) > 2:\n        break",
    "{t} = {a}\nn = 0\nwhile tf.reduce_sum(tf.abs({t})) > 1 and n < 5:\n    {t} = {t} * 0.4\n    n += 1",
    "{t} = tf.zeros_like({a})\nfor row in {a}:\n    {t} += row",
]
DTYPES = ["tf.float32"] * 5 + ["tf.float64"] * 2 + ["tf.int32", "tf.int64", "tf.bool", "tf.float16", "tf.complex64"]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0]
INNER = (  # where TensorFlow's own code fails, not the program
    "Could not generate a generic TraceType for dim",
    "_grad/Sum}}]]",
    "<dtype: 'variant'> is not compatible",
    "'IndexedSlices' object has no attribute '_id'",
    "gradient registry has no entry for",
    "Incompatible shapes between op input and calculated input gradient",
    "*num_retvals is",
)
BEGINS = "now the program of seed"
EXPLANATIONS = {  # of a difference
    "rounding": "their answers change when each step is rounded otherwise",
    "cannot": "TensorFlow says that it does not support them yet, or fails inside of itself",
    "order": "they sort NaN, which minitape puts last",
    "zero": "where both answers are finite they agree: one of the two leaves out zero times NaN or infinity, or "
    "TensorFlow's kernel makes NaN of infinity",
    "class": "both refuse a function: TensorFlow builds a graph, and its error has another class there",
    "nothing": "without an explanation",
}
WILD_TABLE = [step.strip() for line in WILD.strip().splitlines() for step in line.split(" | ")]
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


def wild(seed: int) -> dict[str, Any]:
    """A program of any steps: one that minitape refuses stays in one of three, and ends the program."""
    import minitape as tf

    chance = random.Random(seed)
    dtypes = [chance.choice(["float32"] * 6 + ["float64", "float64", "int32"]) for _ in range(chance.randint(1, 3))]
    p: dict[str, Any] = {
        "shapes": [chance.choice(SMALL) for _ in dtypes],
        "seed": seed,
        "dtypes": dtypes,
        "special": chance.random() < 0.2,
    }
    given = [f"x{i}" for i in range(len(dtypes))]
    known: dict[str, Any] = dict(zip(given, map(tf.constant, inputs(p)), strict=True))
    lines: list[str] = []
    length = chance.randint(2, 8)
    for at in range(40):
        if len(lines) >= length:
            break
        words = {
            "a": chance.choice([*known][-3:]),
            "b": chance.choice([*known]),
            "d": chance.choice(DTYPES),
            "i": chance.choice([0, 0, 1, 1, 1, 2, -1, 3]),
        }
        step, other = (chance.choice(chance.choice([TABLE, WILD_TABLE])).format(**words) for _ in "xy")
        name = f"t{at}"
        block = (
            f"{name} = {step}"
            if chance.random() > 0.1
            else chance.choice(BLOCKS).format(t=name, x=step, y=other, **words)
        )
        space = {"tf": tf, **known}
        try:
            exec(block, space)
            value = tf.convert_to_tensor(space[name])
            fine = value.shape.num_elements() <= 3000
        except Exception:
            fine = chance.random() < 0.3
            length = 0 if fine else length
            value = None
        if fine:
            lines += [block]
            known[name] = value
    target = [*known][-1] if lines else "x0"
    p["text"] = _written(chance, lines, given, target, seed)
    return p


def _written(chance: random.Random, lines: list[str], given: list[str], target: str, seed: int) -> str:
    """The text of a program around its steps: with a tape, with two, forward, with a Jacobian; one in two as a
    tf.function.
    """
    body = [line for block in lines for line in block.splitlines()]
    sources, one = f"[{', '.join(given)}]", chance.choice(given)
    zero = chance.choice(["", "", ", unconnected_gradients='zero'"])
    match chance.choice(["tape", "tape", "tape", "two", "forward", "forward", "jacobian", "unwatched"]):
        case "forward":
            text = [
                f"with tf.autodiff.ForwardAccumulator({one}, tf.ones_like({one})) as acc:",
                *("    " + b for b in body),
                "    pass",
                f"return [{target}, acc.jvp({target}{zero})]",
            ]
        case "two":
            text = [
                "with tf.GradientTape() as outer:",
                f"    outer.watch({sources})",
                "    with tf.GradientTape() as tape:",
                f"        tape.watch({sources})",
                *("        " + b for b in body),
                f"    slope = tape.gradient({target}, {one})",
                f"return [{target}, slope, outer.gradient(slope, {one}{zero})]",
            ]
        case "jacobian":
            text = [
                "with tf.GradientTape() as tape:",
                f"    tape.watch({sources})",
                *("    " + b for b in body),
                f"return [{target}, tape.jacobian({target}, {one}{zero})]",
            ]
        case kind:
            text = [
                "with tf.GradientTape() as tape:",
                f"    tape.watch({sources if kind == 'tape' else one})",
                *("    " + b for b in body),
                f"return [{target}, *tape.gradient({target}, {sources}{zero})]",
            ]
    loops = any(word in block for block in lines for word in ("for row", "tf.range", "while", "tf.cond", "if "))
    if chance.random() < 0.6 and not (loops and "Forward" in text[0]):  # where TensorFlow fails inside of itself
        inner = [
            "@tf.function",
            f"def inner({', '.join(given)}):",
            *("    " + b for b in text),
            f"return inner({', '.join(given)})",
        ]
        text = inner
    return "\n".join([f"def step(tf, {', '.join(given)}):", *("    " + line for line in text)])


def inputs(p: dict[str, Any]) -> list[np.ndarray]:
    """What a program is given: small numbers of its dtypes, in some programs with NaN, infinities and zeros among
    them.
    """
    stream = np.random.default_rng(p["seed"])
    made = arrays(p["seed"], p["shapes"])
    for at, dtype in enumerate(p.get("dtypes", ())):
        made[at] = (made[at] * 3).astype(dtype) if dtype.startswith("int") else made[at].astype(dtype)
        if p["special"] and not dtype.startswith("int"):
            chosen = stream.random(made[at].shape) < 0.3
            made[at] = np.where(chosen, stream.choice(SPECIAL, made[at].shape), made[at]).astype(dtype)
    return made


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


def outcome(tf: Any, step: Any, given: Any) -> tuple[list[np.ndarray], str]:
    """What a program returned, or the class of its error, and what it said."""
    try:
        return answer(tf, step(tf, *given)), ""
    except Exception as error:
        what = type(error).__name__
        words = " ".join(str(error).split())
        cannot = what == "UnimplementedError" or any(mark in words for mark in INNER)
        return [np.array("cannot" if cannot else what)], f"{what}: {words[-300:]}"


def agree(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    """Whether two answers are the same but for rounding, measured by the largest number among all."""
    if [(a.shape, a.dtype) for a in one] != [(a.shape, a.dtype) for a in other]:
        return False
    numbers = [(a, b) for a, b in zip(one, other, strict=True) if a.dtype.kind in "fc"]
    # and None, and errors
    if not all(np.array_equal(a, b) for a, b in zip(one, other, strict=True) if a.dtype.kind not in "fc"):
        return False
    size = max([1.0, *(float(np.max(np.abs(a), initial=0, where=np.isfinite(a))) for a, _ in numbers)])
    coarse = 20 if any(a.dtype == np.float16 for a, _ in numbers) else 1
    with np.errstate(all="ignore"):
        return all(np.allclose(a, b, rtol=1e-3 * coarse, atol=1e-4 * coarse * size, equal_nan=True) for a, b in numbers)


def _finite_alone(one: list[np.ndarray], other: list[np.ndarray]) -> list[list[np.ndarray]]:
    """Two answers with zeros wherever one of them is not finite."""
    if [a.shape for a in one] != [a.shape for a in other]:
        return [one, other]
    both = [
        np.isfinite(a) & np.isfinite(b) if a.dtype.kind in "fc" and b.dtype.kind in "fc" else True
        for a, b in zip(one, other, strict=True)
    ]
    return [
        [np.where(keep, a, 0).astype(a.dtype) if keep is not True else a for a, keep in zip(found, both, strict=True)]
        for found in (one, other)
    ]


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
    given = [tf.constant(a) for a in inputs(p)]
    first = outcome(tf, made(p["text"]), given)[0]
    return not all(agree(first, outcome(tf, step, given)[0]) for _ in range(tries))


def _run(module: str, source: Path, target: Path) -> None:
    """Runs the programs of a file, and writes their answers: of one that is refused, that it is."""
    tf = importlib.import_module(module)
    found = {}
    for p in json.loads(source.read_text()):
        print(f"{BEGINS} {p['seed']}", file=sys.stderr, flush=True)
        values, said = outcome(tf, made(p["text"]), [tf.constant(a) for a in inputs(p)])
        if said:
            print(f"{module} refuses the program of seed {p['seed']}: {said}", file=sys.stderr)
        for at, value in enumerate(values):
            found[f"{p['seed']}/{at}"] = value
    np.savez(target, **found)


def _answers(
    module: str, python: str, programs: list[dict[str, Any]]
) -> tuple[dict[str, list[np.ndarray]], dict[str, str]]:
    """What programs return in a process of its own, by their seeds, and what it said of those that it refused.

    TensorFlow's ends with some programs: then it runs the others again.
    """
    ended: list[str] = []
    while True:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder) / "programs.json", Path(folder) / "answers.npz"
            source.write_text(json.dumps([p for p in programs if str(p["seed"]) not in ended]))
            environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
            done = subprocess.run(
                [python, __file__, "--run", module, source, target], stderr=subprocess.PIPE, text=True, env=environment
            )
            if done.returncode < 0 and module == "tensorflow":
                ended.append(re.findall(rf"^{BEGINS} (\d+)$", done.stderr, re.MULTILINE)[-1])
                continue
            if done.returncode:
                raise RuntimeError(f"{module} did not run:\n{done.stderr}")
            answers: dict[str, list[np.ndarray]] = {seed: [np.array("cannot")] for seed in ended}
            with np.load(target) as values:
                for key in values.files:
                    answers.setdefault(key.partition("/")[0], []).append(values[key])
        return answers, {
            line.partition(":")[0].split()[-1]: line for line in done.stderr.splitlines() if " refuses " in line
        }


def compared(interpreter: str, seed: int, count: int, make: Any = program) -> dict[str, list[dict[str, Any]]]:
    """The programs of so many seeds whose answers differ from TensorFlow's, by what explains it."""
    programs = [make(at) for at in range(seed, seed + count)]
    both, refusals = [], []
    for module, python in (("minitape", sys.executable), ("tensorflow", interpreter)):
        answers, told = _answers(module, python, programs)
        both.append(answers)
        refusals.append(told)
    found: dict[str, list[dict[str, Any]]] = {why: [] for why in EXPLANATIONS}
    for p in programs:
        ours, theirs = (answers[str(p["seed"])] for answers in both)
        if not agree(ours, theirs):
            p["told"] = [told[str(p["seed"])] for told in refusals if str(p["seed"]) in told]
            if str(theirs[0]) == "cannot":
                why = "cannot"
            elif p.get("special") and any(word in p["text"] for word in ("sort(", "top_k(")):
                why = "order"
            elif "tf.function" in p["text"] and len(p["told"]) == 2:
                why = "class"
            elif agree(*(_finite_alone(ours, theirs))):
                why = "zero"
            else:
                why = "rounding" if unstable(p) else "nothing"
            found[why].append(p)
    return found


def main() -> int:
    """Compares random programs in minitape and TensorFlow, and prints those that differ."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--python", help="an interpreter that has TensorFlow")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--wild", action="store_true", help="programs that may fail, of all dtypes")
    parser.add_argument("--run", nargs=3, metavar=("MODULE", "SOURCE", "TARGET"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        _run(options.run[0], *map(Path, options.run[1:]))
        return 0
    found: dict[str, list[dict[str, Any]]] = {why: [] for why in EXPLANATIONS}
    for first in range(options.seed, options.seed + options.count, 500):
        some = compared(
            options.python, first, min(500, options.seed + options.count - first), wild if options.wild else program
        )
        for why, programs in some.items():
            found[why] += programs
        for p in some["nothing"]:
            print(
                f"# seed {p['seed']}, shapes {p['shapes']} {p.get('dtypes', '')}",
                *p["told"],
                f"{p['text']}\n",
                sep="\n",
                flush=True,
            )
    print(f"{options.count} programs: {options.count - sum(map(len, found.values()))} agree")
    for why, programs in found.items():
        print(f"{len(programs)} differ: {EXPLANATIONS[why]}", *(p["seed"] for p in programs))
    return 1 if found["nothing"] else 0


if __name__ == "__main__":
    sys.exit(main())
