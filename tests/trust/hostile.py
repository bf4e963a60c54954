"""Reads files that were written to do harm, and says what happened meanwhile that reading data does not need.

Run as a program in an empty folder: it prints a JSON object, for each kind of file what was seen (an empty list if all is well),
and under "read" how many were read. It is a process of its own, because an audit hook stays for good.

    python tests/trust/hostile.py                 the same few hundred files each time
    python tests/trust/hostile.py --part 0.25     a quarter of them
    python tests/trust/hostile.py --minutes 10    others each time, for so long for each kind of file
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import importlib
import importlib.util
import io
import json
import linecache
import os
import pkgutil
import sys
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

import minitape as tf
import minitape_widgets.page
import minitape_widgets.wire
from minitape import course
from minitape.course.progress import last_lesson
from minitape.engine.primitives import load_all

K = tf.keras
FOLDER, OUTSIDE = Path("given").absolute(), Path("outside").absolute()
SECRET = OUTSIDE / "secret.txt"
SIGN = "carried_out"  # what nothing may call, look up or write

# -- what is seen -----------------------------------------------------------------------------------------------------

seen: list[str] = []
watching: list[Path] = []  # the folder that may be opened, while a file is read
HARMLESS = {"sys._getframe", "sys._getframemodulename", "builtins.id", "object.__getattr__", "array.__new__"}
ON_FILES = {"open", "os.chmod", "os.listdir", "os.scandir", "os.walk", "os.rename", "glob.glob", "glob.glob/2", "pathlib.Path.glob"}


def hook(event: str, args: tuple[Any, ...]) -> None:
    """Notes what is neither harmless nor the compilation of minitape's own formulas."""
    if not watching or event.startswith("gc."):
        return
    allowed, watching[:] = watching[0], []  # what is done here is not looked at
    try:
        if event in ON_FILES:
            named = args[:2] if event == "os.rename" else args[:1]
            fine = all(_inside(path, allowed) for path in named if isinstance(path, (str, bytes, os.PathLike)))
        elif event == "compile":  # NumPy reads the header of an array as a literal
            fine = args[1] in ("<unknown>", b"<unknown>") or (str(args[1]).startswith("<formula ") and SIGN not in repr(args))
        elif event == "exec":
            fine = args[0].co_filename.startswith("<formula ")
        else:
            fine = event in HARMLESS
        if not fine:
            seen.append(f"{event} {args!r}"[:300])
    finally:
        watching[:] = [allowed]


def _inside(path: Any, folder: Path) -> bool:
    return Path(os.path.realpath(os.fsdecode(path))).is_relative_to(os.path.realpath(folder))


