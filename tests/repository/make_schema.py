"""Generate two files from the types of a snapshot: the front end's types, and the page about the format.

python tests/repository/make_schema.py            writes both files
python tests/repository/make_schema.py --check    exits with an error if a file is outdated
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

from minitape.engine import types as shared_types

REPOSITORY = Path(__file__).parents[2]
SOURCE = REPOSITORY / "minitape" / "picture" / "snapshot_types.py"
TYPESCRIPT = REPOSITORY / "widgets" / "frontend" / "src" / "snapshot.ts"
PAGE = REPOSITORY / "docs" / "snapshot.md"

# The front end uses shorter names, without the suffix that marks Python's classes as containers of fields.
NAMES = {
    "ValueFields": "Value", "RowFields": "Row", "EdgeFields": "SweepEdge", "OtherAdjointFields": "OtherAdjoint",
    "StepFields": "SweepStep", "SweepFields": "Sweep", "TapeFields": "Tape", "EventFields": "TapeEvent",
    "TargetFields": "Target", "BlamedLine": "BlamedLine", "PathBreakFields": "PathBreak", "SourceFields": "Source",
    "AlarmFields": "Alarm", "ResultFields": "Result", "InsideFields": "Inside", "DifferenceFields": "Difference",
    "Snapshot": "Snapshot",
}  # fmt: skip
# These TypeScript types are more precise than Python's type checkers require.
PRECISE = {
    ("ValueFields", "data"): "Nested",
    ("ValueFields", "stats"): "{ min: Num; max: Num; mean?: Num; std?: Num; zeros?: number; nans?: number }",
    ("ValueFields", "thumb"): "Num[][]",
    ("RowFields", "arguments"): "Record<string, unknown>",
    ("TapeFields", "spans"): "[number, number][]",
}
ALIASES = {"Kind": "Kind", "RowPart": "(Partial<Row> & { row: number })"}
BASIC = {"int": "number", "float": "number", "str": "string", "bool": "boolean", "None": "null"}

TYPESCRIPT_HEAD = """\
// Written by tests/repository/make_schema.py from minitape/picture/snapshot_types.py; do not edit.

export type Num = number | string; // "nan", "inf" and "-inf" travel as strings: JSON has no such numbers
export type Nested = Num | boolean | Nested[];
export type Kind = "source" | "variable" | "constant" | "operation";
"""
PAGE_HEAD = """\
# The snapshot format

<!-- Written by tests/repository/make_schema.py from minitape/picture/snapshot_types.py; do not edit. -->

`tf.snapshot(tape)` returns a dictionary that JSON can represent. Pictures read nothing else from the engine.

```python
import minitape as tf

x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
snapshot = tf.snapshot(tape, y, x)
print([(row["label"], row["value"]["text"]) for row in snapshot["rows"]])
```

```text
[('x', '3.0'), ('×', '9.0')]
```

Fields that may be missing are marked *optional*. `Plain` is any value that JSON can represent. NaN and the infinities
are the strings "nan", "inf" and "-inf". `Kind` is "source", "variable", "constant" or "operation". A `RowPart` holds
the number of a row and only the fields that have changed.
"""


@dataclass
class SnapshotField:
    """A field of a snapshot's dictionary.

    Attributes:
        name: The field's key.
        annotation: The field's Python type.
        meaning: A description of the field.
    """

    name: str
    annotation: str
    meaning: str

    @property
    def is_optional(self) -> bool:
        """Whether the field may be absent."""
        return self.meaning.startswith("Optional.")


@dataclass
class SnapshotType:
    """A dictionary in a snapshot.

    Attributes:
        name: The name of the Python class.
        meaning: A description of the dictionary.
        fields: The fields, in order.
    """

    name: str
    meaning: str
    fields: list[SnapshotField] = field(default_factory=list)


def read_comments(text: str) -> dict[int, str]:
    """Return the comments in a source, by line. A comment on a separate line belongs to the next line of code."""
    comments: dict[int, str] = {}
    waiting: list[str] = []
    lines = text.splitlines()
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    by_line = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            waiting.append(by_line[number])
        elif line.strip():
            comments[number] = " ".join([*waiting, *([by_line[number]] if number in by_line else [])])
            waiting = []
    return comments


def read_annotation(node: ast.expr) -> str:
    """Return an annotation's text, in which the aliases of `minitape.engine.types` are replaced with their types."""
    return re.sub(r"[A-Z]\w+", lambda name: str(vars(shared_types).get(name[0], name[0])), ast.unparse(node))


