"""Read ``docs/cause_texts.md``, which has a section with the texts and programs of each cause."""

import re
from pathlib import Path
from typing import NamedTuple

TEXTS_FILE = Path(__file__).parents[2] / "docs" / "cause_texts.md"
LANGUAGES = ("en", "zh")
ERROR_BLOCK = re.compile(r"```text\n(.*?)\n```\n", re.DOTALL)
PROGRAM_BLOCK = re.compile(r"^```python ([a-z ]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED_PROGRAM = re.compile(r"^Program in (\w+): (\w+)$", re.MULTILINE)
TRANSLATION_MARK = "{zh} "


class CauseText(NamedTuple):
    """The hand-written text of a page.

    Attributes:
        title: What happened, in a few words.
        errors: The error messages that lead to the page.
        reason: Why it happens, in paragraphs.
        intended: When the cause is intended.
    """

    title: str
    errors: list[str]
    reason: str
    intended: str


class SectionProgram(NamedTuple):
    """A program of a section.

    Attributes:
        cause: The cause that minitape finds.
        framework: The framework of the program, or "tape".
        code: The program with its marks, or "" if the program is in tests/bridges.
        name: The name of the program in tests/bridges, or "".
    """

    cause: str
    framework: str
    code: str
    name: str


def read_sections() -> dict[str, str]:
    """Return the section of each cause, without its heading."""
    page = TEXTS_FILE.read_text(encoding="utf-8")
    sections = (section.partition("\n") for section in page.split("\n## ")[1:])
    return {name: body for name, _, body in sections}


def read_cause_texts(language: str) -> dict[str, CauseText]:
    """Return the hand-written texts by cause.

    Args:
        language: "en" or "zh". A paragraph that begins with "{zh} " translates the paragraph above it.
    """
    return {name: _parse_text(section, language) for name, section in read_sections().items()}


def _parse_text(section: str, language: str) -> CauseText:
    error_block = ERROR_BLOCK.search(section)
    errors = error_block[1].splitlines() if error_block and language == "en" else []
    prose = NAMED_PROGRAM.sub("", PROGRAM_BLOCK.sub("", ERROR_BLOCK.sub("", section)))
    beginning, _, intended = prose.partition("\n### ")
    title, *reason = _list_paragraphs(beginning, language)
    _, _, intended = intended.partition("\n")
    return CauseText(title, errors, "\n\n".join(reason), "\n\n".join(_list_paragraphs(intended, language)))


def _list_paragraphs(text: str, language: str) -> list[str]:
    paragraphs = [paragraph.strip("\n") for paragraph in re.split(r"\n\n+", text) if paragraph.strip()]
    is_translated = language != "en"
    return [
        paragraph.removeprefix(TRANSLATION_MARK)
        for paragraph in paragraphs
        if paragraph.startswith(TRANSLATION_MARK) == is_translated
    ]


def list_section_programs() -> list[SectionProgram]:
    """List the programs of all sections."""
    return [program for name, section in read_sections().items() for program in _list_programs(name, section)]


def _list_programs(cause: str, section: str) -> list[SectionProgram]:
    written = [
        SectionProgram(cause, framework, code, "")
        for frameworks, code in PROGRAM_BLOCK.findall(section)
        for framework in frameworks.split()
    ]
    named = [SectionProgram(cause, framework, "", name) for framework, name in NAMED_PROGRAM.findall(section)]
    return [*written, *named]
