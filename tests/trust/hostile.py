"""Read files that were written to do harm, and report every action that reading data does not require.

Run this script in an empty folder. It prints a JSON object with the suspicious actions for each kind of file, and the
number of files under "read". Its audit hook cannot be removed.

    python tests/trust/hostile.py                 reads the same few hundred files each time
    python tests/trust/hostile.py --part 0.25     reads a quarter of them
    python tests/trust/hostile.py --minutes 10    reads new files each time, ten minutes for each kind of file
"""

import argparse
import contextlib
import copy
import functools
import importlib
import io
import json
import linecache
import os
import pkgutil
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from rich.cells import cell_len

import minitape as tf
import minitape_widgets.saved_page
import minitape_widgets.wire_format
from minitape import course
from minitape.course.progress import find_last_lesson

FOLDER, OUTSIDE = Path("given").absolute(), Path("outside").absolute()
SECRET = OUTSIDE / "secret.txt"
SIGN = "carried_out"  # Nothing may call, look up or write this name.

# -- watching ------------------------------------------------------------------------------------

seen: list[str] = []
watching: list[Path] = []  # While a file is read, the only folder that may be opened.
HARMLESS = {"sys._getframe", "sys._getframemodulename", "builtins.id", "object.__getattr__", "array.__new__"}
ON_FILES = "open os.chmod os.listdir os.scandir os.walk os.rename fcntl.flock glob.glob glob.glob/2 pathlib.Path.glob"


def on_audit_event(event: str, args: tuple[Any, ...]) -> None:
    """Note events that are neither harmless nor part of compiling minitape's own formulas."""
    if not watching or event.startswith("gc."):
        return
    allowed, watching[:] = watching[0], []  # This hook's own actions are not watched.
    try:
        if event in ON_FILES.split():
            named = args[:2] if event == "os.rename" else args[:1]
            fine = all(_is_inside(path, allowed) for path in named if isinstance(path, (str, bytes, os.PathLike)))
        elif event == "compile":
            fine = str(args[1]).startswith("<formula ") and SIGN not in repr(args)
        elif event == "exec":
            fine = args[0].co_filename.startswith("<formula ")
        else:
            fine = event in HARMLESS
        if not fine:
            seen.append(f"{event} {args!r}"[:300])
    finally:
        watching[:] = [allowed]


def _is_inside(path: Any, folder: Path) -> bool:
    return Path(os.path.realpath(os.fsdecode(path))).is_relative_to(os.path.realpath(folder))


