"""Every public name of ``tf`` as pages in reStructuredText: one page for each namespace, written from the docstrings.

The names are loaded when they are first asked for, so they are asked for, as a program would. An object that has
several names is described once, under the shortest; its other names lead there.
"""

from __future__ import annotations

import enum
import inspect
import re
import textwrap
import types
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import minitape as tf
from minitape.tf.api import NAMES

PLAIN = (int, float, str, bytes, tuple, frozenset, type(None))  # equal ones are one object by chance only
# The page of ``tf`` by topic: names, and the modules that give it names; what is left comes last.
TOPICS = {
    "The tape": "GradientTape Variable constant",
    "Tensors": "engine.tensor.tensor engine.tensor.convert tf.creation",
    "Functions of numbers": "tf.elementwise",
    "Sums, products and order": "tf.reductions tf.products",
    "Parts and shapes": "tf.arrays tf.indexing",
    "Gradients of your own": "custom_gradient stop_gradient engine.derivatives.custom engine.derivatives.pyfunction",
    "What was recorded": "draw snapshot explain",
    "tf.function and control flow": "function functions.function functions.control functions.spec functions.settings "
    "tf.printing",
    "Kinds of tensors": "engine.values.dtypes engine.values.shape tf.composites tf.module",
    "Graphs, as in TensorFlow 1": "functions.deferred tf.tensorflow1",
}
INTRODUCTION = """
The public names of minitape. `import minitape as tf` gives them, as in TensorFlow; what is not here belongs to \
TensorFlow itself, whose programs
[a bridge](../docs/explain.md) watches. Begin with {py:obj}`tf.GradientTape`, {py:obj}`tf.Variable` and \
{py:obj}`tf.constant`. A function that has several names is described once. The examples were run by the tests.
"""


def pages() -> dict[str, str]:
    """Path -> text of each page."""
    found = namespaces()
    names = defaultdict(list)  # id -> the paths that an object has
    for path, namespace in found.items():
        for name in public(namespace):
            value = getattr(namespace, name)
            if not is_namespace(value) and not isinstance(value, PLAIN):
                names[id(value)].append((f"{path}.{name}", value))
    homes = {key: min(pairs, key=rank)[0] for key, pairs in names.items()}
    others = {key: [path for path, _ in pairs if path != homes[key]] for key, pairs in names.items()}

    texts = {"api/index.md": index(found)}
    for path, namespace in found.items():
        own, shared = [], []
        topics = by_topic(public(namespace)) if path == "tf" else [("", public(namespace))]
        for topic, name in ((topic, name) for topic, names_of_topic in topics for name in names_of_topic):
            value, full = getattr(namespace, name), f"{path}.{name}"
            if is_namespace(value):
                continue
            if topic and topic not in own:
                own += [topic, "-" * len(topic), ""]
            home = homes.get(id(value), full)
            if home == full:
                own += [*described(full, value, others.get(id(value), ()), homes), ""]
            else:
                shared.append(f"* ``{name}`` is :py:obj:`{home}`")
        more = [*heading("Names of other pages", "-"), *shared] if shared else []
        texts[f"api/{path}.rst"] = "\n".join([*heading(path, "="), sentence(namespace), "", *own, *more, ""])
    return texts


def by_topic(names: list[str]) -> list[tuple[str, list[str]]]:
    """Topic -> the names of ``tf`` that belong to it, in the order in which the table of ``tf`` has them."""
    given = {module: [name.partition("=")[0] for name in text.split()] for module, text in NAMES[""].items()}
    left, found = list(names), []
    for topic, entries in TOPICS.items():
        wanted = [name for entry in entries.split() for name in given.get(entry, [entry])]
        found.append((topic, [name for name in dict.fromkeys(wanted) if name in left]))
        left = [name for name in left if name not in wanted]
    return [*found, ("Other names", left)]


def index(found: dict[str, Any]) -> str:
    """The page that lists the namespaces, those of TensorFlow 1 last."""
    paths = sorted(found, key=lambda path: (path.startswith(("tf.compat", "tf.python")), path))
    lines = [f"- [{path}]({path}.rst)" for path in paths]
    for number, path in enumerate(paths):
        about = re.sub(r"^``[\w.]+``: ", "", sentence(found[path]))
        lines[number] += f": {about}" if about else ""
    return "\n".join(["# The names of tf", INTRODUCTION, *lines, "\n```{toctree}\n:hidden:\n", *paths, "```\n"])


def namespaces() -> dict[str, Any]:
    """Path -> namespace, for ``tf`` and everything below it, each once."""
    found, waiting = {}, [("tf", tf)]
    while waiting:
        path, namespace = waiting.pop(0)
        if any(namespace is known for known in found.values()):
            continue
        found[path] = namespace
        below = ((name, getattr(namespace, name)) for name in public(namespace))
        waiting += [(f"{path}.{name}", value) for name, value in below if is_namespace(value)]
    return found