class Lure:
    """Stands in every module under a name that is not public: whoever finds it by name went where no file may lead."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        seen.append("a class was found by a name that is not public")

    @classmethod
    def from_config(cls, config: Any) -> Lure:
        return cls()

    def get_config(self) -> dict[str, Any]:
        return {}


def lay_out_lures() -> None:
    """Puts lures into the modules, and attributes that tell who looks at them onto tensors, variables and layers."""
    for module in [m for name, m in sys.modules.items() if name.startswith("minitape")]:
        vars(module)[SIGN] = Lure
    from minitape.keras.symbolic import KerasTensor

    told = property(lambda self: seen.append("an attribute was found by a name in a file"))
    for kind in (tf.Tensor, tf.Variable, K.layers.Layer, KerasTensor):
        for name in (SIGN, f"__{SIGN}__"):
            setattr(kind, name, told)


@contextlib.contextmanager
def watched(folder: Path = FOLDER) -> Iterator[None]:
    """In the block files are read; errors are all right, whatever they are."""
    watching[:] = [folder]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    except Exception:
        pass
    finally:
        watching[:] = []


# -- what is written into the files -----------------------------------------------------------------------------------

CODE = f"open({str(OUTSIDE / SIGN)!r}, 'w')"
MODULES = sorted({m.name for m in pkgutil.walk_packages(tf.__path__, "minitape.")} - {"minitape.__main__"})
NEAR = [name for name in MODULES if name.startswith("minitape.keras.operations")]  # where a prefix would lead
modules = st.sampled_from(NEAR) | st.sampled_from([*MODULES, "os", "builtins", "subprocess", "keras.src.saving", "keras.utils", "numpy", ""])
attributes = st.sampled_from([SIGN, f"__{SIGN}__"]) | st.sampled_from(
    ["system", "eval", "exec", "_define", "find", "install", "load", "load_model", "get_file", "__class__",
     "__init_subclass__", "__reduce__", "__globals__", "__getattribute__", "_numpy", "Any", "Configured", "<lambda>", "lambda x: x",
     *dir(K.ops)[::40], *dir(K.layers)[::20], "Lambda", "StringLookup", "TextVectorization", "Functional", "Step"]
)  # fmt: skip
joined = st.tuples(modules, st.sampled_from([":", ".", ">", "/"]), attributes).map("".join)
paths = st.sampled_from(
    [str(SECRET), os.path.relpath(SECRET, FOLDER), f"file://{SECRET}", "../../etc/passwd", "/etc/passwd", f"{SECRET}\0", "C:\\x", "~/x"]
)
texts = st.one_of(modules, attributes, joined, paths, st.sampled_from([CODE, f"__import__('os').mkdir({CODE!r})", "{0.__class__}"]))
numbers = st.sampled_from([None, True, 0, 1, 2, 3, -1, 0.5, float("nan")])
KEYS = ("class_name module registered_name config name what args kwargs function vocabulary code value dtype __input__ __slice__ "
        "__array__ __ellipsis__ build_shape kind compiled layers output_shape").split()  # fmt: skip


def objects(inner: Any) -> Any:
    """What Keras, or minitape, could take for a description of an object."""
    classes = st.fixed_dictionaries({"class_name": attributes | st.sampled_from(["__lambda__", "function", "__numpy__"]), "config": inner},
                                    optional={"module": modules, "registered_name": joined})  # fmt: skip
    calls = st.fixed_dictionaries({"what": attributes | joined, "args": st.lists(inner, max_size=3), "kwargs": st.just({})})
    code = st.just({"class_name": "__lambda__", "config": {"code": CODE, "value": CODE, "defaults": None, "closure": None}})
    return classes | calls | code | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3) | st.lists(inner, max_size=3)


evil = st.recursive(texts | numbers, objects, max_leaves=5)
named = st.sampled_from(NEAR).map(f"{{}}:{SIGN}".format) | attributes
aimed = st.tuples(st.integers(0, 10**6), st.just("aim"), st.just("what"), named)
aimed |= st.tuples(st.integers(0, 10**6), st.just("aim"), st.sampled_from(["vocabulary", "activation", "function"]), paths | named)
aimed |= st.tuples(st.integers(0, 10**6), st.just("aim"), st.sampled_from(KEYS), texts)
blind = st.tuples(st.integers(0, 10**6), st.sampled_from(["replace", "add", "wrap"]), st.sampled_from(KEYS), evil)
changes = st.lists(aimed | blind, min_size=1, max_size=3)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a structure, with each of its keys."""
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, inner in items:
        yield value, key
        yield from places(inner)


def changed(text: str, how: Any) -> Any:
    """A structure of JSON in which somebody replaced some parts."""
    about = json.loads(text)
    for at, what, name, value in how:
        value = copy.deepcopy(value)  # else a part could come to hold itself
        known = list(places(about))
        known = [place for place in known if what == "aim" and place[1] == name] or known
        holder, key = known[at % len(known)]
        if what == "add" and isinstance(holder[key], dict):
            holder[key][name] = value
        elif what == "wrap":
            holder[key] = {"class_name": name, "module": "keras.layers", "config": holder[key]}
        else:
            holder[key] = value
    return about


