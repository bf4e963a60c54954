"""Count what a reader stumbles over in the source, the pages, the lessons and the messages.

    python tests/repository/readability.py            prints each counter and its limit in counters.txt
    python tests/repository/readability.py --lower    writes smaller counts into counters.txt

A counter only finds candidates. Readers must judge whether a name or a sentence is good.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
HERE = Path(__file__).parent
COUNTERS = HERE / "counters.txt"
NODES = "AST nodes of minitape/"

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
PARTICIPLES = set(
    "given said told made taken found kept held left lost cut met sent gone come known seen shown read written drawn "
    "begun run put set shut broken chosen spoken thrown swept torn felt fed led paid built bent sold spent thought "
    "brought bought caught taught asked called".split()
)
ADVERBS = set(
    "anew apart again beside besides before after behind below above through without within of at by on in to from "
    "around along alone back away elsewhere here there then now ever also too so as with".split()
)
NOUN_FIRST = re.compile(r"(The|A|An|What|Whether|Where|How|Why|Who|Which|All|Each|No|This|These|Those)\b")
SECTION = re.compile(r"^\s*(Args|Returns|Raises|Yields|Attributes):", re.MULTILINE)
MOST_DECISIONS = 15
SHOTS = {"film", "forward", "back", "say", "hold", "cut", "drag"}


def read_lines(name: str) -> list[str]:
    """Read the lines of a file next to this module, skipping empty lines and comments."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("# ")]


DIALECT = re.compile("|".join(read_lines("dialect.txt")), re.IGNORECASE)
VERBS = set(" ".join(read_lines("verbs.txt")).split())


@dataclass(frozen=True)
class NamedFunction:
    """A function or method of the source.

    Attributes:
        path: The file, relative to the repository.
        owner: The class of a method, or "" for a function.
        node: The definition in the syntax tree.
    """

    path: str
    owner: str
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def name(self) -> str:
        """The name without leading and trailing underscores."""
        return self.node.name.strip("_")

    @property
    def is_dunder(self) -> bool:
        """Whether Python itself gives the name its meaning."""
        return self.node.name.startswith("__")

    @property
    def is_property(self) -> bool:
        """Whether the function is a property, which is named by a noun."""
        return any("property" in ast.unparse(decorator) for decorator in self.node.decorator_list)

    @property
    def docstring(self) -> str:
        """The docstring, or ""."""
        return ast.get_docstring(self.node) or ""