class Lure:
    """A class stored in every module under a private name. Looking it up means that a file chose the name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        seen.append("a class was found by a name that is not public")


def lay_out_lures() -> None:
    """Put lures into all modules, and attributes that report every access onto tensors and variables."""
    for module in [m for name, m in sys.modules.items() if name.startswith("minitape")]:
        vars(module)[SIGN] = Lure
    told = property(lambda self: seen.append("an attribute was found by a name in a file"))
    for kind in (tf.Tensor, tf.Variable):
        for name in (SIGN, f"__{SIGN}__"):
            setattr(kind, name, told)


@contextlib.contextmanager
def watch_reads(folder: Path = FOLDER) -> Iterator[None]:
    """Watch the block, which reads files. Any exception is acceptable."""
    watching[:] = [folder]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    except Exception:
        pass
    finally:
        watching[:] = []


# -- content of the files --------------------------------------------------------------------------

CODE = f"open({str(OUTSIDE / SIGN)!r}, 'w')"
MODULES = sorted({m.name for m in pkgutil.walk_packages(tf.__path__, "minitape.")} - {"minitape.__main__"})
modules = st.sampled_from([*MODULES, "os", "builtins", "subprocess", "numpy", ""])
NAMES = "system eval exec find install load __class__ __init_subclass__ __reduce__ __globals__ __getattribute__"
attributes = st.sampled_from([SIGN, f"__{SIGN}__"]) | st.sampled_from(
    [*NAMES.split(), "_numpy", "Any", "<lambda>", "lambda x: x", *dir(tf)[::40]]
)
joined = st.tuples(modules, st.sampled_from([":", ".", ">", "/"]), attributes).map("".join)
paths = st.sampled_from([
    str(SECRET), os.path.relpath(SECRET, FOLDER), f"file://{SECRET}", "../../etc/passwd", "/etc/passwd", f"{SECRET}\0",
    "C:\\x", "~/x",
])  # fmt: skip
texts = st.one_of(
    modules, attributes, joined, paths, st.sampled_from([CODE, f"__import__('os').mkdir({CODE!r})", "{0.__class__}"])
)
numbers = st.sampled_from([None, True, 0, 1, 2, 3, -1, 0.5, float("nan")])
KEYS = "class_name module name what args function code value dtype kind label site file scope text".split()


def build_object_strategy(inner: Any) -> Any:
    """Return a strategy for data that a reader could mistake for a description of an object."""
    calls = st.fixed_dictionaries(
        {"class_name": attributes, "module": modules, "what": attributes | joined, "args": st.lists(inner, max_size=3)}
    )
    return calls | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3) | st.lists(inner, max_size=3)


evil = st.recursive(texts | numbers, build_object_strategy, max_leaves=5)
aimed = st.tuples(st.integers(0, 10**6), st.just("aim"), st.sampled_from(KEYS), texts)
blind = st.tuples(st.integers(0, 10**6), st.sampled_from(["replace", "add", "wrap"]), st.sampled_from(KEYS), evil)
changes = st.lists(aimed | blind, min_size=1, max_size=3)


def iter_places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a structure with each of its keys."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, inner in items:
        yield value, key
        yield from iter_places(inner)


def replace_parts(text: str, how: Any) -> Any:
    """Return a JSON structure after replacing some of its parts."""
    about = json.loads(text)
    for at, what, name, value in how:
        value = copy.deepcopy(value)  # Without a copy, a part could contain itself.
        known = list(iter_places(about))
        known = [place for place in known if what == "aim" and place[1] == name] or known
        holder, key = known[at % len(known)]
        if what == "add" and isinstance(holder[key], dict):
            holder[key][name] = value
        elif what == "wrap":
            holder[key] = {"class_name": name, "module": "os", "config": holder[key]}
        else:
            holder[key] = value
    return about


# -- the readers -----------------------------------------------------------------------------------


def read_progress_files(value: Any, name: str) -> None:
    """Read a learner's progress file and find the lesson to open."""
    entries = {name: value, f"{name}.1": {"tries": 1, "solved": True}}
    for kept in (
        value,
        {"exercises": entries, "predictions": {name: value}, "last": value},
        {"exercises": {f"{name}.1": entries[f"{name}.1"]}, "predictions": {}},
    ):
        (FOLDER / "progress.json").write_text(json.dumps(kept))
        for read in (
            course.progress,
            lambda: course.check("01.1", 2.0),
            lambda: course.reveal(name, 1.0),
            lambda: find_last_lesson(FOLDER),
        ):
            with watch_reads():
                read()


def read_snapshots(how: Any) -> None:
    """Build pictures from a hostile snapshot."""
    about = replace_parts(SNAPSHOT[0], how)
    with watch_reads(Path(minitape_widgets.saved_page.BUNDLE).parent):
        if "<" in minitape_widgets.saved_page.build_html_page(about).split('id="data">')[1].split("</script>")[0]:
            seen.append("a snapshot ends its element of the page")
    with watch_reads():
        minitape_widgets.wire_format.decode_snapshot(minitape_widgets.wire_format.compress_json(about))


def read_recordings(how: Any) -> None:
    """Read recordings that another machine saved."""
    from minitape.bridges import Replay

    about, known = replace_parts(RECORDING[0], how), {*linecache.cache}
    with watch_reads():
        replay = Replay(about)
        if "<script" in tf.draw(replay).html():
            seen.append("a name is markup in a picture")
    if {*linecache.cache} - known:
        seen.append("a text became that of a file")


def read_hand_ins(how: Any, value: Any, text: str, name: str) -> None:
    """Read hand-ins as `minitape class` does. One learner's files must not cause an error."""
    from minitape.cli import class_figures, class_report, handins, notebook_rules

    # Otherwise, the course's own lessons would be read while the block is watched.
    handins.find_lessons_folder, handins.list_notebook_files = lambda: None, lambda folder: []
    handins.find_lesson_folders_by_language = dict
    notebook_rules.translate_verdicts_to_english("")  # This call fills the tables of verdicts.
    folder = FOLDER / "class" / "eve"
    folder.mkdir(parents=True, exist_ok=True)
    text += "<script>"
    said = f"Exercise {name}: not yet.\n  given: {text}\nHint: {text}\n"
    progress = {
        "version": 1,
        "predictions": {},
        "times": {name: [1, 2]},
        "exercises": {name: {"tries": 1, "solved": False, "wrong": {text: {"times": 1, "hint": text}}}},
    }
    notebook = {"cells": [{"cell_type": "code", "outputs": [{"text": [said]}, {"data": value}]}]}
    for file, about in (("a.ipynb", notebook), ("progress.json", progress), ("b.ipynb", value)):
        (folder / file).write_text(
            json.dumps(replace_parts(json.dumps(about), how) if how and any(iter_places(about)) else about)
        )
    with watch_reads():
        try:
            found = handins.read_hand_ins(handins.find_hand_in_files_by_learner([folder.parent]))
            figured = class_figures.compute_class_figures(found)
            class_report.format_class_csv(figured, found)
            class_report.print_class_figures(figured, found)
        except Exception as error:
            seen.append(f"a hand-in ended the report: {error!r}")