# -- the readers ------------------------------------------------------------------------------------------------------


@K.utils.register_keras_serializable("trust")
def gap(y_true: Any, y_pred: Any) -> Any:
    """A function of the user."""
    return tf.reduce_mean(abs(y_true - y_pred), axis=-1)


def models() -> list[Any]:
    """Models that have something of each kind in them."""
    layers, x = K.layers, K.Input((3, 2))
    first = K.Model(x, [K.ops.exp2(x) + 1.0, x[:, 0], K.ops.mean(layers.Bidirectional(layers.LSTM(2))(x)), x.cast("int32"),
                        K.ops.add(x, np.ones(2, np.float32))])  # fmt: skip
    second = K.Sequential([K.Input((2,)), layers.Dense(2, "relu", kernel_regularizer="l2", kernel_initializer="ones")])
    second.add(layers.Dense(1, kernel_constraint="non_neg"))
    rate = K.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    second.compile(K.optimizers.Adam(rate), K.losses.Huber(0.5), metrics=[gap, "mse", K.metrics.MeanAbsoluteError(name="m")])
    second.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0)
    words = layers.TextVectorization(output_sequence_length=3, vocabulary=["a", "b"])
    third = K.Sequential([K.Input((1,), dtype="string"), words, layers.Embedding(9, 2)])
    fourth = K.Sequential([K.Input((1,), dtype="string"), layers.StringLookup(vocabulary=["a"]), layers.Lambda(untouched)])
    return [first, second, third, fourth]


@K.utils.register_keras_serializable("trust")
def untouched(x: Any) -> Any:
    """A function of the user for a Lambda layer."""
    return x