@cache
def parse_sources() -> dict[str, ast.Module]:
    """Parse each Python file that is shipped, and return the syntax trees by path relative to the repository."""
    folders = REPOSITORY / "minitape", REPOSITORY / "widgets" / "minitape_widgets"
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return {path.relative_to(REPOSITORY).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


@cache
def list_nodes() -> dict[str, list[ast.AST]]:
    """List the nodes of each syntax tree of `parse_sources`, because several counters visit all of them."""
    return {path: [*ast.walk(tree)] for path, tree in parse_sources().items()}


@cache
def list_functions() -> list[NamedFunction]:
    """List all functions and methods, including nested ones, except those whose names are fixed elsewhere.

    The names of `tf/` are TensorFlow's. The shots of a `Film` are the words of a storyboard.
    """
    functions = []

    def visit(path: str, node: ast.AST, owner: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FUNCTIONS):
                if child.name in SHOTS and path == "widgets/minitape_widgets/film.py":
                    continue
                functions.append(NamedFunction(path, owner, child))
                visit(path, child, "")
            else:
                visit(path, child, child.name if isinstance(child, ast.ClassDef) else owner)

    for path, tree in parse_sources().items():
        if not path.startswith("minitape/tf/"):
            visit(path, tree, "")
    return functions


def is_participle(name: str) -> bool:
    """Return whether a name is one past participle, such as "swept".

    >>> is_participle("swept"), is_participle("parsed"), is_participle("parse_text")
    (True, True, False)
    """
    return name in PARTICIPLES or re.fullmatch(r"[a-z]{3,}ed", name) is not None


def begins_with_verb(function: NamedFunction) -> bool:
    """Return whether a function's name begins with a verb. Properties and dunder methods are always accepted.

    IPython prescribes the names of the methods with which objects are displayed, such as ``_repr_html_``.
    """
    if function.is_dunder or function.is_property or function.node.name.startswith(("_repr_", "_ipython_")):
        return True
    return function.name.partition("_")[0].lower() in VERBS


def count_decisions(function: ast.AST) -> int:
    """Count the decisions in a function: branches, loops, handlers, comprehensions and boolean operators."""
    branches = (ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.comprehension, ast.Assert, ast.match_case)
    nodes = list(ast.walk(function))
    operators = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + operators + sum(isinstance(node, branches) for node in nodes)


def find_golf(node: ast.AST) -> str | None:
    """Return the kind of golf that an expression is, or None. Golf saves a line but costs readers time.

    >>> find_golf(ast.parse("(a if b else c)(d)").body[0].value)
    'callee chosen by a condition'
    """
    match node:
        case ast.IfExp(body=ast.IfExp()) | ast.IfExp(orelse=ast.IfExp()):
            return "nested conditional expressions"
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            for text, factor in ((left, right), (right, left)):
                is_text = isinstance(text, ast.List) or (isinstance(text, ast.Constant) and isinstance(text.value, str))
                is_sign = isinstance(factor, ast.UnaryOp) and isinstance(factor.op, ast.USub)
                if is_text and isinstance(factor, (ast.Compare, ast.BoolOp, ast.UnaryOp)) and not is_sign:
                    return "text or list times a condition"
        case ast.Call(func=ast.IfExp()):
            return "callee chosen by a condition"
        case ast.Expr(value=ast.IfExp()):
            return "conditional expression as a statement"
        case ast.Subscript(value=ast.List() | ast.Tuple(), ctx=ast.Load()):
            return "[default, *found][-1]"
    return None


GOLF = (
    "nested conditional expressions",
    "text or list times a condition",
    "callee chosen by a condition",
    "conditional expression as a statement",
    "[default, *found][-1]",
)


def iter_source_prose() -> Iterator[str]:
    """Yield the docstrings (without examples) and comments in the source."""
    for path, nodes in list_nodes().items():
        for node in nodes:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.Module)):
                yield re.sub(r">>>.*", "", ast.get_docstring(node) or "", flags=re.DOTALL)
        text = (REPOSITORY / path).read_text(encoding="utf-8")
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        yield from (token.string for token in tokens if token.type == tokenize.COMMENT)


def iter_pages() -> Iterator[str]:
    """Yield the English pages without code blocks."""
    paths = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md"]
    paths += [path for folder in ("docs", "deploy") for path in sorted((REPOSITORY / folder).rglob("*.md"))]
    for path in paths:
        if ".zh." not in path.name:
            page = drop_code(path.read_text(encoding="utf-8"))
            yield "\n".join(line for line in page.split("\n") if not line.startswith("{zh} "))


def iter_lessons() -> Iterator[str]:
    """Yield the prose of the English lessons."""
    for text in iter_lesson_sources():
        yield "\n".join(line for line in text.split("\n") if not line.startswith(">"))


def iter_messages() -> Iterator[str]:
    """Yield the English messages of the checks, the command line, the explanations and the picture."""
    for name in ("check", "cli", "explain", "picture", "playground"):
        text = (REPOSITORY / "notebooks" / "zh" / "texts" / f"{name}.po").read_text(encoding="utf-8")
        for entry in re.findall(r'^msgid ((?:".*"\n)+)', text, re.MULTILINE):
            yield "".join(ast.literal_eval(line) for line in entry.strip().split("\n"))
    # The sources of the lessons contain the feedback on answers.
    for text in iter_lesson_sources():
        yield "\n".join(line for line in text.split("\n") if line.startswith(">"))


