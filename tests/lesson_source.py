"""Read a lesson from its only source, a Markdown file in ``minitape/course/lessons``.

The file contains everything that a learner reads: the cells of the notebook, the replies to predictions, the hints of
exercises and the replies to wrong answers. docs/lessons.md describes the format of the file. `tests/build_lessons.py`
writes the content to the lesson's notebook, and to the file from which minitape reads its replies.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from minitape.common.read_data import read_text
from minitape.course.course_texts import ExerciseTexts, LessonTexts, ListedMistake, RetryQuestion, TrialTexts
from minitape.course.exercise import Exercise

LESSONS_FOLDER = Path(__file__).parents[1] / "minitape" / "course" / "lessons"
CELL_MARKS = {"folded", "document", "exercise", "follows-answers", "nbval-ignore-output", "raises-exception", "cell"}
SOLUTION_START, SOLUTION_END = "<details><summary>Solution</summary>", "</details>"
ARROW = "→"
NOTHING = "∅"
"""What stands for an empty piece of a program."""
EVERYBODY = "and to everybody"

_TRANSLATION = re.compile(r"\{([A-Za-z]{2,3}(?:-[A-Za-z0-9]+)*)\} (.*)", re.DOTALL)
_PARAGRAPH_BREAK = re.compile(r"\n\n+(?=(?:[^`]|`(?!``)|```.*?```)*\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!-- (.+?) -->")
_CHECK_CALL = re.compile(r"check\(\s*\"([\w.-]+)\"")
_QUOTE_HEADING = re.compile(
    r"\*\*(Replies|Again|Asks|Hints|Not from the tape|Wrong answers?|Trial|Sentences)"
    r"(?: (?:to )?([\w.-]+))?\*\*(?:: (.*))?"
)
_CORRECT = re.compile(r"Exercise [\w.-]+: correct\. ")
_ITEM = re.compile(r"(?:-|\d+\.) (.*)")
_NAMED = re.compile(rf"\*(.+?)\* {ARROW} (.*)")
_MEMBER = re.compile(rf"has `(.+?)` {ARROW} (.*)")
_ERROR = re.compile(rf"raises `(.+?)` {ARROW} (.*)")
_CHANGE = re.compile(rf"`(.+?)` => `(.+?)` {ARROW} (.*)")
_VALUE = re.compile(rf"(?:(.+?): )?`(.+?)` {ARROW} (.*)")


class LessonSourceError(ValueError):
    """The source of a lesson cannot be read, or does not fit the Python of its exercises."""


@dataclass(frozen=True)
class SourceCell:
    """A cell in the source of a lesson.

    Attributes:
        kind: "markdown" or "code".
        source: The text of the cell.
        marks: The words in the comment above the cell, such as "folded" or "document". For a solution, "solution".
        id: The name of the cell, if the source gives one.
        quoted_output: The lines that the source quotes from the cell's output, or "" if it quotes none.
        line: The number of the cell's first line.
    """

    kind: str
    source: str
    marks: tuple[str, ...] = ()
    id: str = ""
    quoted_output: str = ""
    line: int = 0


@dataclass
class LessonSource(LessonTexts):
    """A lesson, as read from its source.

    Attributes:
        cells: The cells of the notebook.
        translations: The translations that stand below their English paragraphs, by language and English text.
    """

    cells: list[SourceCell] = field(default_factory=list)
    translations: dict[str, dict[str, str]] = field(default_factory=dict)


def list_lesson_sources() -> tuple[Path, ...]:
    """List the sources of the course.

    Returns:
        The paths of the lessons and pages, in the order of the course.
    """
    return tuple(sorted(path for path in LESSONS_FOLDER.glob("*.md") if path.suffixes == [".md"]))


def get_lesson_name(source: Path) -> str:
    """Return the prefix of a lesson's exercise names, such as "04", or the name of a page.

    Args:
        source: The lesson's source.
    """
    return source.stem.partition("_")[0]


def find_lesson_source(lesson: str) -> Path | None:
    """Find the source of a lesson or page.

    Args:
        lesson: The prefix of the lesson's exercises, such as "04", or the name of a page.

    Returns:
        The path, or None if the course has no such lesson.
    """
    return next((path for path in list_lesson_sources() if get_lesson_name(path) == lesson), None)


@cache
def read_lesson_source(lesson: str) -> LessonSource:
    """Read a lesson of the course.

    Args:
        lesson: The prefix of the lesson's exercises, such as "04".

    Returns:
        The lesson. It is empty if the course has no such lesson.

    Raises:
        LessonSourceError: If the source contains a line that does not follow the format.
    """
    path = find_lesson_source(lesson)
    return LessonSource() if path is None else parse_lesson(read_text(path), path.name)


def parse_lesson(text: str, file_name: str = "lesson") -> LessonSource:
    r"""Parse the source of a lesson.

    >>> lesson = parse_lesson('# A title\n\n<!-- folded -->\n\n```python\nx = 1\n```\n')
    >>> [(cell.kind, cell.source, cell.marks) for cell in lesson.cells]
    [('markdown', '# A title', ()), ('code', 'x = 1', ('folded',))]

    Args:
        text: The source.
        file_name: The name of the file, for error messages.

    Raises:
        LessonSourceError: If a line does not follow the format.
    """
    return _Parser(text, file_name).parse()


def require_matching_texts(texts: LessonTexts, exercises: Sequence[Exercise]) -> None:
    """Require that a lesson's source and its Python code name the same exercises, mistakes, sentences and trials.

    Args:
        texts: The texts from the source.
        exercises: The exercises in Python, without their texts.

    Raises:
        LessonSourceError: If an exercise, a mistake or a trial has no text in the source, or a text has no use.
    """
    unused = texts.exercises.keys() - {exercise.name for exercise in exercises}
    if unused_names := sorted(name for name in unused if texts.exercises[name] != ExerciseTexts()):
        raise LessonSourceError(f"the lesson has texts for exercises that do not exist in Python: {unused_names}")
    for exercise in exercises:
        exercise_texts = texts.exercises.get(exercise.name, ExerciseTexts())
        if not exercise_texts.hints:
            raise LessonSourceError(f"the source of the lesson has no hints for exercise {exercise.name}")
        names_in_source = {wrong.answer for wrong in exercise_texts.wrong_answers if wrong.kind == "name"}
        names_in_python = {mistake.named for mistake in exercise.mistakes} | _list_names_in_functions(exercise, texts)
        if differing_names := sorted(names_in_source ^ names_in_python):
            raise LessonSourceError(
                f"exercise {exercise.name} has names that appear only in Python or only in its source: "
                f"{differing_names}"
            )
        for trial in exercise.trials:
            if trial.program not in exercise_texts.trials:
                raise LessonSourceError(f"exercise {exercise.name} has no texts for the trial {trial.program!r}")


def _list_names_in_functions(exercise: Exercise, texts: LessonTexts) -> set[str]:
    """List the names of sentences that an exercise's own checks return, which are their strings with spaces."""
    names = set()
    for function in (exercise.also, exercise.of_wrong):
        code = getattr(function, "__code__", None)
        if code and function.__module__.startswith("minitape.course.lesson_"):
            constants = [constant for constant in code.co_consts if isinstance(constant, str)]
            names |= {constant for constant in constants if " " in constant and constant != function.__doc__}
    return names - texts.sentences.keys()


