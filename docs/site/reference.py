"""Build the reference of all public names except ``tf``. Sphinx's autodoc and sphinx-click read the docstrings."""

from __future__ import annotations

import importlib

import minitape.course
import minitape_widgets

INDEX_PAGE = "reference/index"
TITLES = {
    "reference/commands": "The command line",
    "reference/bridges": "Bridges to PyTorch, TensorFlow and JAX",
    "reference/course": "Exercises, predictions and plots",
    "reference/widgets": "Live pictures, films and model maps",
    "reference/explanations": "Explanations",
}
INTRODUCTIONS = {
    "reference/commands": "The package provides the command `minitape`. This page lists its commands with their "
    "options, as `minitape COMMAND --help` does.",
    "reference/bridges": "A bridge records an unchanged program of another framework. "
    "[How to use the bridges](../docs/bridges.md) explains them with examples.",
    "reference/course": "`from minitape.course import Exercise, check, predict` and so on: what lessons are written "
    "with. [How to write a lesson](../deploy/TEACHERS.md) shows how the parts work together.",
    "reference/widgets": "`from minitape_widgets import TapeView` provides the live picture. "
    "[How to read a picture](../docs/tapeview.md) explains what it shows.",
    "reference/explanations": "`tape.explain(target, sources)` and `recording.explain(...)` return one explanation for "
    "each source. [Why is my gradient None?](../docs/explain.md) shows how to use them.",
}
COMMANDS = ".. click:: minitape.cli:main\n   :prog: minitape\n   :nested: full\n"
RECORDING_CLASSES = {"torch": "TorchRecording", "tensorflow": "TensorFlowRecording", "jax": "JaxRecording"}
FRAMEWORK_NAMES = {"torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX"}
FUNCTIONS = {"torch": ["record", "why"], "tensorflow": ["record", "why"], "jax": ["record", "record_if_bad"]}
# The members that the page shows of a class, besides its docstring.
MEMBERS = {
    "minitape.course.Plot": "curve, line, points, heights, regions, svg, html, source",
    "minitape.course.Moving": "save",
    "minitape.course.unknown_functions.Polynomial": "derivative",
    "minitape_widgets.TapeView": "interact, compare, save, kept, close, read_snapshot",
    "minitape_widgets.Film": "forward, back, say, hold, cut, drag, save",
    "minitape_widgets.ModelMap": "save",
}
# What exercises pass to a learner's code, from two modules of the course.
EXERCISE_NAMES = {
    "minitape.course.unknown_functions": ["UnknownFunction", "Polynomial", "TracedNumber"],
    "minitape.course.trials": ["AnswerTrial"],
}
CALLBACKS = {
    "Lightning": "minitape.bridges.lightning.Explain",
    "Keras": "minitape.bridges.keras.Explain",
    "Hugging Face transformers": "minitape.bridges.transformers.Explain",
}


def build_reference_pages() -> dict[str, str]:
    """Build the pages of the reference, keyed by path. They consist mostly of directives that Sphinx fills in."""
    exercise_objects = (format_objects(module, names) for module, names in EXERCISE_NAMES.items())
    bodies = {
        "reference/commands": format_directives(COMMANDS),
        "reference/bridges": _format_bridge_sections(),
        "reference/course": format_directives(
            format_objects("minitape.course", minitape.course.__all__), *exercise_objects
        ),
        "reference/widgets": format_directives(format_objects("minitape_widgets", minitape_widgets.__all__)),
        "reference/explanations": format_directives(format_class("minitape.explain.explanation.Explanation")),
    }
    texts = {f"{page}.md": f"# {TITLES[page]}\n\n{INTRODUCTIONS[page]}\n\n{body}\n" for page, body in bodies.items()}
    links = "\n".join(f"- [{title}]({page.partition('/')[2]}.md)" for page, title in TITLES.items())
    names = "\n".join(page.partition("/")[2] for page in TITLES)
    texts[f"{INDEX_PAGE}.md"] = (
        "# Reference\n\nEverything public besides [the names of tf](../api/index.md), from the docstrings.\n\n"
        f"{links}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
    return texts


def _format_bridge_sections() -> str:
    """Format the sections about the bridges, the classes of their recordings, and the callbacks."""
    sections = []
    for framework, class_name in RECORDING_CLASSES.items():
        module = f"minitape.bridges.{framework}"
        functions = (f".. autofunction:: {module}.{name}\n" for name in FUNCTIONS[framework])
        recording = format_class(f"{module}.{class_name}", "explain, problems, graph, snapshot, find_row")
        sections.append(f"## {FRAMEWORK_NAMES[framework]}\n\n{format_directives(*functions, recording)}")
    callbacks = (f".. autoclass:: {path}\n" for path in CALLBACKS.values())
    sections.append(f"## Callbacks: {', '.join(CALLBACKS)}\n\n{format_directives(*callbacks)}")
    fixture = ".. autofunction:: minitape.bridges.pytest_plugin.check_model_trains\n"
    sections.append(f"## In a test with pytest\n\n{format_directives(fixture)}")
    return "\n\n".join(sections)


def format_objects(module_name: str, names: list[str]) -> str:
    """Format the directives for the classes and functions of a module."""
    module = importlib.import_module(module_name)
    directives = []
    for name in names:
        path = f"{module_name}.{name}"
        if isinstance(getattr(module, name), type):
            directives.append(format_class(path, MEMBERS.get(path, "")))
        elif callable(getattr(module, name)):
            directives.append(f".. autofunction:: {path}\n")
    return "\n".join(directives)


def format_class(path: str, member_names: str = "") -> str:
    """Format the directive for a class with some of its own or inherited members."""
    options = f"   :members: {member_names}\n" if member_names else ""
    return f".. autoclass:: {path}\n{options}"


def format_directives(*directives: str) -> str:
    """Format reStructuredText directives as a block of a Markdown page."""
    return "```{eval-rst}\n" + "\n".join(directives) + "```"
