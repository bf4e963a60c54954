"""Output does not grow with the program's data: long names, texts, lists and tapes are cut, with a note.

The tests do not measure times. If the work grew with the number of pairs of items, some of them would take minutes
instead of seconds.
"""

import inspect
import json
import linecache
import subprocess
import sys

import numpy as np
import pytest

import minitape as tf
from minitape.course import Exercise, add_exercise, check, predict, reveal
from minitape.engine.table.primitives import TABLE
from minitape.picture.shown_values import to_value_fields
from minitape.picture.truncation import MAX_LINE_LETTERS, MAX_LINES, MAX_NAME_LETTERS

LONG = "n" * 1_000_000


def render_pictures(tape, *ends):
    """Return all texts in the picture of a tape."""
    picture = tf.draw(tape, *ends)
    return [picture.svg, picture.alt, picture.html(), repr(picture)]


def test_a_long_name_is_cut_in_pictures():
    module = tf.Module()
    module._open_name_scope = (LONG,)
    v = tf.Variable(2.0, name=LONG)
    with tf.GradientTape() as tape, module.name_scope:
        y = tf.custom_gradient(lambda x: (x * x, lambda g: g))(v)
        v.assign_add(1.0)
        y += v
    for text in render_pictures(tape, y, v):
        assert len(text) < 20_000
    snapshot = tf.snapshot(tape, y, v)
    assert len(json.dumps(snapshot)) < 30_000
    name = next(row["name"] for row in snapshot["rows"] if row["kind"] == "variable")
    assert len(name) == MAX_NAME_LETTERS and "…" in name and name.startswith("nnn") and name.endswith(":0")


def test_a_name_of_many_parts_is_cut_to_the_last_ones():
    v = tf.Variable(2.0, name="a/" * 500_000 + "kernel")
    with tf.GradientTape() as tape:
        y = v * v
    assert max(map(len, render_pictures(tape, y, v))) < 10_000
    assert "/a/a/kernel" in tf.draw(tape).svg


def test_long_strings_in_tensors_are_cut_in_pictures():
    for value in (tf.constant([LONG] * 4).numpy(), np.array([LONG])):
        assert len(json.dumps(to_value_fields(value))) < 20_000
    assert "000 characters)" in to_value_fields(np.array(LONG))["text"]


def test_long_lines_and_files_are_cut_but_keep_their_numbers():
    text = (
        f"def f(tf, v):\n    text = {LONG!r}\n    with tf.GradientTape() as tape:\n        y = v * v\n    return tape\n"
    )
    linecache.cache["<long lines>"] = len(text), None, text.splitlines(keepends=True), "<long lines>"
    space = {}
    exec(compile(text + "#\n" * 100_000, "<long lines>", "exec"), space)
    tape = space["f"](tf, tf.Variable(1.0))
    snapshot = tf.snapshot(tape)
    lines = snapshot["sources_text"]["<long lines>"].splitlines()
    assert len(lines[1]) < MAX_LINE_LETTERS + 50 and lines[1].endswith("characters)")
    assert lines[snapshot["rows"][-1]["line"] - 1] == "        y = v * v"
    linecache.cache["<long lines>"] = (
        len(text),
        None,
        text.splitlines(keepends=True) + ["#\n"] * MAX_LINES,
        "<long lines>",
    )
    assert tf.snapshot(tape)["sources_text"]["<long lines>"].endswith("#\n… (the file is longer)\n")


def test_an_operation_with_very_many_inputs_is_drawn_and_explained():
    sources = [tf.Variable(float(i)) for i in range(200)]
    with tf.GradientTape() as tape:
        y = tf.add_n(sources)
    svg, alt, _, _ = render_pictures(tape, y, sources)
    assert len(svg) < 100_000 and len(alt) < 5_000
    assert "196 rows" in svg and "and 150 more rows" not in alt
    answers = tape.explain(y, sources)
    assert all(answer.connected for answer in answers) and len(answers) == 200
    (step,) = tf.snapshot(tape, y, sources)["sweep"]["steps"]
    assert [(e["input"], e["port"]) for e in step["edges"]] == [(k, k) for k in range(200)]


def test_of_a_list_of_sources_each_is_named():
    weights = [tf.Variable(float(i)) for i in range(3)]
    table = {"a": tf.Variable(1.0), "b": weights[1]}
    with tf.GradientTape() as tape:
        y = tf.constant(1.0)
    told = [answer.message for answer in tape.explain(y, [*weights, table["a"]])]
    assert [f"weights[{k}]" in message for k, message in enumerate(told)] == [True, True, True, False]


@pytest.fixture(scope="module")
def long_tape():
    x = tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x
        for _ in range(25_000):
            y = y * 1.0000001
    return tape, y, x


def test_a_snapshot_ends_after_so_many_rows_and_says_how_many_there_are(long_tape):
    tape, y, x = long_tape
    assert inspect.signature(tf.snapshot).parameters["most"].default == 100_000
    snapshot = tf.snapshot(tape, y, x, most=10_000)
    assert len(snapshot["rows"]) == 10_000 and snapshot["total"] == len(tape._record) > 25_000
    assert snapshot["sweep"]["steps"] == [] and snapshot["sweep"]["rest"] > 20_000
    part = tf.snapshot(tape, since=7, most=3)
    assert [row["row"] for row in part["rows"]] == [7, 8, 9] and part["first"] == 7
    assert tf.snapshot(tape, since=24_000)["rows"][-1]["row"] == snapshot["total"] - 1
    assert max(map(len, render_pictures(tape, y, x))) < 1_000_000
    assert len(repr(tape)) < 100 and sum(map(len, tape._repr_mimebundle_().values())) < 200_000


