"""What of a notebook's cell is said in another language: its pieces, and the cell with their translations.

In a cell of text each paragraph is translated by itself. In code it is the words for people: comments, and what is
printed or drawn; a cell tagged "document" has a program of another author, which stays as it is. ``translate.py`` keeps
the translations, and builds the notebooks.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from minitape.engine.types import Object

QUOTED_TAG = "document"  # the tag of a cell whose program is quoted
# a lesson calls them with words
SHOWING_CALLS = {
    "print",
    "predict",
    "reveal",
    "check",
    "Plot",
    "Moving",
    "curve",
    "line",
    "points",
    "draw",
    "ValueError",
}
CODE_PATTERN = re.compile(r"\{[^{}]*\}|\w+[_.]\w+|\w+\(.*?\)")  # among words
PROGRAM_BLOCK = re.compile(r"(```python\n)(.*)(```)", re.DOTALL)  # among paragraphs


def translate_cell(cell: Object, translations: dict[str, str]) -> str:
    """The text of a cell with its words as they are `translations` in another language."""
    return "".join(translations.get(piece, piece) if is_words else piece for piece, is_words in iter_pieces(cell))


def iter_pieces(cell: Object) -> Iterator[tuple[str, bool]]:
    """The text of a cell in pieces, and which of them are words to translate. Together they are the text, but for what
    is written in several pairs of quotes, which has one.

    >>> [piece for piece, words in iter_pieces({"cell_type": "code", "source": "y = x * x  # a square"}) if words]
    ['a square']
    """
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":
        is_quoted = QUOTED_TAG in cell.get("metadata", {}).get("tags", ())
        yield from [(source, False)] if is_quoted else _iter_code_pieces(source)
        return
    for paragraph in re.split(r"(\n\n+)(?=(?:[^`]|`(?!``)|```.*?```)*\Z)", source, flags=re.DOTALL):
        code_block = PROGRAM_BLOCK.fullmatch(paragraph)
        if code_block and is_valid_program(code_block[2]):
            yield from [(code_block[1], False), *_iter_code_pieces(code_block[2]), (code_block[3], False)]
        else:
            yield paragraph, bool(re.search("[A-Za-z]{2}", re.sub("<.*?>", "", paragraph)))


def is_valid_program(program: str) -> bool:
    with suppress(SyntaxError):
        return bool(ast.parse(program))
    return False


def _iter_code_pieces(source: str) -> Iterator[tuple[str, bool]]:
    offset = 0
    for begin, end, prefix, words, suffix in sorted({*_iter_comments(source), *_iter_quoted_words(source)}):
        if re.search("[a-z]{2}", CODE_PATTERN.sub("", words)):
            yield from [(source[offset:begin] + prefix, False), (words, True), (suffix, False)]
            offset = end
    yield source[offset:], False


QuotedWords: TypeAlias = tuple[int, int, str, str, str]  # where they begin and end, and they between their signs


def _iter_comments(source: str) -> Iterator[QuotedWords]:
    """The comments of a program."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            begin = _find_offset(source, *token.start)
            prefix, words = re.findall("(#+ *)(.*)", token.string)[0]
            yield begin, begin + len(token.string), prefix, words, ""


def _iter_quoted_words(source: str) -> Iterator[QuotedWords]:
    """The words in quotes that a program prints, draws, asks or hands in, also where they have a name of their own
    first, and those that say what a function does.
    """
    lines = source.splitlines(keepends=True)
    for node in (text for words in _iter_displayed_expressions(ast.parse(source)) for text in iter_text_nodes(words)):
        bounds = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset)  # in bytes
        begin, end = (
            _find_offset(source, line, len(lines[line - 1].encode()[:column].decode())) for line, column in bounds
        )
        if parts := re.findall(r'(f?)("""|["\'])(.*?)(?<!\\)\2', source[begin:end], re.DOTALL):
            prefixes, (quotes, *_), words = zip(*parts, strict=True)
            yield begin, end, max(prefixes) + quotes, "".join(words), quotes


def _find_offset(source: str, line: int, column: int) -> int:
    return sum(map(len, source.splitlines(keepends=True)[: line - 1])) + column


def _iter_displayed_expressions(tree: ast.Module) -> Iterator[ast.AST]:
    values_by_name = dict(iter_named_values(tree))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            yield node.body[0]
        elif isinstance(node, ast.Call) and get_name(node.func) in SHOWING_CALLS:
            for words in [*node.args, *(keyword.value for keyword in node.keywords)]:
                yield words
                texts = (
                    text
                    for name in ast.walk(words)
                    if get_name(name) in values_by_name
                    for text in iter_text_nodes(values_by_name[get_name(name)])
                )
                yield from (text for text in texts if " " in ast.unparse(text))  # one word alone may be a key


def iter_named_values(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names of a program, and what they stand for: by assignment, in a loop, or as the default of an argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip(map(get_name, target.elts), node.value.elts, strict=False)
                else:
                    yield get_name(target), node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield get_name(node.target), node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield from ((get_name(name), node.iter) for name in ast.walk(node.target))
        elif isinstance(node, ast.arguments):
            yield from zip((arg.arg for arg in reversed(node.args)), reversed(node.defaults), strict=False)


def iter_text_nodes(expression: ast.AST) -> Iterator[ast.expr]:
    """The texts in an expression, but for those by which something is looked up, compared or computed."""
    if isinstance(expression, ast.JoinedStr) or (
        isinstance(expression, ast.Constant) and isinstance(expression.value, str)
    ):
        yield expression
    elif (
        isinstance(expression, ast.Call) and get_name(expression.func) == "get"
    ):  # what it gives where nothing is found
        yield from (text for part in expression.args[1:] for text in iter_text_nodes(part))
    elif not (
        isinstance(expression, (ast.Subscript, ast.Lambda, ast.Compare))
        or isinstance(getattr(expression, "func", None), ast.Attribute)
    ):
        for part in ast.iter_child_nodes(expression):
            yield from iter_text_nodes(part)


def get_name(node: ast.AST) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))
