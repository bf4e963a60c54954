"""A saved recording from a stranger reads no file, and none of its numbers costs much memory or time."""

import copy
import inspect
import json
import linecache
import sys

import pytest

import minitape as tf
from minitape.bridges import Recording, Replay
from minitape_widgets import TapeView


def build_snapshot(**changes):
    """Build a recording with two results of one call, and a backward pass."""
    recording = Recording("by hand")
    x = recording.add_leaf(3.0, name="x", site=("program.py", 1))
    parts = [recording.add_operation("split", [x], 1.0, call_id=1, output=k, site=("program.py", 2)) for k in (0, 1)]
    y = recording.add_operation("mul", parts, 9.0, site=("program.py", 3))
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, 1.0)
    for port, part in enumerate(parts):
        sweep.send(y, part, port, 1.0, 1.0)
        sweep.set_adjoint(part, 1.0)
    sweep.send(parts[0], x, 0, 2.0, 2.0)
    sweep.set_adjoint(x, 2.0)
    recording.close()
    return json.loads(json.dumps(recording.snapshot())) | changes


def render_pictures(replay):
    picture = tf.draw(replay)
    return [
        picture.svg, picture.alt, picture.html(), repr(picture), repr(TapeView(replay)),
        json.dumps(replay.snapshot()),
    ]  # fmt: skip


def test_its_texts_are_no_source_of_a_function(tmp_path, monkeypatch):
    """AutoGraph creates functions from the text that Python stores for their file."""
    file = tmp_path / "learners_own.py"
    file.write_text("def f(x):\n    if x > 0.0:\n        x += 1.0\n    return x\n")
    Replay(build_snapshot(sources_text={str(file): "def f(x):\n    if x > 0.0:\n        x += 666.0\n    return x\n"}))
    monkeypatch.syspath_prepend(tmp_path)
    import learners_own

    assert str(file) not in linecache.cache and "666" not in inspect.getsource(learners_own.f)
    assert tf.function(learners_own.f)(tf.constant(1.0)).numpy() == 2.0
    del sys.modules["learners_own"]


def test_no_file_is_read_that_it_names(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret words\n" * 3)
    sent = build_snapshot(sources_text={})
    for row in sent["rows"]:
        row["file"] = str(secret)
    assert not any("secret words" in text for text in render_pictures(Replay(sent)))


CHANGES = {
    "a row that is its own input": lambda s: s["rows"][3]["inputs"].append(3),
    "a row of later ones": lambda s: s["rows"][1]["inputs"].append(2),
    "an input that is not there": lambda s: s["rows"][3]["inputs"].append(10**12),
    "a number below zero": lambda s: s["rows"][3]["inputs"].append(-1),
    "another number": lambda s: s["rows"][3].update(row=0),
    "another kind": lambda s: s["rows"][3].update(kind="__class__"),
    "a label that is none": lambda s: s["rows"][3].update(label={"a": 1}),
    "a shape that is none": lambda s: s["rows"][3].update(shape=["x"]),
    "a line that is none": lambda s: s["rows"][3].update(line="1"),
    "no rows": lambda s: s.update(rows=None),
    "no row": lambda s: s["rows"].__setitem__(0, None),
    "a step that is not there": lambda s: s["sweep"]["steps"][0].update(row=99),
    "a target that is not there": lambda s: s["sweep"].update(target=[-1]),
    "texts that are none": lambda s: s.update(sources_text={"a": 1}),
    "no sweep": lambda s: s.update(sweep=[]),
    "too many rows": lambda s: s.update(rows=s["rows"] * 10_000, total=40_000),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_is_no_snapshot_is_refused(what):
    sent = copy.deepcopy(build_snapshot())
    CHANGES[what](sent)
    with pytest.raises(ValueError, match=r"^This (is not a snapshot of a recording|snapshot has 40000 rows)"):
        Replay(sent)


def test_no_array_is_made_of_its_shapes():
    sent = build_snapshot()
    for row in sent["rows"]:
        row["shape"] = [10**6] * 5
    for step in sent["sweep"]["steps"]:
        step.pop("others", None)
    assert Replay(sent).snapshot()["rows"][0]["shape"] == [10**6] * 5
    render_pictures(Replay(sent))


def test_long_names_are_cut_and_bring_no_markup():
    sent = build_snapshot()
    for row in sent["rows"]:
        row.update(
            name="<script>" + "n" * 1_000_000,
            label="<script>" + "l" * 1_000_000,
            op="o" * 1_000_000,
            scope=["s" * 1_000_000],
        )
    svg, dot, alt, html, *_, kept = render_pictures(Replay(sent))
    assert max(map(len, (svg, dot, alt, html, kept))) < 30_000
    assert "<script" not in svg + html


def test_names_that_another_framework_gave_are_cut_too():
    recording = Recording("by hand")
    recording.add_leaf(1.0, name="n" * 1_000_000)
    recording.close()
    assert len(recording.snapshot()["rows"][0]["name"]) == 200