def archive_of(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file that minitape wrote."""
    with np.load(path) as archive:
        return dict(archive)


MODEL = FOLDER / "model.keras"
SAVED: list[tuple[str, dict[str, np.ndarray]]] = []


def write_models() -> None:
    """Fills ``SAVED``, and loads each model once: what is loaded lazily is there from then on."""
    for model in models():
        model.save(MODEL)
        K.models.load_model(MODEL)
        K.models.model_from_json(model.to_json())
        arrays = archive_of(MODEL)
        SAVED.append((str(arrays.pop("about")), arrays))


number = st.integers(0, 4)


def chosen(which: int, how: Any) -> tuple[str, dict[str, np.ndarray]]:
    """One of the saved models: one that says what is to be changed first."""
    able = [saved for saved in SAVED if f'"{how[0][2]}": ' in saved[0]] or SAVED
    return able[which % len(able)]


def models_with_other_descriptions(which: int, how: Any, safe_mode: bool) -> None:
    """``load_model`` and ``model_from_json``."""
    text, arrays = chosen(which, how)
    about = json.dumps(changed(text, how))
    with open(MODEL, "wb") as file:
        np.savez(file, about=np.array(about), **arrays)
    with watched():
        K.models.load_model(MODEL, safe_mode=safe_mode if SECRET.name not in about and "passwd" not in about else True)
    with watched():
        K.models.model_from_json(about)


def configurations(which: int, how: Any, value: Any) -> None:
    """``from_config``, ``deserialize`` and ``get`` of every kind of object."""
    about = changed(chosen(which, how)[0], how)
    for config in (about, about.get("config") if isinstance(about, dict) else about):
        for kind in (K.Model, K.Sequential):
            with watched():
                kind.from_config(config)
    layers = K.layers
    for read in (layers.deserialize, K.utils.deserialize_keras_object, layers.Lambda.from_config, layers.StringLookup.from_config,
                 layers.TextVectorization.from_config, layers.Bidirectional.from_config, layers.RNN.from_config, layers.Activation,
                 K.optimizers.get, K.optimizers.SGD.from_config, K.losses.get, K.metrics.get, K.initializers.get,
                 K.initializers.deserialize, K.regularizers.get, K.regularizers.deserialize, K.constraints.get,
                 K.constraints.deserialize, K.activations.get, K.activations.deserialize):  # fmt: skip
        forms = (value, {"vocabulary": value}, {"function": value}, {"layer": value, "cell": value}, {"learning_rate": value})
        for form in forms[: 5 if "from_config" in getattr(read, "__qualname__", "") else 1]:
            with watched():
                read(form)


class Pickled:
    """What a pickle would run."""

    def __reduce__(self) -> Any:
        return exec, (CODE,)


MEMBERS = st.sampled_from(
    ["0.npy", "about.npy", "optimizer_0.npy", "_CHECKPOINTABLE_OBJECT_GRAPH.npy", "v/.ATTRIBUTES/VARIABLE_VALUE.npy", "0", "about",
     f"../{SIGN}.npy", f"{OUTSIDE / SIGN}.npy", f"..\\{SIGN}.npy", "1.npy"]
)  # fmt: skip


def member(value: Any) -> bytes:
    """The bytes of a member of an archive."""
    if isinstance(value, bytes):
        return value
    out = io.BytesIO()
    np.save(out, value, allow_pickle=True)
    return out.getvalue()


contents = st.one_of(
    st.sampled_from([np.array([Pickled()], object), np.ones((2, 2), np.float32), np.array(1), np.array("[[null, {}]]"), np.array(["x"])]),
    st.binary(max_size=30),
    texts.map(lambda text: b"\x93NUMPY\x01\x00" + len(text.encode()).to_bytes(2, "little") + text.encode()),
    texts.map(lambda text: member(np.array(text))),
)


def archives(members: Any, cut: int | None, link: bool) -> None:
    """Every reader of arrays: weights, models and checkpoints."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w") as archive:
        for name, value in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = 0o120777 << 16 if link else 0
            archive.writestr(info, member(value))
    data = out.getvalue()[:cut]
    if len(members) == 1:
        data = member(members[0][1])  # no archive, but an array or nothing of the kind
    weights = FOLDER / "x.weights.h5"
    for path in (MODEL, weights, FOLDER / "ckpt-1.index"):
        path.write_bytes(data)
    model = K.Sequential([K.Input((2,)), K.layers.Dense(1)])
    v = tf.Variable(1.0)
    for read in (lambda: K.models.load_model(MODEL), lambda: model.load_weights(weights),
                 lambda: tf.train.Checkpoint(v=v).restore(FOLDER / "ckpt-1"), lambda: tf.train.list_variables(FOLDER / "ckpt-1"),
                 lambda: tf.train.load_variable(FOLDER / "ckpt-1", SIGN)):  # fmt: skip
        with watched():
            read()


def checkpoints(how: Any, note: str, absolute: bool) -> None:
    """The objects that a checkpoint tells of, and the note in its folder."""
    objects = {"layer": K.layers.Dense(2), "listed": [tf.Variable(1.0)], "mapped": {"a": tf.Variable(2.0)}, "it": iter(tf.data.Dataset.range(3))}
    objects["layer"].build((None, 2))
    checkpoint, folder = tf.train.Checkpoint(**objects), FOLDER / "checkpoints"
    prefix = checkpoint.write(folder / "ckpt-1")
    arrays = archive_of(folder / "ckpt-1.index")
    graph = json.dumps(changed(str(arrays.pop("_CHECKPOINTABLE_OBJECT_GRAPH")), how))
    with open(folder / "ckpt-1.index", "wb") as file:
        np.savez(file, _CHECKPOINTABLE_OBJECT_GRAPH=np.array(graph), **arrays)
    with watched():
        checkpoint.restore(prefix).assert_consumed()
    with watched():
        tf.train.CheckpointManager(checkpoint, folder, 1).restore_or_initialize()
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{note}"\nall_model_checkpoint_paths: "{SECRET}"\n')
    for read in (tf.train.latest_checkpoint, tf.train.load_checkpoint, tf.train.list_variables):
        with watched(folder):
            found = read(folder)
            if isinstance(found, str) and not _inside(found, folder):
                seen.append(f"latest_checkpoint gave {found}")