class _Parser:
    """The state of the parser: the lesson so far, and the cell that is being read."""

    def __init__(self, text: str, file_name: str) -> None:
        self.lines, self.file_name, self.position = text.splitlines(), file_name, 0
        self.lesson = LessonSource()
        self.text_lines: list[str] = []
        self.text_start = 1
        self.marks: tuple[str, ...] = ()
        self.cell_id = ""
        self.exercise_name = ""

    def parse(self) -> LessonSource:
        """Parse all lines."""
        while self.position < len(self.lines):
            line = self.lines[self.position]
            comment = _COMMENT.fullmatch(line)
            if comment and self._take_marks(comment[1].split(", ")):
                self.position += 1
            elif line == "```python":
                self._add_code_cell()
            elif line == "```text" and self._follows_code_cell():
                self._add_quoted_output()
            elif line.startswith("```"):
                fence_line = line.removesuffix(" quoted")
                self.text_lines += [fence_line, *self._take_fence(), "```"]
            elif line == SOLUTION_START:
                self._add_solution()
            elif line.startswith("> ") and (heading := _QUOTE_HEADING.fullmatch(line[2:])):
                self._take_quote(heading)
            else:
                if not self.text_lines:
                    self.text_start = self.position + 1
                self.text_lines.append(line)
                self.position += 1
        self._finish_text_cell()
        return self.lesson

    def _raise_error(self, problem: str) -> NoReturn:
        raise LessonSourceError(f"{self.file_name}, line {self.position + 1}: {problem}")

    def _take_marks(self, words: list[str]) -> bool:
        """Read the marks in a comment above a cell.

        Returns:
            Whether it is such a comment.
        """
        cell_ids = [word.removeprefix("id: ") for word in words if word.startswith("id: ")]
        marks = [word for word in words if not word.startswith("id: ")]
        if not {*marks} <= CELL_MARKS:
            return False
        self._finish_text_cell()
        self.marks, self.cell_id = tuple(mark for mark in marks if mark != "cell"), "".join(cell_ids)
        return True

    def _finish_text_cell(self) -> None:
        text = self._take_translations("\n".join(self.text_lines).strip("\n"))
        self.text_lines = []
        if text:
            self._add_cell("markdown", text, self.text_start)

    def _take_translations(self, text: str, by_paragraph: bool = True) -> str:
        """Remove the translations from a text, store each with the English text above it, and return the English text.

        Args:
            text: Paragraphs. A translation begins with its language in braces, such as "{zh} ".
            by_paragraph: Whether each English paragraph has its own translation. Otherwise, only the whole text has a
                translation.
        """
        if "{" not in text:
            return text
        english: list[str] = []
        translated: dict[tuple[str, int], list[str]] = {}
        for paragraph in _PARAGRAPH_BREAK.split(text):
            if match := _TRANSLATION.fullmatch(paragraph):
                translated.setdefault((match[1], len(english) if by_paragraph else 0), []).append(match[2])
            else:
                english.append(paragraph)
        for (language, count), paragraphs in translated.items():
            original = english[count - 1] if by_paragraph and count else "\n\n".join(english)
            self._note_translation(language, original, "\n\n".join(paragraphs))
        return "\n\n".join(english)

    def _note_translation(self, language: str, english: str, translation: str) -> None:
        self.lesson.translations.setdefault(language, {})[english] = translation

    def _note_translation_below(self, english: str, text: str) -> None:
        """Store a paragraph that translates the English text above it."""
        match = _TRANSLATION.fullmatch(text) or self._raise_error(f"this paragraph has no place: {text}")
        self._note_translation(match[1], english, match[2])

    def _add_cell(self, kind: str, source: str, line: int) -> None:
        self.lesson.cells.append(SourceCell(kind, source, self.marks, self.cell_id, line=line))
        self.marks, self.cell_id = (), ""

    def _take_fence(self) -> list[str]:
        """Return the lines of a fenced block, and continue after the block.

        Raises:
            LessonSourceError: If the fenced block has no end.
        """
        for end in range(self.position + 1, len(self.lines)):
            if self.lines[end] == "```":
                taken = self.lines[self.position + 1 : end]
                self.position = end + 1
                return taken
        return self._raise_error("this fence has no end")

    def _add_code_cell(self) -> None:
        self._finish_text_cell()
        line = self.position + 1
        source = "\n".join(self._take_fence())
        if "exercise" in self.marks:
            names = _CHECK_CALL.findall(source) or self._raise_error("no call of check in this exercise")
            self.exercise_name = names[0]
            self.lesson.exercises.setdefault(self.exercise_name, ExerciseTexts())
        self._add_cell("code", source, line)

    def _follows_code_cell(self) -> bool:
        has_text = any(line.strip() for line in self.text_lines)
        return not has_text and bool(self.lesson.cells) and self.lesson.cells[-1].kind == "code"

    def _add_quoted_output(self) -> None:
        output = "\n".join(self._take_fence())
        self.lesson.cells[-1] = replace(self.lesson.cells[-1], quoted_output=output)

    def _add_solution(self) -> None:
        """Add the folded solution of an exercise. A line with an arrow explains why the solution is right."""
        self._finish_text_cell()
        line = self.position + 1
        solution_lines = []
        self.position += 1
        while self.lines[self.position] != SOLUTION_END:
            current_line = self.lines[self.position]
            if current_line == "```python":
                program = self._take_fence()
                self.lesson.solutions[self.exercise_name] = _cut_check("\n".join(program))
                solution_lines += [current_line, *program, "```"]
                continue
            if current_line.startswith(f"{ARROW} "):
                self._get_exercise("").because = _CORRECT.sub("", current_line[2:])
            elif _TRANSLATION.fullmatch(current_line):
                self._note_translation_below(self._get_exercise("").because, current_line)
            else:
                solution_lines.append(current_line)
            self.position += 1
            if self.position == len(self.lines):
                self._raise_error(f"this solution has no {SOLUTION_END}")
        self.position += 1
        text = "\n".join(solution_lines).strip("\n")
        self.marks = (*self.marks, "solution")
        self._add_cell("markdown", f"<details>\n<summary>Solution</summary>\n\n{text}\n\n</details>", line)

    def _get_exercise(self, name: str) -> ExerciseTexts:
        name = name or self.exercise_name or self._raise_error("no exercise comes before this line")
        return self.lesson.exercises.setdefault(name, ExerciseTexts())

    def _take_quote(self, heading: re.Match[str]) -> None:
        """Read the block quotes that belong together. Each of them starts at its heading."""
        kind, name, inline_text = heading.groups()
        self.position += 1
        quote_lines: list[str] = []
        while self.position < len(self.lines) and self.lines[self.position].startswith(">"):
            line = self.lines[self.position][2:]
            if _QUOTE_HEADING.fullmatch(line):
                break
            quote_lines.append(line)
            self.position += 1
        items = [*_iter_items(quote_lines)]
        if kind == "Replies":
            self._add_replies(name or self._raise_error("which prediction?"), items)
        elif kind == "Again":
            self._add_retry_question(name or self._raise_error("which prediction?"), inline_text or "", items)
        elif kind == "Sentences":
            self.lesson.sentences |= {answer.answer: answer.reply for answer in self._parse_wrong_answers(items)}
        else:
            self._add_exercise_texts(self._get_exercise(name or ""), kind, inline_text or "", items)

    def _add_replies(self, name: str, items: list[tuple[str, str]]) -> None:
        replies = self.lesson.replies.setdefault(name, {})
        for kind, text in items:
            choice, separator, reply = text.partition("*: ")
            if kind == "item" and text.startswith(f"{EVERYBODY}: "):
                explanation = text.removeprefix(f"{EVERYBODY}: ")
                self.lesson.explanations[name] = self._take_translations(explanation, by_paragraph=False)
            elif kind == "item" and text.startswith("*") and separator:
                replies[choice[1:]] = self._take_translations(reply)
            else:
                self._raise_error(f"this reply to {name} names no choice: {text}")

    def _add_retry_question(self, name: str, question: str, items: list[tuple[str, str]]) -> None:
        while items and items[0][0] == "text":
            self._note_translation_below(question, items.pop(0)[1])
        choices = [text.partition("\n\n")[0] for kind, text in items if kind == "item"]
        for text in (text for kind, text in items if kind == "item" and "\n\n" in text):
            choice, _, translation = text.partition("\n\n")
            self._note_translation_below(choice.strip("*"), translation)
        truths = [choice[2:-2] for choice in choices if choice.startswith("**")]
        reason = self._take_translations("\n\n".join(text for kind, text in items if kind == "text"), False)
        if len(truths) != 1 or not question:
            self._raise_error(f"question {name} needs a text and one choice in bold")
        plain_choices = [choice.strip("*") if choice.startswith("**") else choice[1:-1] for choice in choices]
        self.lesson.retry_questions[name] = RetryQuestion(question, plain_choices, truths[0], reason)

    def _add_exercise_texts(
        self, texts: ExerciseTexts, kind: str, inline_text: str, items: list[tuple[str, str]]
    ) -> None:
        if kind in ("Asks", "Not from the tape"):
            setattr(texts, "asks" if kind == "Asks" else "not_from_tape", inline_text)
            for _, text in items:
                self._note_translation_below(inline_text, text)
        elif kind == "Hints":
            texts.hints += [self._take_translations(text) for item_kind, text in items if item_kind == "item"]
        elif kind == "Trial":
            (_, program), *others = items
            hints = [self._take_translations(text) for kind, text in others if kind == "item" and ARROW not in text]
            answers = [item for item in others if ARROW in item[1]]
            texts.trials[program] = TrialTexts(hints, [*self._parse_wrong_answers(answers)])
        else:
            texts.wrong_answers += self._parse_wrong_answers(items)

    def _parse_wrong_answers(self, items: list[tuple[str, str]]) -> Iterator[ListedMistake]:
        """Parse wrong answers and replies: items of a list, or a program and then a paragraph with an arrow."""
        program_kind, program, reply = "", "", ""
        for kind, text in items:
            if kind in ("python", "diff"):
                program_kind, program = kind, text
            elif kind == "text" and program and text.startswith(f"{ARROW} "):
                reply = text[2:]
                yield self._parse_program(program_kind, program, reply)
                program = ""
            elif kind == "text" and reply:
                self._note_translation_below(reply, text)
            elif kind == "item":
                english, _, translation = text.partition("\n\n{")
                answer = self._parse_item(english)
                if translation:
                    self._note_translation_below(answer.reply, "{" + translation)
                yield answer
            else:
                self._raise_error(f"no wrong answer and no reply: {text}")

    def _parse_program(self, kind: str, program: str, reply: str) -> ListedMistake:
        if kind == "diff":
            pieces = [
                "\n".join(line[1:] for line in program.split("\n") if line.startswith(sign)) for sign in ("-", "+")
            ]
            return ListedMistake("change", (pieces[0], pieces[1]), reply)
        tree = ast.parse(program)
        if any(isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)) for node in ast.walk(tree)):
            return ListedMistake("program", program, reply)
        try:
            return ListedMistake("value", ast.literal_eval(tree.body[-1].value), reply)  # type: ignore[attr-defined]
        except (AttributeError, ValueError):
            self._raise_error(f"the value of this wrong answer must be written out: {program}")

    def _parse_item(self, text: str) -> ListedMistake:
        if match := _NAMED.fullmatch(text):
            return ListedMistake("name", match[1], match[2])
        if match := _MEMBER.fullmatch(text):
            return ListedMistake("member", _parse_value(match[1]), match[2])
        if match := _ERROR.fullmatch(text):
            return ListedMistake("error", match[1], match[2])
        if match := _CHANGE.fullmatch(text):
            pieces = tuple("" if piece == NOTHING else piece for piece in match.groups()[:2])
            return ListedMistake("change", pieces, match[3])
        if match := _VALUE.fullmatch(text):
            return ListedMistake("value", _parse_value(match[2]), match[3], match[1] or "")
        return self._raise_error(f"this is not a wrong answer with its reply: {text}")


