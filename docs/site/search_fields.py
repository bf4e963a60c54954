"""Collect the facts about a page that the site's search uses: title, search terms, error messages and first lines.

Sphinx's index stores only which page contains which word. The script ``search.js`` ranks a page higher if a word of the
question is in one of these parts, because they say what the page is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from page_programs import SEARCH_COMMENT, find_framework, find_programs
from tabs import TITLES

LEAD_LENGTH = 600
"""The length of the part of a page's text that counts as its first lines, in characters."""
CODE_BLOCK = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
FRAMEWORK_HEADING = re.compile(rf"^## ({'|'.join(map(re.escape, TITLES))})$", re.MULTILINE)
FRAMEWORK_BY_WORD = {
    "pytorch": "PyTorch",
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "keras": "TensorFlow",
    "jax": "JAX",
}
REASON = re.compile(r"^## (?:Why it happens|为什么会这样)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


def find_fields(page_text: str, phrasings: Sequence[str] = ()) -> dict[str, str]:
    r"""Return the parts of a page that say what the page is about.

    >>> find_fields("# Zero?\n\nA step has no slope.\n\n## JAX\n\n<!-- search: flat 0 -->\n")
    {'title': 'Zero?', 'keywords': 'flat 0', 'lead': 'A step has no slope.', 'frameworks': 'JAX'}

    Args:
        page_text: The page, as Markdown, with its search comment.
        phrasings: Other ways to ask what the page answers.

    Returns:
        A dict that maps the names of the parts to their texts. Parts that the page does not have are left out.
    """
    title, _, body = page_text.partition("\n")
    before_headings = re.split(r"^##", body, maxsplit=1, flags=re.MULTILINE)[0]
    errors = [block[2] for block in CODE_BLOCK.finditer(before_headings) if block[1] == "text"]
    reason = REASON.search(body)
    first_text = reason[1] if reason else before_headings
    prose = LINK_TARGET.sub("]", COMMENT.sub("", CODE_BLOCK.sub("", first_text)))
    fields = {
        "title": title.removeprefix("# "),
        "phrasings": "\n".join(phrasings),
        "keywords": " ".join(SEARCH_COMMENT.findall(page_text)),
        "errors": "" if "```python" in before_headings else "\n".join(errors),
        "lead": " ".join(prose.split())[:LEAD_LENGTH],
        "frameworks": " ".join(find_frameworks(page_text)),
    }
    return {name: text for name, text in fields.items() if text}


def find_frameworks(page_text: str) -> list[str]:
    r"""Return the frameworks that a page is about, or an empty list if it is about all.

    A page with headings is about the frameworks that have a heading. A page without headings answers one question. It
    is about the framework of its programs, and minitape's programs run in TensorFlow. If its search terms name further
    frameworks, the answer is the same there.

    >>> find_frameworks("# Zero?\n\n```python\nimport torch\n```\n\n```text\n```\n\n<!-- search: jax -->\n")
    ['PyTorch', 'JAX']
    """
    programs = find_programs(page_text)
    if not programs or re.search("^## ", page_text, re.MULTILINE):
        return FRAMEWORK_HEADING.findall(page_text)
    words = [find_framework(page_text) or "tensorflow", *" ".join(SEARCH_COMMENT.findall(page_text)).lower().split()]
    return list(dict.fromkeys(FRAMEWORK_BY_WORD[word] for word in words if word in FRAMEWORK_BY_WORD))


def write_fields(fields_by_page: dict[str, dict[str, str]], static_folder: Path) -> None:
    """Write the fields of an edition's pages as a script, because a browser loads no data for a page on a local disk.

    Args:
        fields_by_page: The fields of each page. The keys are the pages' names without ".md".
        static_folder: The folder for the script.
    """
    static_folder.mkdir(parents=True, exist_ok=True)
    data = json.dumps(fields_by_page, ensure_ascii=False, separators=(",", ":"))
    (static_folder / "search_fields.js").write_text(f"var searchFields = {data};\n", encoding="utf-8")
