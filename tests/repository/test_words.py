"""Names and words: each class has a name of its own, and words that were given up do not come back."""

import ast
import io
import re
import tokenize
from collections import defaultdict
from functools import cache
from pathlib import Path

import minitape

PACKAGE = Path(minitape.__file__).parent
REPOSITORY = PACKAGE.parent
CODE = [*PACKAGE.rglob("*.py"), *(REPOSITORY / "widgets" / "minitape_widgets").rglob("*.py")]
PAGES = [
    *REPOSITORY.glob("*.md"),
    *(REPOSITORY / "docs").glob("*.md"),
    *(REPOSITORY / "deploy").rglob("*.md"),
    *(REPOSITORY / "notebooks" / "en").glob("*.ipynb"),
]
FRONT_END = [
    path
    for folder in ("lab", "playground", "src")
    for path in (REPOSITORY / "widgets" / "frontend" / folder).iterdir()
    if path.suffix in (".ts", ".css")
]
TENSORFLOWS = {"Variable", "name_scope"}  # TensorFlow itself has two of each: `tf` and `tf.keras`, `tf` and Keras' own

EVERYWHERE = re.compile(
    r"\b(mend(s|ed|ing)?|cuts? (the|a|that) way|lets? go of the|rooms? above|doors? between|nobody(?! --)|somebody"
    r"|(stands?|stood)(?! (for|in for|still|out)\b|-|``))\b",
    re.IGNORECASE,
)
IN_CODE = re.compile(r"\b(lets? go of|letting go of)\b", re.IGNORECASE)
NAMES = re.compile(r"(^|_)(mend|mends|mended|house|rooms)(_|$)")
# functions and classes had these names, which say neither what they return nor what they do
DEFINITIONS = re.compile(
    r"_?(alike|beside|born|closed|comes_back|drawn|fits|goes_on|held|holds|moved|more|need|opened|passed|passes_by|quiet"
    r"|spoken|stands|stayed|stays|takes|together|told|turned)"
)


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """The nodes of a file of code."""
    return [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]


def test_a_class_has_a_name_of_its_own():
    found = defaultdict(list)
    for path in CODE:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.name)
    assert len(found) > 300
    assert {name: files for name, files in found.items() if len(files) > 1 and name not in TENSORFLOWS} == {}


def comments_and_docstrings(text: str):
    """The texts in a file of code that no program sees, with their lines."""
    tree = ast.parse(text)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [node for node in ast.walk(tree) if isinstance(node, kinds) and ast.get_docstring(node)]
    yield from ((node.body[0].lineno, node.body[0].value.value) for node in docstrings)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def test_words_that_were_given_up_do_not_come_back_in_code():
    found = [
        f"{path.name}:{line}: {used[0]}"
        for path in CODE
        if (code := path.read_text(encoding="utf-8")) and (EVERYWHERE.search(code) or IN_CODE.search(code))
        for line, text in comments_and_docstrings(code)
        for used in (EVERYWHERE.search(text), IN_CODE.search(text))
        if used
    ]
    assert found == []


def test_they_do_not_come_back_in_comments_of_the_front_end():
    assert len(FRONT_END) > 60
    found = [
        f"{path.name}: {used[0]}"
        for path in FRONT_END
        for text in re.findall(r"(?s)/\*.*?\*/|(?<!:)//[^\n]*", path.read_text(encoding="utf-8"))
        for used in (EVERYWHERE.search(text), IN_CODE.search(text))
        if used
    ]
    assert found == []


def test_they_do_not_come_back_in_messages_and_pages():
    texts = [
        (path, node.value)
        for path in CODE
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    texts += [(path, re.sub('"id": "[^"]*"', "", path.read_text(encoding="utf-8"))) for path in PAGES]
    found = [f"{path.name}: {used[0]}" for path, text in texts for used in [EVERYWHERE.search(text)] if used]
    assert sorted(set(found)) == []


def test_they_do_not_come_back_in_names():
    found = {
        f"{path.name}: {name}"
        for path in CODE
        for node in nodes_of(path)
        for name in [getattr(node, "name", getattr(node, "arg", getattr(node, "id", None)))]
        if isinstance(name, str) and NAMES.search(name)
    }
    assert sorted(found) == []


def test_a_definition_is_named_by_what_it_returns_or_does():
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = {
        f"{path.name}:{node.lineno}: {node.name}"
        for path in CODE
        for node in nodes_of(path)
        if isinstance(node, kinds) and DEFINITIONS.fullmatch(node.name)
    }
    assert sorted(found) == []


def test_a_word_that_comes_back_is_seen():
    assert EVERYWHERE.search("what mends it") and EVERYWHERE.search("It cuts the way to x.")
    assert EVERYWHERE.search("It stands above the others.") and not EVERYWHERE.search("A name stands for it.")
    assert DEFINITIONS.fullmatch("goes_on") and not DEFINITIONS.fullmatch("held_variable")
    assert (
        EVERYWHERE.search("# Nobody reads it")
        and IN_CODE.search("lets go of it")
        and NAMES.search("first_mend")
        and not NAMES.search("amended")
    )
    assert list(comments_and_docstrings('"""One."""\nx = "two"  # three\n')) == [(1, "One."), (2, "# three")]
