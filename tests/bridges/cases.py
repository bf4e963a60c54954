"""Read programs with a mistake, and correct the mistake. :mod:`torch_cases` describes the format."""

import linecache
import re
from types import CodeType

CASE_PATTERN = re.compile(r"^#@ (\w+) (\w+)\n(.*?)(?=^#@|\Z)", re.M | re.S)

# The sweep of x * x at x = 3. A picture shows each share of this sweep.
SWEEP_OF_A_SQUARE = {
    "target": [1],
    "sources": [0],
    "rest": 0,
    "gradients": [{"text": "6.0", "data": 6.0}],
    "steps": [{"row": 1, "adjoint": {"text": "1.0", "data": 1.0}, "edges": [
        {"input": 0, "port": 0, "local": {"text": "3.0", "data": 3.0}, "product": {"text": "3.0", "data": 3.0},
         "sum": {"text": "3.0", "data": 3.0}},
        {"input": 0, "port": 1, "local": {"text": "3.0", "data": 3.0}, "product": {"text": "3.0", "data": 3.0},
         "sum": {"text": "6.0", "data": 6.0}},
    ]}],
}  # fmt: skip

# Blanks separate the words of a sentence. Code is quoted, or has other characters between words.
ENGLISH_PATTERN = re.compile(r"\b[a-z]{2,}(?: [a-z]+){2,}\b|\b(?:the|is|not|was|of|its|an|or) [a-z]+", re.IGNORECASE)
CODE_PATTERN = re.compile(r"`[^`]*`|\w*[.\[(]\S*|\[[^\]]* for [^\]]*\]")
JAX_ERROR_MARK = re.compile("报的错是：|[A-Z]\\w+Error: ")
"""The text before an error message of JAX itself."""
CHINESE_PATTERN = re.compile("[\u4e00-\u9fff]")


def find_english_sentences(answer: str) -> list[str]:
    """Find English sentences in an answer or a model page that should be in Chinese.

    Args:
        answer: The Chinese answer. Its code and its messages from JAX may be English.
    """
    lines = [line for line in answer.splitlines() if not re.match(r"  \S+，代码第 \d+ 行：", line)]
    texts = (CODE_PATTERN.sub("", re.sub("`[^`]*`", "", JAX_ERROR_MARK.split(line)[0])) for line in lines)
    return [words for line in texts for words in ENGLISH_PATTERN.findall(line)]


def parse_programs_by_name(text: str) -> dict[str, tuple[str, str]]:
    """Parse a file of programs.

    Returns:
        The cause and the text of each program, by program name.
    """
    return {name: (cause, program) for name, cause, program in CASE_PATTERN.findall(text)}


def compile_program(text: str, name: str) -> CodeType:
    """Compile a program and register its source, so that its lines can be read.

    Args:
        text: The program's source.
        name: Its file name.
    """
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    return compile(text, name, "exec")


def strip_fix_comments(text: str) -> str:
    """Remove the marks and fixes from a program, which leaves the program with its mistake."""
    return re.sub(r"^ *#\+.*$| *#[!-].*$", "", text, flags=re.M)


def list_blamed_line_numbers(text: str) -> list[int]:
    """Return a list with the number of the line to blame, or an empty list if no line is to blame."""
    return [number for number, line in enumerate(text.splitlines(), 1) if "#!" in line]


def apply_fixes(text: str) -> str:
    """Return a program with the recommended changes."""
    lines = []
    for line in text.splitlines():
        indent = re.match(" *", line)[0]
        if line.strip().startswith("#+ "):
            line = indent + line.strip()[3:]
        elif "#-" in line:
            replacement = line.partition("#-")[2].strip()
            line = indent + replacement if replacement else ""
        lines.append(re.sub(r" *#!.*$", "", line))
    return "\n".join(lines) + "\n"
