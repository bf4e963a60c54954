"""TapeView's Python side: what it sends, and that it disturbs nothing."""

import base64
import gc
import hashlib
import json
import re
import subprocess
import sys
import threading
import weakref
import zlib
from pathlib import Path

import numpy as np
import pytest

import minitape as tf
from minitape.cli.server import LAB_EXTENSIONS
from minitape.picture import recomputed_values
from minitape.picture.source import TapeSource
from minitape_widgets import TapeView, live_updates, wire_format
from minitape_widgets import view as view_module
from minitape_widgets.front_end import BUNDLE
from minitape_widgets.saved_page import build_html_page

from .conftest import square

FRONT_END = Path(__file__).parents[2] / "widgets" / "frontend"


@pytest.fixture
def sent(monkeypatch):
    """The snapshots that new views send, decoded; no thread is started; that of a test before looks at none of them,
    but may still send for its own.
    """
    found, before = [], set(live_updates._views)

    def send(self, content, buffers=None):
        if self not in before:
            found.append((content, buffers))

    monkeypatch.setattr(live_updates, "notify_sending_thread", lambda: None)
    monkeypatch.setattr(live_updates, "_send_news_of_all_views", lambda: False)
    monkeypatch.setattr(TapeView, "send", send)
    return found


def decoded(sent):
    return [wire_format.decode_snapshot(buffers[0]) for _, buffers in sent if buffers]