def read_types() -> list[SnapshotType]:
    """Read the dictionaries of a snapshot and the descriptions of their fields.

    Raises:
        ValueError: If a field has no comment that describes it.
    """
    text = SOURCE.read_text(encoding="utf-8")
    comments = read_comments(text)
    types = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            kept = SnapshotType(node.name, (ast.get_docstring(node) or "").split("\n")[0])
            for part in node.body:
                if isinstance(part, ast.AnnAssign):
                    name = ast.unparse(part.target)
                    kept.fields.append(SnapshotField(name, read_annotation(part.annotation), comments[part.lineno]))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            kept = SnapshotType(ast.unparse(node.targets[0]), comments[node.lineno])
            fields = node.value.args[1]
            for key, value in zip(fields.keys, fields.values, strict=True):
                kept.fields.append(SnapshotField(key.value, read_annotation(value), comments[key.lineno]))
        else:
            continue
        types.append(kept)
    silent = [f"{kept.name}.{part.name}" for kept in types for part in kept.fields if not part.meaning]
    if silent:
        raise ValueError(f"these fields have no comment that says what they mean: {', '.join(silent)}")
    return types


def to_typescript(annotation: ast.expr) -> str:
    """Translate a Python type to TypeScript.

    >>> to_typescript(ast.parse("list[int] | None", mode="eval").body)
    'number[] | null'
    """
    match annotation:
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return f"{to_typescript(left)} | {to_typescript(right)}"
        case ast.Subscript(value=ast.Name(id="list"), slice=element):
            inner = to_typescript(element)
            return f"({inner})[]" if " | " in inner else f"{inner}[]"
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, value])):
            return f"Record<{to_typescript(key)}, {to_typescript(value)}>"
        case ast.Subscript(value=ast.Name(id="Literal"), slice=choice):
            return ast.unparse(choice)
        case ast.Constant(value=None):
            return "null"
        case ast.Name(id=name):
            return BASIC.get(name) or NAMES.get(name) or ALIASES[name]
    raise ValueError(f"no TypeScript type is known for {ast.unparse(annotation)}")


def describe_in_typescript(owner: SnapshotType, part: SnapshotField) -> str:
    """Return a field's TypeScript type. A text field whose description begins with quoted choices becomes a union."""
    if (owner.name, part.name) in PRECISE:
        return PRECISE[owner.name, part.name]
    choices = re.match(r'"\w+"(?:[^":]*?(?:,|or) "\w+")*', part.meaning.removeprefix("Optional. "))
    if choices and part.annotation.startswith("str"):
        union = " | ".join(re.findall(r'"\w+"', choices[0]))
        return f"{union} | null" if part.annotation.endswith("None") else union
    return to_typescript(ast.parse(part.annotation, mode="eval").body)


def write_typescript(types: list[SnapshotType]) -> str:
    """Return the source of the front end's types."""
    parts = [TYPESCRIPT_HEAD]
    for kept in types:
        lines = [f"/** {kept.meaning} */", f"export interface {NAMES[kept.name]} {{"]
        for part in kept.fields:
            mark = "?" if part.is_optional else ""
            lines.append(f"  /** {part.meaning} */")
            lines.append(f"  {part.name}{mark}: {describe_in_typescript(kept, part)};")
        parts.append("\n".join([*lines, "}"]) + "\n")
    return "\n".join(parts)


def write_page(types: list[SnapshotType]) -> str:
    """Return the text of the page, which describes the whole snapshot first."""
    parts = [PAGE_HEAD]
    for kept in sorted(types, key=lambda each: each.name != "Snapshot"):
        lines = [f"## {NAMES[kept.name]}", "", kept.meaning, "", "| field | type | meaning |", "|---|---|---|"]
        for part in kept.fields:
            shown = part.annotation.replace("|", "\\|").replace("'", '"')
            for name, short in NAMES.items():
                shown = re.sub(rf"\b{name}\b", short, shown)
            meaning = part.meaning.replace("Optional. ", "*optional*: ").replace("|", "\\|")
            lines.append(f"| `{part.name}` | `{shown}` | {meaning} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def build_files() -> dict[Path, str]:
    """Return the content of each generated file."""
    types = read_types()
    return {TYPESCRIPT: write_typescript(types), PAGE: write_page(types)}


def main(arguments: list[str]) -> None:
    """Write both files, or exit with the names of outdated files."""
    files = build_files()
    if arguments == ["--check"]:
        stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
        names = ", ".join(path.relative_to(REPOSITORY).as_posix() for path in stale)
        sys.exit(f"out of date: {names}; run python tests/repository/make_schema.py" if stale else 0)
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