class Traced(tf.Module):
    """Functions with something of each kind in them; ``looped`` is read only, since a loop that was changed may never end."""

    def __init__(self) -> None:
        super().__init__()
        self.v = tf.Variable([1.0, 2.0])
        self.parts = [self.v, {"a": tf.Variable(3.0)}]

    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.string)])
    def straight(self, x: Any, words: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reshape(tf.reduce_sum(x[:, 1:] * self.v, -1, keepdims=True), [tf.shape(x)[0], -1])
        self.v.assign_sub(tape.gradient(y, self.v))
        return {"y": tf.cond(y[0, 0] > 0.0, lambda: y * self.v, lambda: y), "words": tf.strings.join([words, "b"])}, tf.zeros(tf.shape(x)[:1])

    @tf.function(input_signature=[tf.TensorSpec([2])])
    def looped(self, x: Any) -> Any:
        return tf.gradients(tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * self.v), [0, x])[1], x)


def saved_models(how: Any) -> None:
    """The objects and functions that a saved model tells of, and what its functions compute."""
    folder = FOLDER / "saved_model"
    if not TRACED:
        tf.saved_model.save(Traced(), folder)
        load_all()  # which the first name that is not known does
        arrays = archive_of(folder / "saved_model.npz")
        TRACED.append((str(arrays.pop("about")), arrays))
    text, arrays = TRACED[0]
    np.savez(folder / "saved_model.npz", about=np.array(json.dumps(changed(text, how))), **arrays)
    with watched():
        loaded = tf.saved_model.load(folder)
        loaded.straight(tf.ones([1, 2]), tf.constant(["a"]))


TRACED: list[tuple[str, dict[str, np.ndarray]]] = []


def progress_files(value: Any, name: str) -> None:
    """A learner's progress, and where JupyterLab begins."""
    entries = {name: value, f"{name}.1": {"tries": 1, "solved": True}}
    for kept in (value, {"exercises": entries, "predictions": {name: value}, "last": value}, {"exercises": {f"{name}.1": entries[f"{name}.1"]}, "predictions": {}}):
        (FOLDER / "progress.json").write_text(json.dumps(kept))
        for read in (course.progress, lambda: course.check("01.1", 2.0), lambda: course.reveal(name, 1.0), lambda: last_lesson(FOLDER)):
            with watched():
                read()


def snapshots(how: Any) -> None:
    """What pictures are made of."""
    about = changed(SNAPSHOT[0], how)
    with watched(Path(minitape_widgets.page.BUNDLE).parent):
        if "<" in minitape_widgets.page.page(about).split('id="data">')[1].split("</script>")[0]:
            seen.append("a snapshot ends its element of the page")
    with watched():
        minitape_widgets.wire.decode(minitape_widgets.wire.compress(about))


def recordings(how: Any) -> None:
    """Recordings that another machine kept."""
    from minitape.bridges import Replay

    about, known = changed(RECORDING[0], how), {*linecache.cache}
    with watched():
        replay = Replay(about)
        if "<script" in tf.draw(replay).html():
            seen.append("a name is markup in a picture")
    if {*linecache.cache} - known:
        seen.append("a text became that of a file")