def _cut_check(program: str) -> str:
    """Remove the call to `check` from the end of a program.

    Returns:
        The program before the call, or the whole program if it contains no such call.
    """
    call = _CHECK_CALL.search(program)
    return program[: call.start()].rstrip("\n") if call else program


def _parse_value(text: str) -> Any:  # The literal may have any type.
    """Parse a literal.

    Returns:
        The value. A text without quotes stands for itself.
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _iter_items(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the parts of a block quote.

    The lines of a paragraph are joined. All but the first paragraph of an item are indented by two spaces.

    Yields:
        ("item", text) for an item of a list, ("python" or "diff", program) for a fence, ("text", paragraph) otherwise.
    """
    position = 0
    while position < len(lines):
        line, start = lines[position], position
        item = _ITEM.fullmatch(line)
        if line.startswith("```"):
            position = lines.index("```", start + 1)
            yield line[3:], "\n".join(lines[start + 1 : position])
            position += 1
        elif line:
            position = _find_part_end(lines, start)
            others = [_remove_indentation(other) for other in lines[start + 1 : position]]
            yield "item" if item else "text", _join_paragraphs([item[1] if item else line, *others])
        else:
            position += 1


def _remove_indentation(line: str) -> str:
    """Remove the indentation from one of an item's later lines.

    Returns:
        The line. A translation may be indented by three spaces.
    """
    return line.lstrip() if _TRANSLATION.match(line.lstrip()) else line.removeprefix("  ")


def _find_part_end(lines: list[str], start: int) -> int:
    """Find the end of an item of a list or of a paragraph.

    Returns:
        The index of the first line after it.
    """
    is_item = bool(_ITEM.fullmatch(lines[start]))
    for end in range(start + 1, len(lines)):
        line = lines[end]
        follows_paragraph = bool(line) and not lines[end - 1] and not (is_item and line.startswith("  "))
        if follows_paragraph or _ITEM.fullmatch(line) or line.startswith("```"):
            return end
    return len(lines)


def _join_paragraphs(lines: list[str]) -> str:
    """Join the lines of each paragraph with spaces, except in lists, tables and fenced blocks."""
    paragraphs = _PARAGRAPH_BREAK.split("\n".join(lines).strip("\n"))
    return "\n\n".join(
        paragraph if re.search(r"^(?:[-|]|\d+\.|```| )", paragraph, re.MULTILINE) else paragraph.replace("\n", " ")
        for paragraph in paragraphs
    )
