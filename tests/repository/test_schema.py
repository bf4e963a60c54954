"""The files that are generated from the types of a snapshot are up to date, and a type without a description is
refused."""

import ast

import make_schema
import pytest
from make_schema import SnapshotField, SnapshotType

VALUE_TYPE = '''
class ValueFields(TypedDict):
    """A value."""

    text: str  # The value as NumPy prints it.
'''


def test_the_files_are_up_to_date():
    files = make_schema.build_files()
    assert files.keys() == {make_schema.TYPESCRIPT, make_schema.PAGE}
    stale = [path.name for path, text in files.items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run python tests/repository/make_schema.py"


@pytest.fixture
def write_source(tmp_path, monkeypatch):
    """Replace the types of a snapshot with the types in a text."""

    def write(text):
        path = tmp_path / "snapshot_types.py"
        path.write_text(text, encoding="utf-8")
        monkeypatch.setattr(make_schema, "SOURCE", path)

    return write


def test_a_comment_on_the_line_or_above_it_is_the_meaning(write_source):
    write_source(VALUE_TYPE + "    # How wide\n    # it is.\n    cell: float\n")
    (value_type,) = make_schema.read_types()
    assert (value_type.name, value_type.meaning) == ("ValueFields", "A value.")
    assert [field.meaning for field in value_type.fields] == ["The value as NumPy prints it.", "How wide it is."]


@pytest.mark.parametrize(
    "text",
    [
        VALUE_TYPE + "    cell: float\n",
        '# A value.\nValueFields = TypedDict(\n    "ValueFields",\n    {\n        "cell": float,\n    },\n)\n',
    ],
)
def test_a_field_without_a_meaning_is_refused(write_source, text):
    write_source(text)
    with pytest.raises(ValueError, match=r"ValueFields\.cell"):
        make_schema.read_types()


@pytest.mark.parametrize(
    ("annotation", "meaning", "typescript"),
    [
        ("str", '"recorded" or "ghost": it ran on no tape.', '"recorded" | "ghost"'),
        ("str", '"recording", "closed", "used" or "released".', '"recording" | "closed" | "used" | "released"'),
        ("str | None", 'Optional. "automatic", "argument" (JAX): why.', '"automatic" | "argument" | null'),
        ("str", 'What is written there, such as "numpy()".', "string"),
        ("int", "The row.", "number"),
    ],
)
def test_the_choices_of_a_text_are_the_quoted_words_with_which_its_meaning_begins(annotation, meaning, typescript):
    field = SnapshotField("kind", annotation, meaning)
    assert make_schema.describe_in_typescript(SnapshotType("RowFields", ""), field) == typescript


@pytest.mark.parametrize(
    ("annotation", "typescript"),
    [
        ("list[ValueFields | None]", "(Value | null)[]"),
        ("dict[str, RowFields]", "Record<string, Row>"),
        ("Literal[1]", "1"),
    ],
)
def test_a_type_is_translated(annotation, typescript):
    assert make_schema.to_typescript(ast.parse(annotation, mode="eval").body) == typescript


def test_a_field_that_may_be_absent_has_a_question_mark():
    fields = [SnapshotField("text", "str", "Optional. The text."), SnapshotField("cell", "float", "The width.")]
    text = make_schema.write_typescript([SnapshotType("ValueFields", "A value.", fields)])
    assert "export interface Value {" in text
    assert "  text?: string;" in text and "  cell: number;" in text
