"""Write the reference of ``tf`` in reStructuredText from the docstrings, with one page for each namespace.

Names are loaded on first use, so this module uses each of them, as a program would. An object with several names is
described once, under the shortest name. The other names link to that description.
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

# Equal values of these types are the same object only by chance.
PLAIN_TYPES = (int, float, str, bytes, tuple, frozenset, type(None))
# The topics on the page of ``tf``, with their names or the modules that define their names. Other names come last.
TOPICS = {
    "The tape": "GradientTape Variable constant",
    "Tensors": "engine.tensor.tensor engine.tensor.conversion tf.creation",
    "Functions of numbers": "tf.elementwise",
    "Sums, products and order": "tf.reductions tf.products",
    "Parts and shapes": "tf.array_functions tf.indexing",
    "Gradients of your own": "custom_gradient stop_gradient engine.derivatives.custom_gradient "
    "engine.derivatives.py_function",
    "What was recorded": "draw snapshot explain",
    "tf.function and control flow": "function functions.function functions.control_flow functions.tensor_spec "
    "functions.settings tf.printing",
    "Kinds of tensors": "engine.values.dtypes engine.values.shape tf.composites tf.module",
    "Graphs, as in TensorFlow 1": "functions.tf1_graph tf.tensorflow1",
}
INTRODUCTION = """
The public names of minitape. `import minitape as tf` gives them, as in TensorFlow; what is not here belongs to \
TensorFlow itself, whose programs
[a bridge](../docs/explain.md) watches. Begin with {py:obj}`tf.GradientTape`, {py:obj}`tf.Variable` and \
{py:obj}`tf.constant`. A function that has several names is described once. The examples were run by the tests.
"""


def build_api_pages() -> dict[str, str]:
    """Build all pages of the reference. The keys are paths, and the values are texts."""
    namespace_by_path = collect_namespaces()
    names_by_id = defaultdict(list)  # id -> the paths that an object has
    for path, namespace in namespace_by_path.items():
        for name in list_public_names(namespace):
            value = getattr(namespace, name)
            if not is_namespace(value) and not isinstance(value, PLAIN_TYPES):
                names_by_id[id(value)].append((f"{path}.{name}", value))
    home_by_id = {key: min(pairs, key=build_home_sort_key)[0] for key, pairs in names_by_id.items()}
    other_names = {key: [path for path, _ in pairs if path != home_by_id[key]] for key, pairs in names_by_id.items()}

    texts = {"api/index.md": format_namespace_index(namespace_by_path)}
    for path, namespace in namespace_by_path.items():
        own_lines, shared_lines = [], []
        topics = (
            group_names_by_topic(list_public_names(namespace)) if path == "tf" else [("", list_public_names(namespace))]
        )
        for topic, name in ((topic, name) for topic, names_of_topic in topics for name in names_of_topic):
            value, full_name = getattr(namespace, name), f"{path}.{name}"
            if is_namespace(value):
                continue
            if topic and topic not in own_lines:
                own_lines += [topic, "-" * len(topic), ""]
            home = home_by_id.get(id(value), full_name)
            if home == full_name:
                own_lines += [*iter_description_lines(full_name, value, other_names.get(id(value), ()), home_by_id), ""]
            else:
                shared_lines.append(f"* ``{name}`` is :py:obj:`{home}`")
        shared_section = [*build_heading_lines("Names of other pages", "-"), *shared_lines] if shared_lines else []
        texts[f"api/{path}.rst"] = "\n".join(
            [*build_heading_lines(path, "="), find_first_sentence(namespace), "", *own_lines, *shared_section, ""]
        )
    return texts


def group_names_by_topic(names: list[str]) -> list[tuple[str, list[str]]]:
    """Return each topic with the names of ``tf`` that belong to it, in the order of the table of ``tf``."""
    names_by_module = {module: [name.partition("=")[0] for name in text.split()] for module, text in NAMES[""].items()}
    remaining, groups = list(names), []
    for topic, entries in TOPICS.items():
        topic_names = [name for entry in entries.split() for name in names_by_module.get(entry, [entry])]
        groups.append((topic, [name for name in dict.fromkeys(topic_names) if name in remaining]))
        remaining = [name for name in remaining if name not in topic_names]
    return [*groups, ("Other names", remaining)]


def format_namespace_index(namespace_by_path: dict[str, Any]) -> str:
    """Format the page that lists the namespaces. The namespaces of TensorFlow 1 come last."""
    paths = sorted(namespace_by_path, key=lambda path: (path.startswith(("tf.compat", "tf.python")), path))
    lines = [f"- [{path}]({path}.rst)" for path in paths]
    for number, path in enumerate(paths):
        description = re.sub(r"^``[\w.]+``: ", "", find_first_sentence(namespace_by_path[path]))
        lines[number] += f": {description}" if description else ""
    return "\n".join(["# The names of tf", INTRODUCTION, *lines, "\n```{toctree}\n:hidden:\n", *paths, "```\n"])


def collect_namespaces() -> dict[str, Any]:
    """Return ``tf`` and all namespaces below it, keyed by path. Each namespace occurs once."""
    namespace_by_path, pending = {}, [("tf", tf)]
    while pending:
        path, namespace = pending.pop(0)
        if any(namespace is known_namespace for known_namespace in namespace_by_path.values()):
            continue
        namespace_by_path[path] = namespace
        inner = ((name, getattr(namespace, name)) for name in list_public_names(namespace))
        pending += [(f"{path}.{name}", value) for name, value in inner if is_namespace(value)]
    return namespace_by_path


def is_namespace(value: Any) -> bool:
    """Return whether a value belongs to ``tf``, as a module of minitape or a namespace below such a module."""
    return isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == "minitape"


def list_public_names(value: Any) -> list[str]:
    return [name for name in dir(value) if not name.startswith("_")]


def build_home_sort_key(pair: tuple[str, Any]) -> tuple[Any, ...]:
    """Build a sort key that puts an object's main name first: not from TensorFlow 1, short, and its own name."""
    path, value = pair
    is_own_name = path.rpartition(".")[2] == getattr(value, "__name__", getattr(value, "name", None))
    return ".compat." in path, ".python." in path, path.count("."), not is_own_name, path