def test_explain_walks_a_long_tape(long_tape):
    tape, y, x = long_tape
    assert tape.explain(y, x).connected
    assert not tape.explain(y, tf.Variable(1.0)).connected


MEMORY = """
import json, re, sys
import minitape as tf
from minitape_widgets import TapeView

count, peaks = int(sys.argv[1]), []
# of this program: ru_maxrss begins with what its parent had
note = lambda: peaks.append(int(re.search("VmHWM: *(.*) kB", open("/proc/self/status").read())[1]) // 1024)
x = tf.Variable(1.0)

def long_tape(turns):
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(turns):
            y = y * 0.999999 + x
    tape.gradient(y, x)
    return tape

long_tape(10_000)  # numba is loaded
for number in range(count):
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    if number in (count // 10, count - 1):
        note()
tape = long_tape(count * 25)
note()
TapeView(tape).save(sys.argv[2])
note()
print(json.dumps(peaks))
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no /proc/self/status")
def test_many_tapes_and_a_very_long_one_take_bounded_memory(tmp_path, longest):
    """With `--longest`, there are 100,000 tapes, and one tape with five million rows. Otherwise, a tenth of them."""
    count = 100_000 if longest else 10_000
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(count), tmp_path / "page.html"], capture_output=True, text=True, check=True
    )
    tenth, flat, gradient, page = json.loads(done.stdout)
    print(
        f"MB after {count // 10} tapes {tenth}, {count} {flat}; {50 * count} rows with gradient {gradient}, page "
        f"{page}, on disk {(tmp_path / 'page.html').stat().st_size / 1e6:.1f}"
    )
    assert flat - tenth <= 2 and gradient - flat < 75 * count / 1e4 and page - gradient < 100


def test_a_structure_that_is_too_deep_is_an_error():
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    deep = x
    for _ in range(10_000):
        deep = [deep]
    for ask in (
        lambda: tape.gradient(y, deep),
        lambda: tape.explain(y, deep),
        lambda: tf.draw(tape, y, deep),
        lambda: tf.nest.flatten(deep),
    ):
        with pytest.raises(RecursionError):
            ask()
    assert tape.gradient(y, x).numpy() == 4.0
    while isinstance(deep, list):  # Otherwise, Python would recurse when it releases the list.
        deep = deep[0]


def build_nested_value(wrap):
    """Return a value that is nested 100,000 levels deep."""
    deep = 1.0
    for _ in range(100_000):
        deep = wrap(deep)
    return deep


class Unwilling:
    """An object whose methods all raise an error."""

    def __repr__(self):
        raise RuntimeError("no")

    __array__ = __len__ = __iter__ = __float__ = __eq__ = __str__ = __repr__
    __hash__ = None


ANSWERS = {
    "many numbers": lambda: [1.0] * 300_000,
    "100,000 texts": lambda: dict.fromkeys(map(str, range(10**5))),
    "a long text": lambda: "a" * 10**7,
    "long texts": lambda: np.array(["a" * 10**5] * 50),
    "a large array": lambda: np.zeros((2000, 2000)),
    "a nest": lambda: build_nested_value(lambda inner: [inner]),
    "a nest of names": lambda: build_nested_value(lambda inner: {"a": inner}),
    "a number of 100,000 digits": lambda: 10**100_000,
    "one that holds itself": lambda: (loop := [], loop.append(loop))[0],
    "one without an end": lambda: iter(int, 1),
    "a class": Unwilling,
    "an error with a long text": lambda: ValueError("e" * 10**7),
}


@pytest.mark.long(sample=4)
@pytest.mark.parametrize("what", ANSWERS)
def test_an_answer_is_shown_in_a_few_lines(what, capsys):
    for number, expected in enumerate((6.0, [1.0, 2.0], {"a": 1})):
        add_exercise(Exercise(f"sizes.{number}", expect=expected))
        check(f"sizes.{number}", ANSWERS[what]())
        said = capsys.readouterr().out
        assert said.startswith(f"Exercise sizes.{number}: ") and len(said) < 1000
    predict("sizes.p1", "What is it?", ["this", "that"]).commit("this")
    reveal("sizes.p1", ANSWERS[what]())
    said = capsys.readouterr().out
    assert said.startswith("The answer: ") and len(said) < 1200


def test_a_size_beyond_its_dtype_is_refused():
    """TensorFlow's `tf.size` of an eager tensor of 2**31 elements is -2147483648."""
    none = tf.zeros([0, 2**32])
    many = TABLE["broadcast_to"](tf.constant(True), shape=(2**16, 2**15))  # It stores only one element.
    for size, x in ((tf.shape, none), (tf.size, many), (tf.function(lambda x: tf.size(x)), many)):
        with pytest.raises(OverflowError, match="out of bounds for int32"):
            size(x)
    assert tf.shape(none, tf.int64).numpy().tolist() == [0, 2**32] and tf.size(many, tf.int64).numpy() == 2**31
    assert tf.size(none).numpy() == 0


def test_shapes_that_no_memory_holds_are_drawn():
    none, deep = tf.zeros([0, 10**12]), tf.Variable(np.zeros((1,) * 32, np.float32))
    with tf.GradientTape() as tape:
        tape.watch(none)
        y = none * none
        z = deep * deep
    assert max(map(len, render_pictures(tape, [y, z], [none, deep]))) < 20_000
