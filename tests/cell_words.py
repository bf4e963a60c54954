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

OF_OTHERS = "document"  # the tag of a cell whose program is quoted
# a lesson calls them with words
SHOWN = {"print", "predict", "reveal", "check", "Plot", "Moving", "curve", "line", "points", "draw", "ValueError"}
OF_CODE = re.compile(r"\{[^{}]*\}|\w+[_.]\w+|\w+\(.*?\)")  # among words
PROGRAM = re.compile(r"(```python\n)(.*)(```)", re.DOTALL)  # among paragraphs


def translated(cell: Object, known: dict[str, str]) -> str:
    """The text of a cell with its words as they are `known` in another language."""
    return "".join(known.get(piece, piece) if words else piece for piece, words in pieces_of(cell))


def pieces_of(cell: Object) -> Iterator[tuple[str, bool]]:
    """The text of a cell in pieces, and which of them are words to translate. Together they are the text, but for what
    is written in several pairs of quotes, which has one.

    >>> [piece for piece, words in pieces_of({"cell_type": "code", "source": "y = x * x  # a square"}) if words]
    ['a square']
    """
    source = "".join(cell["source"])
    if cell["cell_type"] == "code":
        quoted = OF_OTHERS in cell.get("metadata", {}).get("tags", ())
        yield from [(source, False)] if quoted else _pieces_of_code(source)
        return
    for paragraph in re.split(r"(\n\n+)(?=(?:[^`]|`(?!``)|```.*?```)*\Z)", source, flags=re.DOTALL):
        fenced = PROGRAM.fullmatch(paragraph)
        if fenced and _is_whole(fenced[2]):
            yield from [(fenced[1], False), *_pieces_of_code(fenced[2]), (fenced[3], False)]
        else:
            yield paragraph, bool(re.search("[A-Za-z]{2}", re.sub("<.*?>", "", paragraph)))


def _is_whole(program: str) -> bool:
    with suppress(SyntaxError):
        return bool(ast.parse(program))
    return False


def _pieces_of_code(source: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for begin, end, first, words, last in sorted({*_comments(source), *_quoted_words(source)}):
        if re.search("[a-z]{2}", OF_CODE.sub("", words)):
            yield from [(source[at:begin] + first, False), (words, True), (last, False)]
            at = end
    yield source[at:], False


Words: TypeAlias = tuple[int, int, str, str, str]  # where they begin and end, and they between their signs


def _comments(source: str) -> Iterator[Words]:
    """The comments of a program."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            begin = _place(source, *token.start)
            sign, words = re.findall("(#+ *)(.*)", token.string)[0]
            yield begin, begin + len(token.string), sign, words, ""


def _quoted_words(source: str) -> Iterator[Words]:
    """The words in quotes that a program prints, draws, asks or hands in, also where they have a name of their own
    first, and those that say what a function does.
    """
    lines = source.splitlines(keepends=True)
    for node in (text for words in _shown(ast.parse(source)) for text in texts_in(words)):
        ends = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset)  # in bytes
        begin, end = (_place(source, line, len(lines[line - 1].encode()[:column].decode())) for line, column in ends)
        if parts := re.findall(r'(f?)("""|["\'])(.*?)(?<!\\)\2', source[begin:end], re.DOTALL):
            formats, (quotes, *_), words = zip(*parts, strict=True)
            yield begin, end, max(formats) + quotes, "".join(words), quotes


def _place(source: str, line: int, column: int) -> int:
    return sum(map(len, source.splitlines(keepends=True)[: line - 1])) + column


def _shown(tree: ast.Module) -> Iterator[ast.AST]:
    named = dict(names_in(tree))
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            yield node.body[0]
        elif isinstance(node, ast.Call) and name_of(node.func) in SHOWN:
            for words in [*node.args, *(keyword.value for keyword in node.keywords)]:
                yield words
                found = (
                    text
                    for name in ast.walk(words)
                    if name_of(name) in named
                    for text in texts_in(named[name_of(name)])
                )
                yield from (text for text in found if " " in ast.unparse(text))  # one word alone may be a key


def names_in(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names of a program, and what they stand for: by assignment, in a loop, or as the default of an argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    yield from zip(map(name_of, target.elts), node.value.elts, strict=False)
                else:
                    yield name_of(target), node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield name_of(node.target), node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield from ((name_of(name), node.iter) for name in ast.walk(node.target))
        elif isinstance(node, ast.arguments):
            yield from zip((arg.arg for arg in reversed(node.args)), reversed(node.defaults), strict=False)


def texts_in(words: ast.AST) -> Iterator[ast.expr]:
    """The texts in an expression, but for those by which something is looked up, compared or computed."""
    if isinstance(words, ast.JoinedStr) or (isinstance(words, ast.Constant) and isinstance(words.value, str)):
        yield words
    elif isinstance(words, ast.Call) and name_of(words.func) == "get":  # what it gives where nothing is found
        yield from (text for part in words.args[1:] for text in texts_in(part))
    elif not (
        isinstance(words, (ast.Subscript, ast.Lambda, ast.Compare))
        or isinstance(getattr(words, "func", None), ast.Attribute)
    ):
        for part in ast.iter_child_nodes(words):
            yield from texts_in(part)


def name_of(node: ast.AST) -> str:
    return getattr(node, "id", getattr(node, "attr", ""))
