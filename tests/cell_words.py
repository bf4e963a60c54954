"""Split notebook cells into texts to translate and everything else.

In a text cell, each paragraph is translated separately. In code, only comments and texts that are printed or drawn are
translated. A cell with the tag "document" contains another author's program and stays unchanged. ``translate.py``
stores the translations and builds the notebooks.
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

QUOTED_TAG = "document"
"""The tag of a cell whose program is quoted."""
SHOWING_CALLS = {*"print predict reveal check Plot Moving DigitSheet curve line points draw ValueError".split()}
"""The functions whose arguments in lessons are texts for people."""
CODE_PATTERN = re.compile(r"\{[^{}]*\}|\w+[_.]\w+|\w+\(.*?\)")
"""Code that is quoted in a text."""
PROGRAM_BLOCK = re.compile(r"(```python\n)(.*)(```)", re.DOTALL)
"""A paragraph that is a program."""


def translate_cell(cell: Object, translations: dict[str, str]) -> str:
    """Return the text of a cell in another language.

    Args:
        cell: A notebook cell.
        translations: The translation of each piece. Pieces without a translation stay English.
    """
    return "".join(translations.get(piece, piece) if is_words else piece for piece, is_words in iter_pieces(cell))


def iter_pieces(cell: Object) -> Iterator[tuple[str, bool]]:
    """Yield the text of a cell in pieces.

    Joined together, the pieces are the cell's text, except that adjacent string literals become a single literal.

    >>> [piece for piece, words in iter_pieces({"cell_type": "code", "source": "y = x * x  # a square"}) if words]
    ['a square']

    Args:
        cell: A notebook cell.

    Yields:
        Each piece, and whether it consists of words to translate.
    """
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":
        is_quoted = QUOTED_TAG in cell.get("metadata", {}).get("tags", ())
        if is_quoted:
            yield source, False
        else:
            yield from _iter_code_pieces(source)
        return
    for paragraph in re.split(r"(\n\n+)(?=(?:[^`]|`(?!``)|```.*?```)*\Z)", source, flags=re.DOTALL):
        code_block = PROGRAM_BLOCK.fullmatch(paragraph)
        if code_block and is_valid_program(code_block[2]):
            yield from [(code_block[1], False), *_iter_code_pieces(code_block[2]), (code_block[3], False)]
        else:
            yield paragraph, bool(re.search("[A-Za-z]{2}", re.sub("<.*?>", "", paragraph)))


def is_valid_program(program: str) -> bool:
    """Return whether a text is a Python program without syntax errors."""
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


QuotedWords: TypeAlias = tuple[int, int, str, str, str]
"""Words in a source: begin, end, the prefix before the words, the words, and the suffix after them."""


def _iter_comments(source: str) -> Iterator[QuotedWords]:
    """Yield the comments in a program."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            begin = _find_offset(source, *token.start)
            prefix, words = re.findall("(#+ *)(.*)", token.string)[0]
            yield begin, begin + len(token.string), prefix, words, ""


def _iter_quoted_words(source: str) -> Iterator[QuotedWords]:
    """Yield the string literals in a program that learners read.

    These are docstrings and the texts that the program prints, draws, asks or hands in, directly or through a variable.
    """
    lines = source.splitlines(keepends=True)
    for node in (text for words in _iter_displayed_expressions(ast.parse(source)) for text in iter_text_nodes(words)):
        # Column numbers count bytes.
        bounds = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset)
        begin, end = (
            _find_offset(source, line, len(lines[line - 1].encode()[:column].decode())) for line, column in bounds
        )
        if parts := re.findall(r'(f?)("""|["\'])(.*?)(?<!\\)\2', source[begin:end], re.DOTALL):
            prefixes, (quotes, *_), words = zip(*parts, strict=True)
            yield begin, end, max(prefixes) + quotes, "".join(words), quotes


def _find_offset(source: str, line: int, column: int) -> int:
    return sum(map(len, source.splitlines(keepends=True)[: line - 1])) + column


def _iter_displayed_expressions(tree: ast.Module) -> Iterator[ast.AST]:
    values_by_name: dict[str, list[ast.AST]] = {}
    for name, value in iter_named_values(tree):
        values_by_name.setdefault(name, []).append(value)
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
                    for value in values_by_name[get_name(name)]
                    for text in iter_text_nodes(value)
                )
                # A string with a single word may be a dictionary key.
                yield from (text for text in texts if " " in ast.unparse(text))


def iter_named_values(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names in a program with their values.

    Args:
        tree: The syntax tree of the program.

    Yields:
        Each name and its value: the assigned value, the loop's iterable, or the parameter's default.
    """
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
    """Yield the texts in an expression.

    Texts that are keys, operands of comparisons, or arguments of methods are skipped.

    Args:
        expression: The syntax tree of the expression.
    """
    if isinstance(expression, ast.JoinedStr) or (
        isinstance(expression, ast.Constant) and isinstance(expression.value, str)
    ):
        yield expression
        return
    parts: list[ast.AST] = [*ast.iter_child_nodes(expression)]
    is_method_call = isinstance(getattr(expression, "func", None), ast.Attribute)
    if isinstance(expression, ast.Call) and get_name(expression.func) == "get":
        # The values in a dictionary and the default value may be shown to learners, but the key is not.
        parts = [*getattr(getattr(expression.func, "value", None), "values", []), *expression.args[1:]]
    elif is_method_call or isinstance(expression, (ast.Subscript, ast.Lambda, ast.Compare)):
        return
    for part in parts:
        yield from iter_text_nodes(part)


def get_name(node: ast.AST) -> str:
    """Return the name of a variable or an attribute, or "" for other expressions."""
    return getattr(node, "id", getattr(node, "attr", ""))