def hand_ins(how: Any, value: Any, text: str, name: str) -> None:
    """What `minitape class` reads, of one learner beside others: that must not end with an error."""
    from minitape.cli import class_page, class_report, figures, handins

    handins.notebooks_in = lambda folder: []  # else the course's own lessons are looked at
    folder = FOLDER / "class" / "eve"
    folder.mkdir(parents=True, exist_ok=True)
    text += "<script>"
    said = f"Exercise {name}: not yet.\n  given: {text}\nHint: {text}\n"
    progress = {"version": 1, "predictions": {}, "times": {name: [1, 2]}, "exercises": {name: {
        "tries": 1, "solved": False, "wrong": {text: {"times": 1, "hint": text}}}}}  # fmt: skip
    notebook = {"cells": [{"cell_type": "code", "outputs": [{"text": [said]}, {"data": value}]}]}
    for file, about in (("a.ipynb", notebook), ("progress.json", progress), ("b.ipynb", value)):
        (folder / file).write_text(json.dumps(changed(json.dumps(about), how) if how and any(places(about)) else about))
    with watched():
        try:
            found = handins.read(handins.find([folder.parent]))
            figured = figures.figures(found)
            page = class_page.as_page(figured, found)
            class_report.as_csv(figured, found)
            class_report.print_class(figured, found)
            if "<script" in page:
                seen.append("a hand-in is markup in the page")
        except Exception as error:
            seen.append(f"a hand-in ended the report: {error!r}")


RECORDING: list[str] = []
SNAPSHOT: list[str] = []


def write_snapshot() -> None:
    """Fills ``SNAPSHOT`` with one as it travels to the browser."""
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(x) * x
    from minitape.picture.reading import Reader
    from minitape.picture.snapshots import snapshot

    part = snapshot(tape, y, x)
    part["rows"], part["sweep"] = Reader(tape).read(), None
    RECORDING.append(json.dumps(tf.snapshot(tape, y, x)))
    SNAPSHOT.append(zlib.decompress(minitape_widgets.wire.encode(part)).decode())
    minitape_widgets.page.page({})


def data_files(data: bytes, text: str, kind: str) -> None:
    """Lines, rows of values, and folders of texts."""
    path = FOLDER / "texts" / "a" / "data.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data + text.encode())
    for read in (lambda: list(tf.data.TextLineDataset(str(path), kind)), lambda: tf.io.read_file(str(path)),
                 lambda: list(tf.data.experimental.CsvDataset(str(path), ["", 0.0], kind)),
                 lambda: next(iter(tf.data.experimental.make_csv_dataset(str(path), 2, num_epochs=1, shuffle=False))),
                 lambda: tf.io.decode_csv([text], ["", 0]), lambda: tf.io.decode_base64(text), lambda: tf.io.decode_raw(text, tf.uint8),
                 lambda: list(K.utils.text_dataset_from_directory(str(FOLDER / "texts"), shuffle=False)),
                 lambda: tf.strings.format(text, 1)):  # fmt: skip
        with watched():
            read()


def image_files(kind: str, at: int, byte: int, cut: int | None) -> None:
    """Images with a changed byte, or cut off; read where Pillow is installed."""
    if importlib.util.find_spec("PIL") is None:
        return
    if not IMAGES:
        from PIL import Image

        for name in ("PNG", "JPEG", "GIF", "BMP"):
            out = io.BytesIO()
            Image.new("RGB", (5, 4), (9, 99, 199)).save(out, name)
            IMAGES[name] = out.getvalue()
    data = bytearray(IMAGES[kind])
    data[at % len(data)] = byte
    for decode in (tf.io.decode_image, tf.io.decode_png, tf.io.decode_jpeg):
        with watched():
            decode(bytes(data[:cut]))


IMAGES: dict[str, bytes] = {}


def bait() -> None:
    """What no reader does: were this not seen, nothing would be."""
    for act in (lambda: SECRET.read_text(), lambda: compile("1", "text", "exec"), lambda: exec("1"), lambda: __import__("antigravity_"),
                lambda: os.system("true"), lambda: getattr(tf.constant(1.0), SIGN)):  # fmt: skip
        with watched():
            act()


