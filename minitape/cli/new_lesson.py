"""Implement `minitape new-lesson`, which writes the skeleton of a lesson."""

import re
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from .messages import create_failed_action_error
from .notebook_rules import EXERCISE, FOLLOWS_ANSWERS, SOLUTION, Notebook
from .save import clean_notebook, execute_notebook, write_notebook

INTRODUCTION_TEMPLATE = """\
# {title}

After this lesson you can ... (say what the learner will be able to do).

It takes about 20 minutes. Run the cells from top to bottom, with Shift+Enter."""

IMPORTS = """\
import minitape as tf
from minitape.course import Exercise, Mistake, add_exercise, check, predict, progress, reveal
from minitape_widgets import TapeView"""

ANSWER_KEY_TEMPLATE = """\
# The answers of this lesson. This cell is folded when the lesson is opened.
add_exercise(
    Exercise(
        "{name}.1",
        expect=4.0,
        mistakes=[
            Mistake(8.0, "That is 2 * x * x. Taking the derivative of x * x leaves one x, not two."),
            Mistake(2.0, "That is x itself. The derivative of x * x is 2 * x."),
            Mistake(None, "The tape watches x, so there is a gradient."),
        ],
        hint="Write down the derivative of x * x first, then put x = 2 in.",
        because="The derivative of x * x is 2 * x, and x is 2.",
    )
)"""

QUESTION_TEMPLATE = """\
predict("{name}.p1", "The tape records y = x * x at x = 2. What is the gradient of y?", [2.0, 4.0, 8.0])"""

PROGRAM_TEMPLATE = """\
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
dy_dx = tape.gradient(y, x)
print(dy_dx)
why = "The derivative of `x * x` is `2 * x`. Say here why the answer is what it is."
beliefs = {{"2.0": "2.0 is x itself. Say here what each wrong choice computes.", "8.0": "8.0 is x * x * x."}}
reveal("{name}.p1", dy_dx, why, beliefs)"""

PICTURE_CODE = "TapeView(tape)"

ANSWER_TEMPLATE = """\
# Exercise 1: what is the derivative of x * x at x = 2?
answer = ...
check("{name}.1", answer)"""

SOLUTION_TEMPLATE = """\
<details>
<summary>Solution</summary>

```python
# Exercise 1: what is the derivative of x * x at x = 2?
answer = 4.0
check("{name}.1", answer)
```

</details>"""

SUMMARY = """\
## Summary

- One sentence for each thing that the learner takes away.

### TensorFlow, PyTorch, JAX: the same idea there

| | TensorFlow, minitape | PyTorch | JAX |
|---|---|---|---|
| the gradient | `tape.gradient(y, x)` | `y.backward()`, `x.grad` | `jax.grad(f)(x)` |

### Where to read on

- Name the next lesson."""

PROGRESS_TEMPLATE = 'progress("{name}")'


def build_lesson_skeleton(lesson_name: str, title: str) -> Notebook:
    """Build the skeleton of a lesson as a notebook that has not been run yet.

    Args:
        lesson_name: The prefix for exercise names.
        title: The lesson's title.

    Returns:
        The notebook.
    """
    cells = [
        new_markdown_cell(INTRODUCTION_TEMPLATE.format(title=title)),
        new_code_cell(IMPORTS),
        new_code_cell(ANSWER_KEY_TEMPLATE.format(name=lesson_name), metadata={"jupyter": {"source_hidden": True}}),
        new_markdown_cell("## The first idea\n\nExplain it in a few short sentences. Then let the learner predict."),
        new_code_cell(QUESTION_TEMPLATE.format(name=lesson_name)),
        new_code_cell(PROGRAM_TEMPLATE.format(name=lesson_name)),
        new_markdown_cell("Go on from there. The picture steps with the arrow keys:"),
        new_code_cell(PICTURE_CODE),
        new_markdown_cell("### Exercise 1"),
        new_code_cell(ANSWER_TEMPLATE.format(name=lesson_name), metadata={"tags": [EXERCISE]}),
        new_markdown_cell(SOLUTION_TEMPLATE.format(name=lesson_name), metadata={"tags": [SOLUTION]}),
        new_markdown_cell(SUMMARY),
        new_code_cell(PROGRESS_TEMPLATE.format(name=lesson_name), metadata={"tags": [FOLLOWS_ANSWERS]}),
    ]
    notebook = new_notebook(cells=cells)
    for number, cell in enumerate(notebook.cells, 1):
        cell["id"] = f"cell-{number:03d}"
    return notebook


def write_lesson_skeleton(file_name: str, title: str | None) -> Path:
    """Run the skeleton and write it to a new notebook.

    Args:
        file_name: The path of the notebook. The suffix may be omitted.
        title: The lesson's title, or None to derive the title from the file name.

    Returns:
        The path of the notebook.

    Raises:
        click.ClickException: If the file already exists or cannot be written, its number is already in use, or its name
            has no letters or digits.
    """
    path = Path(file_name if file_name.endswith(".ipynb") else f"{file_name}.ipynb")
    if path.exists():
        raise create_failed_action_error("{path} already exists; choose a different name", path=path)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise create_failed_action_error("the folder {folder} does not exist; create it first", folder=folder)
    title_words = re.sub(r"[\W_]+", " ", path.stem).strip()
    if not title_words:
        raise create_failed_action_error(
            "{name!r} cannot be turned into a lesson name; use letters and digits, such as 14_my_topic", name=file_name
        )
    number = path.stem.partition("_")[0]
    existing_notebooks = sorted(folder.glob(f"{number}_*.ipynb")) if number.isdecimal() else []
    if existing_notebooks:
        raise create_failed_action_error(
            "{name} already has the number {number}; choose a different number",
            name=existing_notebooks[0].name,
            number=number,
        )
    notebook = build_lesson_skeleton(title_words.replace(" ", "-"), title or _format_lesson_title(title_words))
    execute_notebook(notebook, path, 120)
    clean_notebook(notebook)
    write_notebook(notebook, path)
    return path


def _format_lesson_title(title_words: str) -> str:
    """Derive a title from the words of a file name, such as `1. My topic` from `01 my topic`."""
    number, topic = re.fullmatch(r"(\d*) ?(.*)", title_words).groups()  # type: ignore[union-attr]
    return ". ".join(part for part in (number.lstrip("0"), topic[:1].upper() + topic[1:]) if part) or title_words
