"""Each cause is one record that says everything: its kind, its sentences, its page and, in the tests, its programs."""

from pathlib import Path
from string import Formatter

import pytest

from minitape.explain.causes import CAUSE_FILES, CAUSES
from minitape.explain.causes.cause import FRAMEWORKS, KINDS

from .cause_programs import PROGRAMS_ELSEWHERE, WITHOUT_PROGRAM, map_causes_to_programs

ROOT = Path(__file__).parents[2]
# The fields that `finding_sentences` fills in.
FIELDS = set("x line what other code instead used function watched values functions n all one two list".split())
# The fields of suspicions, which the check of each fills in.
SUSPICION_FIELDS = set(
    "line what other one two result n x y steps from_ to ratio step all most made scale rate norm dtype name "
    "eps".split()
)
PAIRS = [(name, framework) for name, cause in CAUSES.items() for framework in cause.frameworks]


def test_each_name_has_one_record():
    assert len(CAUSES) == sum(len(file.CAUSES) for file in CAUSE_FILES)


@pytest.mark.parametrize("name", CAUSES)
def test_a_cause_has_a_kind_and_a_page(name):
    cause = CAUSES[name]
    assert cause.kind in KINDS and cause.frameworks
    assert name == "connected" or (ROOT / "docs" / cause.page).is_file()
    assert not cause.name_in_bridges or cause.name_in_bridges in CAUSES


@pytest.mark.parametrize("name", CAUSES)
def test_each_sentence_can_be_filled_in(name):
    cause = CAUSES[name]
    for framework, variant in cause.text_by_variant:
        # A finding about a whole run has fields of its own, like a suspicion.
        fields = SUSPICION_FIELDS if cause.kind == "suspect" or variant == "run" else FIELDS
        text = cause.get_text_or_default_variant(framework, variant)
        assert framework in FRAMEWORKS
        assert text.message and (text.fix or cause.kind == "connected"), (framework, variant)
        for template in text:
            assert {field for _, field, _, _ in Formatter().parse(template) if field is not None} <= fields, template
        assert ("{functions}" in text.fix) == bool(text.functions), (framework, variant)


# Programs are only read here, so that no framework needs to be installed.
@pytest.mark.parametrize("framework_name", FRAMEWORKS)
def test_a_cause_has_a_program_in_each_framework_in_which_it_occurs(framework_name):
    with_program = set(map_causes_to_programs(framework_name))
    declared = {name for name, framework in PAIRS if framework == framework_name}
    missing = {(framework_name, name) for name in declared - with_program - {"connected"}}
    assert missing == {pair for pair in PROGRAMS_ELSEWHERE | WITHOUT_PROGRAM if pair[0] == framework_name}
    assert with_program <= declared
    for pair in missing & PROGRAMS_ELSEWHERE.keys():
        assert f'"{pair[1]}"' in (ROOT / PROGRAMS_ELSEWHERE[pair]).read_text(encoding="utf-8")


def test_a_variant_without_a_sentence_has_the_ordinary_one():
    cause = CAUSES["requires_grad"]
    assert (
        cause.get_text_or_default_variant("torch", "late")
        != cause.get_text_or_default_variant("torch")
        == cause.get_text_or_default_variant("torch", "no such variant")
    )
    with pytest.raises(KeyError):
        cause.get_text_or_default_variant("jax")
