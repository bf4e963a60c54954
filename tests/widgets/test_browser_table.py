"""The table of operations with which a browser computes by itself."""

from .make_browser_table import FILE, NAMES_FILE, build_browser_table, format_browser_table, format_public_names


def test_the_table_is_that_of_the_engine():
    assert FILE.read_text(encoding="utf-8") == format_browser_table(), "run python -m tests.widgets.make_browser_table"
    names = NAMES_FILE.read_text(encoding="utf-8")
    assert names == format_public_names(), "run python -m tests.widgets.make_browser_table"


def test_each_operation_with_a_derivative_says_how_to_derive_it_again():
    for name, operation in build_browser_table().items():
        assert [not text for text in operation["recorded"]] == [not rule for rule in operation["rule"]], name