def iter_lesson_sources() -> Iterator[str]:
    """Yield the sources of the English lessons without their programs."""
    for path in sorted((REPOSITORY / "minitape" / "course" / "lessons").glob("*.md")):
        if ".zh." not in path.name:
            yield drop_code(path.read_text(encoding="utf-8"))


def drop_code(markdown: str) -> str:
    """Return a page's text without fenced code blocks."""
    return re.sub(r"```[\s\S]*?```", "", markdown)


def count_dialect_per_10000_words(texts: Iterator[str]) -> float:
    """Return the frequency of the phrases in dialect.txt per 10,000 words."""
    texts = list(texts)
    words = sum(len(text.split()) for text in texts)
    return round(1e4 * sum(len(DIALECT.findall(text)) for text in texts) / words, 1)


def to_percent(part: int, whole: int) -> float:
    """Return a share in percent, with one decimal place."""
    return round(100 * part / whole, 1)


def count_all() -> dict[str, float]:
    """Return the value of each counter. Smaller values are better."""
    functions = [function for function in list_functions() if not function.is_dunder]
    # A property is named and described by a noun, and takes no arguments.
    called = [function for function in functions if not function.is_property]
    documented = [function for function in called if function.docstring]
    nodes = list_nodes()
    golf = Counter(kind for node in chain.from_iterable(nodes.values()) if (kind := find_golf(node)))
    everything = [node for node in chain.from_iterable(nodes.values()) if isinstance(node, FUNCTIONS)]
    texts: dict[str, Callable[[], Iterator[str]]] = {
        "source": iter_source_prose, "docs": iter_pages, "lessons": iter_lessons, "messages": iter_messages,
    }  # fmt: skip
    counts: dict[str, float] = {
        "functions named by a participle": sum(is_participle(function.name) for function in functions),
        "functions named by an adverb or preposition": sum(function.name in ADVERBS for function in functions),
        "functions named by one word, %": to_percent(sum("_" not in f.name for f in called), len(called)),
        "functions that do not begin with a verb": sum(not begins_with_verb(function) for function in functions),
        "docstrings that begin with a noun or question word, %": to_percent(
            sum(NOUN_FIRST.match(function.docstring) is not None for function in documented), len(documented)
        ),
        "docstrings without Args, Returns or Raises, %": to_percent(
            sum(SECTION.search(function.docstring) is None for function in documented), len(documented)
        ),
        f"functions with over {MOST_DECISIONS} decisions": sum(count_decisions(n) > MOST_DECISIONS for n in everything),
        **{f"golf: {kind}": golf[kind] for kind in GOLF},
        **{f"dialect per 10,000 words, {kind}": count_dialect_per_10000_words(texts[kind]()) for kind in texts},
        NODES: sum(len(listed) for path, listed in nodes.items() if path.startswith("minitape/")),
    }
    return counts


def read_limits() -> dict[str, float]:
    """Read the largest allowed value of each counter from counters.txt."""
    pairs = (line.rpartition(": ") for line in read_lines(COUNTERS.name))
    return {name: float(value) for name, _, value in pairs}


def main(arguments: list[str]) -> None:
    """Print the counters. With --lower, write the counters that fell to counters.txt."""
    counts, limits = count_all(), read_limits() if COUNTERS.exists() else {}
    for name, count in counts.items():
        print(f"{name}: {count:g} (at most {limits.get(name, count):g})")
    if arguments == ["--lower"]:
        comment = [line for line in COUNTERS.read_text(encoding="utf-8").splitlines() if line.startswith("# ")]
        kept = {name: min(count, limits.get(name, count)) for name, count in counts.items() if name != NODES}
        kept[NODES] = limits[NODES]
        lines = comment + [f"{name}: {value:g}" for name, value in kept.items()]
        COUNTERS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