def hash_of(*folders):
    """The hash of all files of these folders of the front end's sources, as build.mjs computes it."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted((FRONT_END / folder).iterdir(), key=lambda f: f.name):
            digest.update(f"{file.name}\n".encode())
            digest.update(file.read_text(encoding="utf-8").replace("\r\n", "\n").encode())
    return digest.hexdigest()[:16]


def test_the_bundles_are_those_of_the_sources():
    first = BUNDLE.read_text(encoding="utf-8").splitlines()[0]
    view_hash = hash_of("evaluator", "src")
    assert first == f"/* minitape TapeView, source {view_hash} */", "run `npm run build` in widgets/frontend"
    (extension,) = Path(LAB_EXTENSIONS).rglob("remoteEntry.*.js")
    assert extension.name == f"remoteEntry.{hash_of('lab')}.js", "run `npm run build` in widgets/frontend"


def test_the_bundle_is_small():
    assert len(BUNDLE.read_bytes()) <= 256_000


def test_the_bundle_calls_nothing_from_elsewhere():
    addresses = set(re.findall(r"https?://[\w./-]+", BUNDLE.read_text(encoding="utf-8")))
    assert addresses <= {"http://www.w3.org/2000/svg"}


def test_the_text_is_the_same_every_time():
    tape, y, x = square()
    assert repr(TapeView(tape)) == "TapeView(2 rows, 1 tape)"
    bundle = TapeView(tape, y, x)._repr_mimebundle_()[0]
    assert bundle["text/plain"] == "TapeView(2 rows, 1 tape)"
    assert bundle["text/html"] == TapeView(tape, y, x)._repr_mimebundle_()[0]["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_something_else_is_refused():
    with pytest.raises(TypeError, match=r"TapeView takes a tf.GradientTape, but received 3 of type 'int'"):
        TapeView(3)


def test_packing_keeps_every_field(program):
    snapshot = tf.snapshot(*program)
    view = TapeView(*program)
    again = wire_format.decode_snapshot(view._wire)
    again["sweep"].pop("id")
    assert again["rows"] == snapshot["rows"] and again["sweep"] == snapshot["sweep"]
    again = view._build_snapshot()
    again["sweep"].pop("id")
    assert again["rows"] == snapshot["rows"] and again["sweep"] == snapshot["sweep"]


def test_rows_are_sent_once_in_order_and_then_the_sweep(sent):
    x = tf.Variable(2.0, name="x")
    tape = tf.GradientTape()
    view = TapeView(tape)
    with tape:
        y = x * x
        live_updates.flush_view(view)
        for _ in range(5):
            y = tf.sin(y) * x
            live_updates.flush_view(view)
    g = tape.gradient(y, x)
    live_updates.flush_view(view)
    parts = decoded(sent)
    rows = [row for part in parts for row in part["rows"]]
    assert [row["row"] for row in rows] == list(range(12))
    assert not any("sweep" in part for part in parts[:-1])
    assert parts[-1]["sweep"]["gradients"][0]["text"] == str(g.numpy())
    assert parts[-1]["tapes"][0]["state"] == "used"


def test_rows_are_sent_also_where_a_static_picture_read_them_before(sent):
    """A cell that ends at once: its output is drawn anew before the thread of the views looks."""
    x = tf.Variable(2.0, name="x")
    tape = tf.GradientTape()
    view = TapeView(tape)
    with tape:
        y = tf.sin(x * x)  # noqa: F841 - a name for a row
    view.build_mime_bundle()
    live_updates.flush_view(view)
    assert [row["row"] for part in decoded(sent) for row in part["rows"]] == [0, 1, 2]
    view.build_mime_bundle()
    before = len(sent)
    live_updates.flush_view(view)
    assert len(sent) == before


def test_the_sweep_is_sent_also_where_a_static_picture_is_drawn_at_the_same_time(sent, monkeypatch):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    view = TapeView(tape)
    with tape:
        y = x * x
    tape.gradient(y, x)
    thread = threading.Thread(target=live_updates.flush_view, args=[view])
    read = TapeSource.list_results_of_gradient_calls

    def slow(*arguments, **options):
        monkeypatch.setattr(TapeSource, "list_results_of_gradient_calls", read)
        thread.start()
        thread.join(0.2)  # it sends what it finds, or waits for the picture
        return read(*arguments, **options)

    monkeypatch.setattr(TapeSource, "list_results_of_gradient_calls", slow)
    view._repr_mimebundle_()
    thread.join()
    assert [step["row"] for step in decoded(sent)[-1]["sweep"]["steps"]] == [1]


def test_the_optimizers_step_is_sent_when_it_is_done(sent):
    """Also where the static picture, or a page, read it before; while a training goes on nothing is sent for each of
    its steps.
    """
    w, b = tf.Variable(2.0, name="w"), tf.Variable(1.0, name="b")
    with tf.GradientTape() as tape:
        y = w * w * b
    view = TapeView(tape)
    gradients = tape.gradient(y, [w, b])
    live_updates.flush_view(view)
    before = len(sent)
    for variable, gradient in zip([w, b], gradients, strict=True):
        variable.assign_sub(0.1 * gradient)
        view.send_news(None)  # it may look between two of the variables
    assert len(sent) == before
    view._build_snapshot()
    live_updates.flush_view(view)
    (part,) = decoded(sent[before:])
    assert [source["now"]["data"] for source in part["results"][0]["sources"]] == [w.numpy(), b.numpy()]
    for _ in range(50):
        w.assign_sub(0.01)
        view.send_news(None)
    assert len(sent) == before + 1
    for _ in range(3):
        view.send_news(None)
    assert decoded(sent)[-1]["results"][0]["sources"][0]["assigned"] == 51 and len(sent) == before + 2


def test_what_is_asked_again_is_sent_again(sent):
    tape, y, x = square()
    view = TapeView(tape, y, x)
    view.on_request(view, {"kind": "need", "record": view._reader.record_name, "since": 1}, [])
    view.on_request(view, {"kind": "need", "record": "another", "since": 7}, [])
    view.on_request(view, {"kind": "need", "record": view._reader.record_name, "since": 2, "sequence": 2}, [])
    view.on_request(view, "nonsense", [])
    assert [(part["first"], len(part["rows"])) for part in decoded(sent)] == [(1, 1), (0, 2)]
    view.on_request(
        view, {"kind": "need", "record": view._reader.record_name, "since": 2, "sequence": 1}, []
    )  # the last was lost
    assert decoded(sent)[-1]["sweep"] is not None and decoded(sent)[-1]["rows"] == []
    view.on_request(view, {"kind": "need", "record": view._reader.record_name, "since": 2, "sequence": 3}, [])
    assert sent[-1][0] == {"kind": "all", "sequence": 3}


def test_a_leaf_that_is_watched_late_is_told(sent):
    x = tf.constant(2.0)
    w = tf.Variable(1.0)
    tape = tf.GradientTape()
    view = TapeView(tape)
    with tape:
        y = w * x
        live_updates.flush_view(view)
        tape.watch(x)
        y = y * x
    live_updates.flush_view(view)
    changes = [change for part in decoded(sent) for change in part["changed"]]
    assert {"row": 1, "watched": "explicit", "kind": "source", "tapes": [0]} in changes


def test_arrays_that_a_used_tape_released_are_still_swept(sent):
    w = tf.Variable(np.linspace(0, 1, 400).astype(np.float32))
    tape = tf.GradientTape()
    view = TapeView(tape)
    with tape:
        y = tf.reduce_sum(tf.sin(w * w))
    g = tape.gradient(y, w)
    assert y.shape == ()
    live_updates.flush_view(view)
    shown = decoded(sent)[-1]["sweep"]["gradients"][0]
    assert shown["stats"]["max"] == pytest.approx(float(np.max(g.numpy())), rel=1e-6)


def used(size):
    """A tape that gave its gradient before anybody looked at it."""
    w = tf.Variable(np.linspace(0, 1, size * size).reshape(size, size).astype(np.float32), name="w")
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.sin(w @ w))
    return tape, tape.gradient(y, w).numpy()


@pytest.mark.parametrize("again, seen", [(None, True), (True, True), (False, False)])
def test_a_used_tape_is_computed_again(again, seen):
    tape, gradient = used(80)
    shown = wire_format.decode_snapshot(TapeView(tape, again=again)._wire)
    assert [row["released"] for row in shown["rows"]] == [False, not seen, not seen, False]
    if not seen:
        assert shown["sweep"] is None
        return
    result = shown["sweep"]["gradients"][0]["stats"]
    assert result["max"] == pytest.approx(float(gradient.max()), rel=1e-6)
    assert result["mean"] == pytest.approx(float(gradient.mean()), rel=1e-5)


def test_a_large_used_tape_is_computed_again_when_somebody_asks(sent, monkeypatch):
    monkeypatch.setattr(recomputed_values, "MAX_BYTES", 1000)
    tape, gradient = used(80)
    view = TapeView(tape)
    assert wire_format.decode_snapshot(view._wire)["sweep"] is None
    view.on_request(view, {"kind": "again"}, [])
    shown = decoded(sent)[-1]
    assert sent[-1][0]["replace"]
    assert shown["results"][0]["sources"][0]["gradient"]["stats"]["min"] == pytest.approx(
        float(gradient.min()), rel=1e-6
    )


def test_what_python_computed_is_not_run_again():
    calls = []

    def noted(x):
        calls.append(1)
        return tf.sin(x)

    w = tf.Variable(np.ones((80, 80), np.float32))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.py_function(noted, [w], tf.float32))
    tape.gradient(y, w)
    before = len(calls)
    assert wire_format.decode_snapshot(TapeView(tape, again=True)._wire)["rows"][2]["released"]
    assert len(calls) == before


def test_the_results_are_those_of_every_gradient_call(nothing_has_left_yet):
    v, u = tf.Variable(2.0, name="v"), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        y = v * 3.0
        v.assign_add(1.0)
        z = y * v
    first, second = tape.gradient(y, v), tape.gradient(z, [v, u])
    found = wire_format.decode_snapshot(TapeView(tape)._wire)["results"]
    assert [[end["name"] for end in call["target"]] for call in found] == [["y"], ["z"]]
    assert found[0]["sources"][0]["gradient"]["text"] == str(first.numpy())
    total, none = found[1]["sources"]
    assert (total["name"], total["gradient"]["text"]) == ("v", str(second[0].numpy()))
    assert [part["text"] for part in total["parts"]] == ["9.0", "6.0"]
    expected = tape.explain(z, u)
    assert (none["name"], none["gradient"], none["reason"]) == ("u", None, f"{expected.message} {expected.fix}")


def test_reading_in_another_thread_misses_nothing(sent):
    x, w = tf.Variable(1.0), tf.Variable(0.9999)
    tape = tf.GradientTape()
    view = TapeView(tape)
    done = threading.Event()

    def read():
        while not done.is_set():
            view.send_news(500)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with tape:
            y, turns = x * w, 0
            while turns < 20_000 or (len(sent) < 4 and turns < 1_000_000):  # until the other thread had its turns
                y, turns = y * w + x, turns + 1
    finally:
        done.set()
        reader.join()
    live_updates.flush_view(view)
    rows = [row for part in decoded(sent) for row in part["rows"]]
    assert [row["row"] for row in rows] == list(range(2 * turns + 3))
    assert rows[-1]["value"]["text"] == str(y.numpy())
    assert len(decoded(sent)) > 3


def test_the_thread_ends_by_itself_and_starts_again(monkeypatch):
    monkeypatch.setattr(live_updates, "TURN_SECONDS", 0.001)
    monkeypatch.setattr(live_updates, "MAX_QUIET_TURNS", 3)
    tape, y, x = square()
    view = TapeView(tape)
    live_updates._thread[0].join(10) if live_updates._thread else None
    assert not live_updates._thread
    tape.gradient(y, x)
    for thread in list(live_updates._thread):
        thread.join(10)
    assert view._sweep_follower.sweep is not None


def test_a_view_that_is_made_while_the_others_are_read_does_not_stop_the_thread(monkeypatch):
    first, second = TapeView(tf.GradientTape()), TapeView(tf.GradientTape())
    other = threading.Thread(target=live_updates.keep_view_updated, args=(second,))

    class Views(weakref.WeakSet):
        def __iter__(self):
            for view in super().__iter__():
                if other.ident is None:
                    other.start()
                    other.join(0.1)  # it may have to wait
                yield view

    monkeypatch.setattr(live_updates, "_views", Views([first]))
    live_updates._send_news_of_all_views()
    other.join()
    assert set(live_updates._views) == {first, second}


def test_an_error_in_a_view_never_reaches_the_program(sent, monkeypatch):
    tape = tf.GradientTape()
    view = TapeView(tape)
    monkeypatch.setattr(view, "send_news", lambda limit: 1 / 0)
    with tape:
        y = tf.Variable(1.0) * 2.0
    assert live_updates._send_news_of_all_views() in (True, False)
    assert y.numpy() == 2.0


def test_importing_the_engine_loads_no_widgets():
    heavy = ("ipywidgets", "anywidget", "numba")
    code = f"import sys, minitape as tf; tf.draw; tf.snapshot; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_interact_moves_the_variable_and_says_what_went_wrong(sent):
    x = tf.Variable(3.0, name="x")
    view = TapeView.interact(lambda: tf.sqrt(x) if x.numpy() > -4 else 1 / 0, x, -5, 5)
    view.on_request(view, {"kind": "run", "values": [4.0]}, [])
    assert x.numpy() == 4.0
    assert decoded(sent)[-1]["sweep"]["gradients"][0]["text"] == "0.25"
    assert sent[-1][0] == {"kind": "ran", "error": ""}
    view.on_request(view, {"kind": "run", "values": [-5.0]}, [])
    assert sent[-1][0] == {"kind": "ran", "error": "ZeroDivisionError: division by zero"}


def test_why_no_gradient_flows_is_said_in_the_engines_words(sent):
    x, w = tf.constant(3.0), tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        y = w * x
    view = TapeView(tape, y, w)
    rows = {row["kind"]: row["row"] for row in tf.snapshot(tape)["rows"]}
    view.on_request(view, {"kind": "explain", "source": rows["constant"], "target": rows["operation"], "ask": 0}, [])
    expected = tape.explain(y, x)
    assert sent[-1][0] == {"kind": "explained", "ask": 0, "text": f"{expected.message} {expected.fix}"}
    view.on_request(view, {"kind": "explain", "source": rows["variable"], "target": rows["operation"], "ask": 1}, [])
    assert sent[-1][0]["text"] == ""


def test_interact_refuses_what_it_can_not_move():
    with pytest.raises(ValueError, match=r"moves a variable with one number, but v:0 has shape \(2,\)"):
        TapeView.interact(lambda: None, tf.Variable([1.0, 2.0], name="v"))
    with pytest.raises(TypeError, match=r"moves a tf.Variable, but received 3"):
        TapeView.interact(lambda: None, 3)
    for wrong in (3, lambda v: v * v):
        with pytest.raises(TypeError, match="takes a function that reads the variables and has no arguments"):
            TapeView.interact(wrong, tf.Variable(1.0))
    with pytest.raises(ValueError, match="from low to high, but received low=5 and high=-5"):
        TapeView.interact(lambda: None, tf.Variable(1.0), 5, -5)


def test_a_page_holds_no_live_markup_from_the_program():
    v = tf.Variable(1.0, name="</script><script>alert(1)</script>")
    with tf.GradientTape() as tape:
        y = v * 2.0
    text = build_html_page(tf.snapshot(tape, y, v))
    assert text.count("</script>") == 3


def test_save_writes_a_page_or_a_picture(tmp_path):
    tape, y, x = square()
    view = TapeView(tape, y, x)
    view.save(tmp_path / "a.html")
    view.save(tmp_path / "a.svg")
    assert (tmp_path / "a.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_very_long_page_is_written_row_by_row_and_holds_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(view_module, "MAX_CHECKED_ROWS", 100)
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(2 * view_module.MAX_CHECKED_ROWS):
            y = y * 0.999 + x
    tape.gradient(y, x)
    view = TapeView(tape)
    view.save(tmp_path / "long.html")
    packed = re.search(r'id="data" data-packed>([^<]*)<', (tmp_path / "long.html").read_text(encoding="utf-8"))
    held = json.loads(zlib.decompress(base64.b64decode(packed[1])))
    whole = json.loads(json.dumps(view._build_snapshot()))
    assert held.pop("insides") is not None and held == whole


def pages(sent):
    """The pages of steps that were sent."""
    return [json.loads(zlib.decompress(buffers[0])) for content, buffers in sent if content["kind"] == "steps"]


def test_a_long_sweep_is_sent_page_by_page_when_it_is_asked_for(sent, monkeypatch):
    monkeypatch.setattr("minitape_widgets.view_sweep.MAX_EAGER_ROWS", 50)
    monkeypatch.setattr("minitape_widgets.view_sweep.STEPS_PER_PAGE", 30)
    x = tf.Variable(1.1, name="x")
    tape = tf.GradientTape()
    view = TapeView(tape)
    with tape:
        y = x * 1.0
        for _ in range(40):
            y = tf.sin(y) * x
    g = tape.gradient(y, x)
    live_updates.flush_view(view)
    sweep = decoded([message for message in sent if message[0]["kind"] == "rows"])[-1]["sweep"]
    assert (sweep["rest"], sweep["steps"], pages(sent)) == (83, [], [])
    view.on_request(view, {"kind": "sweep"}, [])
    live_updates.flush_view(view)
    found = pages(sent)
    assert [(page["first"], len(page["steps"]["row"]), page["rest"]) for page in found] == [
        (0, 30, 53),
        (30, 30, 23),
        (60, 21, 0),
    ]
    whole = tf.snapshot(tape)["sweep"]
    assert [step for page in found for step in wire_format.unpack_steps(page["steps"])] == whole["steps"]
    assert found[-1]["gradients"] == [f"~{g.numpy()!s}"]
    before = len(found)
    lost = {
        "kind": "need",
        "record": view._reader.record_name,
        "since": len(view._rows),
        "sweep": sweep["id"],
        "steps": 30,
    }
    view.on_request(view, lost, [])
    assert pages(sent)[before:] == found[1:]


def test_a_very_long_tape_is_cut_off_and_says_so(sent, monkeypatch):
    monkeypatch.setattr("minitape_widgets.view.MAX_ROWS", 50)
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(100):
            y = y * x
    view = TapeView(tape)
    shown = wire_format.decode_snapshot(view._wire)
    assert len(shown["rows"]) == 50 and shown["total"] == 103
    live_updates.flush_view(view)
    assert decoded(sent) == []


def test_a_view_keeps_nothing_of_the_functions_around_it():
    class Held:
        pass

    def inner():
        with tf.GradientTape() as tape:
            x = tf.Variable(1.0)
            x * x
        return TapeView(tape)

    def outer():
        held = Held()
        return inner(), weakref.ref(held)

    view, held = outer()
    gc.collect()
    assert held() is None and "2 rows" in repr(view)