RECORDING: list[str] = []
SNAPSHOT: list[str] = []


def write_snapshot() -> None:
    """Fill ``SNAPSHOT`` with a snapshot in the format that is sent to the browser."""
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(x) * x
    from minitape.picture.reader import TapeReader
    from minitape.picture.snapshots import snapshot

    part = snapshot(tape, y, x)
    part["rows"], part["sweep"] = TapeReader(tape).read_new_rows(), None
    RECORDING.append(json.dumps(tf.snapshot(tape, y, x)))
    SNAPSHOT.append(zlib.decompress(minitape_widgets.wire_format.encode_snapshot(part)).decode())
    minitape_widgets.saved_page.build_html_page({})


def try_forbidden_actions() -> None:
    """Perform actions that no reader may perform, to show that the hook notices them."""
    for act in (
        lambda: SECRET.read_text(),
        lambda: compile("1", "text", "exec"),
        lambda: exec("1"),
        lambda: __import__("antigravity_"),
        lambda: os.system("true"),
        lambda: getattr(tf.constant(1.0), SIGN),
    ):
        with watch_reads():
            act()


READERS: dict[str, tuple[Callable[..., None], tuple[Any, ...], int]] = {
    "progress": (read_progress_files, (evil, texts), 80),
    "snapshots": (read_snapshots, (changes,), 60),
    "recordings": (read_recordings, (changes,), 60),
    "hand_ins": (read_hand_ins, (changes | st.just([]), evil, texts, texts), 60),
}


def run_reader(read: Callable[..., None], arguments: tuple[Any, ...], count: int) -> None:
    """Read a fixed number of files, the same ones each time."""
    fixed = settings(
        max_examples=count, derandomize=True, database=None, deadline=None, suppress_health_check=[*HealthCheck]
    )
    fixed(given(*arguments)(read))()


def run_reader_for(read: Callable[..., None], arguments: tuple[Any, ...], minutes: float, start: int) -> int:
    """Read new files for a given time, starting from a seed, and return their number."""
    fixed = settings(max_examples=50, database=None, deadline=None, suppress_health_check=[*HealthCheck])
    count, end = 0, time.monotonic() + 60 * minutes

    @functools.wraps(read)  # hypothesis inspects the arguments of this function.
    def counted(*values: Any, **named: Any) -> None:
        nonlocal count
        count += 1
        read(*values, **named)

    while time.monotonic() < end:
        seed(start + count)(fixed(given(*arguments)(counted)))()
    return count


def main() -> None:
    """Try every reader and print what was seen."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=0.0, help="for each kind of file, with other files each time")
    parser.add_argument("--part", type=float, default=1.0, help="of the files that are the same each time")
    parser.add_argument(
        "--kinds", nargs="+", choices=READERS, default=[*READERS], metavar="KIND", help=", ".join(READERS)
    )
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9, help="the first of those files")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    OUTSIDE.mkdir()
    SECRET.write_text("secret\n")
    FOLDER.mkdir()
    os.chdir(FOLDER)
    os.environ["MINITAPE_PROGRESS"] = str(FOLDER / "progress.json")
    for name in MODULES:
        # A bridge cannot be imported without its framework.
        if not name.startswith(("minitape.cli", "minitape.bridges.")):
            with contextlib.suppress(ImportError) if name.startswith("minitape.speed.") else contextlib.nullcontext():
                # Without numba, some modules of the accelerators cannot be imported.
                importlib.import_module(name)
    write_snapshot()
    # Run each reader once without watching, because Python itself loads some modules late.
    for read, arguments, _ in READERS.values():
        run_reader(read, arguments, 5)
    cell_len("漢")  # The first wide character makes rich load a table.
    seen.clear()
    lay_out_lures()
    sys.addaudithook(on_audit_event)
    try_forbidden_actions()
    found = {"guard": [] if len(seen) >= 6 else [f"it saw only {seen}"]}
    seen.clear()
    counts: dict[str, int] = {"seed": options.seed}
    for name in options.kinds:
        read, arguments, whole = READERS[name]
        count = max(1, round(options.part * whole))
        run_reader(read, arguments, count)
        counts[name] = count + run_reader_for(read, arguments, options.minutes, options.seed)
        found[name] = sorted(set(seen))
        seen.clear()
    if (OUTSIDE / SIGN).exists() or [p.name for p in OUTSIDE.iterdir()] != [SECRET.name]:
        found["outside"] = ["something was written outside of the folder"]
    print(json.dumps({**found, "read": counts}))


if __name__ == "__main__":
    main()
