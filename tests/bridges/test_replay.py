"""A recording that comes back from its snapshot: the same picture, without the framework."""

import json

import numpy as np
import pytest

import minitape as tf
from minitape.bridges import Recording, Replay
from minitape.course.framework_programs import FOLDER, FRAMEWORK_NAMES, load_program
from minitape_widgets import TapeView
from tests.course.record_programs import record_program


def build_full_recording():
    """With all that a row can have, two results of one call, and a second backward pass."""
    recording = Recording("by hand")
    x = recording.add_leaf(np.array([3.0, np.nan]), name="x", shape=(2,), dtype="float64", site=("<replayed>", 1))
    w = recording.add_leaf(2.0, name="w", kind="variable", version=1)
    c = recording.add_leaf(np.zeros(100), kind="constant", tracked=False)
    parts = [
        recording.add_operation("split", [x, w], v, call_id=3, output=k, shape=(), scope=("net",))
        for k, v in enumerate((3.0, 4.0))
    ]
    y = recording.add_operation("mul", [parts[0], c], 6.0, label="×", site=("<replayed>", 2))
    recording.add_operation("floor", [y], 6.0, tracked=False, cut="nondifferentiable")
    recording.events.append({"kind": "assign", "name": "w", "from": 1, "to": 1, "line": 5})
    recording.add_backward_pass([w]).set_adjoint(w, 5.0)
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, 1.0)
    sweep.send(y, parts[0], 0, 2.0, 2.0)
    sweep.set_adjoint(parts[0], 2.0)
    sweep.send(parts[0], x, 0, np.ones(2), np.ones(2))
    sweep.set_adjoint(x, np.ones(2))
    recording.close()
    return recording


def strip_identity_fields(snapshot):
    """Without the recording's number, its name in this test, and what earlier passes gave: one pass is kept."""
    return snapshot | {
        "results": snapshot["results"][-1:],
        "record": "",
        "tapes": [tape | {"name": ""} for tape in snapshot["tapes"]],
    }


def test_a_snapshot_comes_back_from_json():
    recording = build_full_recording()
    replay = Replay(json.loads(json.dumps(recording.snapshot())), "by hand")
    there, here = recording.snapshot(), replay.snapshot()
    assert strip_identity_fields(here) == strip_identity_fields(there)
    assert tf.draw(replay).svg == tf.draw(recording).svg
    assert repr(TapeView(replay)) == repr(TapeView(recording))
    assert repr(replay) == "Recording(by hand, 7 rows, 1 backward pass)"


def test_a_recording_without_a_backward_pass_comes_back_too():
    recording = Recording("by hand")
    recording.add_leaf(3.0, name="x")
    recording.close()
    assert Replay(recording.snapshot()).snapshot()["sweep"] is None


def test_the_text_of_the_program_comes_along():
    recording = Recording("by hand")
    recording.add_leaf(3.0, name="x", site=("<elsewhere>", 1))
    recording.close()
    snapshot = recording.snapshot() | {"sources_text": {"<elsewhere>": "x = 3.0\n"}}
    assert Replay(snapshot).snapshot()["sources_text"] == {"<elsewhere>": "x = 3.0\n"}


def test_what_cannot_be_read_says_so():
    snapshot = build_full_recording().snapshot()
    with pytest.raises(ValueError, match="has version 2, but Replay reads only version 1"):
        Replay(snapshot | {"version": 2})
    with pytest.raises(ValueError, match="has 3 rows of 7"):
        Replay(snapshot | {"rows": snapshot["rows"][:3]})
    assert not hasattr(Replay(snapshot, "by hand"), "explain")  # which needs to know the framework


@pytest.mark.parametrize("name", FRAMEWORK_NAMES)
def test_what_the_lesson_keeps_is_what_the_framework_does_today(name, capsys):
    module = name.partition("_")[0]
    pytest.importorskip(module, reason=f"{FRAMEWORK_NAMES[name]} is not installed: pip install 'minitape[{module}]'")
    today, then = record_program(name), load_program(name)
    written = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert today["why"] == written["why"], (
        f"write it anew: python -m tests.course.record_programs {name}; minitape save notebooks/en/14*.ipynb"
    )
    shown = [
        [(row["name"], row["op"], row["label"], row["line"]) for row in told["snapshot"]["rows"]]
        for told in (today, written)
    ]
    assert shown[0] == shown[1], f"write it anew: python -m tests.course.record_programs {name}"
    gradients = [
        [None if g is None else g["data"] for g in s["sweep"]["gradients"]]
        for s in (today["snapshot"], then.recording.snapshot())
    ]
    for new, old in zip(*gradients, strict=True):
        assert (new is None) == (old is None)
        assert old is None or np.allclose(new, old, rtol=1e-5)
    values = [
        {(r["line"], r["value"]["text"]) for r in s["rows"] if r["cut"]}
        for s in (today["snapshot"], then.recording.snapshot())
    ]
    assert values[0] == values[1]
    assert str(then.why).partition(":")[0] in capsys.readouterr().out