def is_namespace(value: Any) -> bool:
    """True for what stands for a part of ``tf``: a module of minitape, or a namespace below one."""
    return isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == "minitape"


def public(value: Any) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


def rank(pair: tuple[str, Any]) -> tuple[Any, ...]:
    """The smallest is the name under which an object is described: its own name, not one of TensorFlow 1, and short."""
    path, value = pair
    own = path.rpartition(".")[2] == getattr(value, "__name__", getattr(value, "name", None))
    return ".compat." in path, ".python." in path, path.count("."), not own, path


def heading(title: str, line: str) -> list[str]:
    return [title, line * len(title), ""]


def sentence(namespace: Any) -> str:
    """What the docstring of a module says first; nothing for a namespace that is no module."""
    doc = inspect.getdoc(namespace) if isinstance(namespace, types.ModuleType) else None
    return rest(re.split(r"(?<=\.)\s", doc or "", maxsplit=1)[0])


def described(path: str, value: Any, others: list[str], homes: dict[int, str]) -> Iterator[str]:
    """One name: how it is called, what it does, and for a class its methods."""
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        yield f".. py:{kind}:: {path}{'' if issubclass(value, enum.Enum) else signature(value)}"
    elif callable(value) and not hasattr(value, "as_numpy_dtype"):
        yield f".. py:function:: {path}{signature(value)}"
    else:
        yield from (f".. py:data:: {path}", f"   :value: {value!r}", "")
        yield from also(others)
        return
    yield ""
    yield textwrap.indent(rest(inspect.getdoc(value) or ""), "   ")
    yield ""
    yield from also(others)
    if inspect.isclass(value):
        above = [homes[id(base)] for base in value.__mro__[1:] if id(base) in homes]
        if above:
            yield from (f"   Has what :py:obj:`{above[0]}` has, too.", "")
        silent = []
        for name, member in members(value, homes):
            if inspect.getdoc(member):
                yield from method(value, name, member)
            elif isinstance(member, property):
                silent.append(f"``{name}``")
        if silent:
            yield from (f"   Further attributes: {', '.join(silent)}.", "")


def also(others: list[str]) -> Iterator[str]:
    if others:
        yield from ("   Also called " + ", ".join(f"``{path}``" for path in others) + ".", "")


def members(cls: type, homes: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """The methods and properties of a class: its own, and those of bases that have no public name themselves."""
    found: dict[str, Any] = {}
    covered = {kind for base in cls.__mro__[1:] if id(base) in homes for kind in base.__mro__} | {object}
    for kind in cls.__mro__:
        if kind not in covered and kind.__module__.partition(".")[0] in ("minitape", "tensorflow", "keras"):
            found = {**vars(kind), **found}
    engine = issubclass(cls, (tf.Tensor, tf.Variable, tf.GradientTape))
    for name, member in sorted(found.items()):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield name, member
            continue
        # the engine's own methods are in the same classes, without examples
        wanted = not engine or ">>>" in (inspect.getdoc(member) or "")
        if wanted and inspect.isroutine(getattr(member, "__func__", member)):
            yield name, member


def method(cls: type, name: str, member: Any) -> Iterator[str]:
    if isinstance(member, property):
        yield f"   .. py:property:: {name}"
        doc = inspect.getdoc(member)
    else:
        bound = isinstance(member, (classmethod, staticmethod))
        yield f"   .. py:method:: {name}{signature(getattr(cls, name), 0 if bound else 1)}"
        if bound:
            yield f"      :{type(member).__name__}:"
        doc = inspect.getdoc(getattr(cls, name))
    yield from ("", textwrap.indent(rest(doc or ""), "      "), "")


class Default:
    """A default as a reader sees it: no addresses."""

    def __init__(self, value: Any) -> None:
        self.text = repr(value)

    def __repr__(self) -> str:
        return "..." if "<" in self.text or len(self.text) > 60 else self.text


def signature(value: Any, first: int = 0) -> str:
    """The arguments without their types, which are told in the text where they matter."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    given = [
        p.replace(annotation=p.empty, default=p.default if p.default is p.empty else Default(p.default))
        for p in list(found.parameters.values())[first:]
    ]
    return str(inspect.Signature(given))


LITERAL = re.compile(r"(``.+?``)|:\w+:`([^`]+)`", re.DOTALL)


def rest(doc: str) -> str:
    """A docstring as reStructuredText: what is not code is escaped."""
    blocks = []
    for block in re.split(r"\n\s*\n", doc.strip()):
        text, sign, example = block.partition(">>> ")
        parts = []
        while found := LITERAL.search(text):
            parts += [escaped(text[: found.start()]), found[1] or f"``{found[2]}``"]
            text = text[found.end() :]
        blocks.append("".join(parts) + escaped(text))
        if sign:
            blocks.append(sign + example)
    return "\n\n".join(block for block in blocks if block.strip())


def escaped(text: str) -> str:
    return re.sub(r"([\\*|`]|_(?!\w))", r"\\\1", text)