def build_heading_lines(title: str, underline_character: str) -> list[str]:
    return [title, underline_character * len(title), ""]


def find_first_sentence(namespace: Any) -> str:
    """Return the first sentence of a module's docstring, or "" for a namespace that is not a module."""
    doc = inspect.getdoc(namespace) if isinstance(namespace, types.ModuleType) else None
    return to_restructured_text(re.split(r"(?<=\.)\s", doc or "", maxsplit=1)[0])


def iter_description_lines(path: str, value: Any, other_names: list[str], home_by_id: dict[int, str]) -> Iterator[str]:
    """Yield the lines about one name: its signature, its description and, for a class, its methods."""
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
        yield f".. py:{kind}:: {path}{'' if issubclass(value, enum.Enum) else format_signature(value)}"
    elif callable(value) and not hasattr(value, "as_numpy_dtype"):
        yield f".. py:function:: {path}{format_signature(value)}"
    else:
        yield from (f".. py:data:: {path}", f"   :value: {value!r}", "")
        yield from iter_other_name_lines(other_names)
        return
    yield ""
    yield textwrap.indent(to_restructured_text(inspect.getdoc(value) or ""), "   ")
    yield ""
    yield from iter_other_name_lines(other_names)
    if inspect.isclass(value):
        public_bases = [home_by_id[id(base)] for base in value.__mro__[1:] if id(base) in home_by_id]
        if public_bases:
            yield from (f"   Has what :py:obj:`{public_bases[0]}` has, too.", "")
        undocumented = []
        for name, member in iter_described_members(value, home_by_id):
            if inspect.getdoc(member):
                yield from iter_member_description_lines(value, name, member)
            elif isinstance(member, property):
                undocumented.append(f"``{name}``")
        if undocumented:
            yield from (f"   Further attributes: {', '.join(undocumented)}.", "")


