"""The page about the causes is up to date."""

import make_causes


def test_the_page_is_up_to_date():
    assert make_causes.PAGE.read_text(encoding="utf-8") == make_causes.build_page(), (
        "run python tests/repository/make_causes.py"
    )