READERS: dict[str, tuple[Callable[..., None], tuple[Any, ...], int]] = {
    "models": (models_with_other_descriptions, (number, changes, st.booleans()), 200),
    "configurations": (configurations, (number, changes, evil), 90),
    "archives": (archives, (st.lists(st.tuples(MEMBERS, contents), min_size=1, max_size=4), st.sampled_from([None, None, None, 9, 99, 300]), st.booleans()), 80),
    "checkpoints": (checkpoints, (changes, texts, st.booleans()), 80),
    "saved_models": (saved_models, (changes,), 80),
    "progress": (progress_files, (evil, texts), 80),
    "snapshots": (snapshots, (changes,), 60),
    "recordings": (recordings, (changes,), 60),
    "hand_ins": (hand_ins, (changes | st.just([]), evil, texts, texts), 60),
    "data": (data_files, (st.binary(max_size=20), texts, st.sampled_from(["", "GZIP", "ZLIB", SIGN])), 50),
    "images": (image_files, (st.sampled_from(["PNG", "JPEG", "GIF", "BMP"]), st.integers(0, 400), st.integers(0, 255), st.sampled_from([None, None, 9, 60])), 80),
}  # fmt: skip


def tried(read: Callable[..., None], arguments: tuple[Any, ...], count: int) -> None:
    """Reads so many files, the same ones each time."""
    fixed = settings(max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=[*HealthCheck])
    fixed(given(*arguments)(read))()


def tried_for(read: Callable[..., None], arguments: tuple[Any, ...], minutes: float, start: int) -> int:
    """Reads other files for so long, from a first seed on; how many."""
    fixed = settings(max_examples=50, database=None, deadline=None, suppress_health_check=[*HealthCheck])
    count, end = 0, time.monotonic() + 60 * minutes

    @functools.wraps(read)  # whose arguments hypothesis looks at
    def counted(*values: Any, **named: Any) -> None:
        nonlocal count
        count += 1
        read(*values, **named)

    while time.monotonic() < end:
        seed(start + count)(fixed(given(*arguments)(counted)))()
    return count


def main() -> None:
    """Tries every reader and prints what was seen."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="for each kind of file, with other files each time")
    parser.add_argument("--part", type=float, default=1.0, help="of the files that are the same each time")
    parser.add_argument("--kinds", nargs="+", choices=READERS, default=[*READERS], metavar="KIND", help=", ".join(READERS))
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9, help="the first of those files")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    OUTSIDE.mkdir()
    SECRET.write_text("secret\n")
    FOLDER.mkdir()
    os.chdir(FOLDER)
    os.environ["MINITAPE_PROGRESS"] = str(FOLDER / "progress.json")
    for name in MODULES:
        if not name.startswith(("minitape.cli", "minitape.bridges.")):  # a bridge needs the other framework
            with contextlib.suppress(ImportError) if name.startswith("minitape.speed.") else contextlib.nullcontext():  # without numba
                importlib.import_module(name)
    import encodings.cp437  # noqa: F401 - the names in archives

    write_models()
    write_snapshot()
    for read, arguments, _ in READERS.values():  # unwatched, for what Python itself loads late
        tried(read, arguments, 5)
    seen.clear()
    lay_out_lures()
    sys.addaudithook(hook)
    bait()
    found = {"guard": [] if len(seen) >= 6 else [f"it saw only {seen}"]}
    seen.clear()
    counts: dict[str, int] = {"seed": options.seed}
    for name in options.kinds:
        read, arguments, whole = READERS[name]
        count = max(1, round(options.part * whole))
        tried(read, arguments, count)
        counts[name] = count + tried_for(read, arguments, options.minutes, options.seed)
        found[name] = sorted(set(seen))
        seen.clear()
    if (OUTSIDE / SIGN).exists() or [p.name for p in OUTSIDE.iterdir()] != [SECRET.name]:
        found["outside"] = ["something was written outside of the folder"]
    print(json.dumps({**found, "read": counts}))


if __name__ == "__main__":
    main()