def iter_other_name_lines(other_names: list[str]) -> Iterator[str]:
    if other_names:
        yield from ("   Also called " + ", ".join(f"``{path}``" for path in other_names) + ".", "")


def iter_described_members(cls: type, home_by_id: dict[int, str]) -> Iterator[tuple[str, Any]]:
    """Yield the names and members of a class and its bases without a public name, if they are methods or properties."""
    members_by_name: dict[str, Any] = {}
    covered_classes = {
        base_class for base in cls.__mro__[1:] if id(base) in home_by_id for base_class in base.__mro__
    } | {object}
    for base_class in cls.__mro__:
        if base_class not in covered_classes and base_class.__module__.partition(".")[0] in (
            "minitape",
            "tensorflow",
            "keras",
        ):
            members_by_name = {**vars(base_class), **members_by_name}
    is_engine_class = issubclass(cls, (tf.Tensor, tf.Variable, tf.GradientTape))
    for name, member in sorted(members_by_name.items()):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield name, member
            continue
        # The engine's own methods are in the same classes, but have no examples.
        is_described = not is_engine_class or ">>>" in (inspect.getdoc(member) or "")
        if is_described and inspect.isroutine(getattr(member, "__func__", member)):
            yield name, member


def iter_member_description_lines(cls: type, name: str, member: Any) -> Iterator[str]:
    if isinstance(member, property):
        yield f"   .. py:property:: {name}"
        doc = inspect.getdoc(member)
    else:
        is_bound = isinstance(member, (classmethod, staticmethod))
        yield f"   .. py:method:: {name}{format_signature(getattr(cls, name), 0 if is_bound else 1)}"
        if is_bound:
            yield f"      :{type(member).__name__}:"
        doc = inspect.getdoc(getattr(cls, name))
    yield from ("", textwrap.indent(to_restructured_text(doc or ""), "      "), "")


class ShownDefault:
    """A default value in a form for readers, without memory addresses."""

    def __init__(self, value: Any) -> None:
        self.text = repr(value)

    def __repr__(self) -> str:
        return "..." if "<" in self.text or len(self.text) > 60 else self.text


def format_signature(value: Any, skipped_parameter_count: int = 0) -> str:
    """Format the arguments without their types, because the text states a type where it matters."""
    try:
        original = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [
        parameter.replace(
            annotation=parameter.empty,
            default=parameter.default if parameter.default is parameter.empty else ShownDefault(parameter.default),
        )
        for parameter in list(original.parameters.values())[skipped_parameter_count:]
    ]
    return str(inspect.Signature(parameters))


LITERAL_PATTERN = re.compile(r"(``.+?``)|:\w+:`([^`]+)`", re.DOTALL)


def to_restructured_text(doc: str) -> str:
    """Convert a docstring with Google sections to reStructuredText, and escape everything that is not code."""
    # The tests walk the namespaces with this module where Sphinx is not installed.
    from sphinx.ext.napoleon import Config, GoogleDocstring

    blocks = []
    with_fields = str(GoogleDocstring(doc.strip(), Config(napoleon_use_ivar=True)))
    for block in re.split(r"\n\s*\n", with_fields.strip()):
        text, prompt, example = block.partition(">>> ")
        pieces = []
        while literal := LITERAL_PATTERN.search(text):
            pieces += [escape_restructured_text(text[: literal.start()]), literal[1] or f"``{literal[2]}``"]
            text = text[literal.end() :]
        blocks.append("".join(pieces) + escape_restructured_text(text))
        if prompt:
            blocks.append(prompt + example)
    return "\n\n".join(block for block in blocks if block.strip())


def escape_restructured_text(text: str) -> str:
    """Escape everything that reStructuredText would read as markup, unless it is already escaped."""
    return re.sub(r"(?<!\\)([*|`]|_(?!\w)|\\(?![*|`_\\]))", r"\\\1", text)
