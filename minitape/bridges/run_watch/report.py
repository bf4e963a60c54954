"""Build the page about a whole run, which shows the error, the first non-finite step, the problems and a summary."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ...common.translation import format_error, join_sentences
from ...engine.types import JsonObject, NameList, OptionalError, OptionalNumber, OptionalText, TextList, TextSequence
from ...explain.explanation import Explanation, list_report_lines_of_problem
from ...explain.fixes.answer_fixes import format_fix_sentence
from ...explain.fixes.fault_site import Fix
from ...explain.translated_sentences import fill
from ..model_page import ModelPage
from .accounts import Anomaly


class ProblemGroup(NamedTuple):
    """One problem and the parameters that it affects, as plain values that a copy of the process can send as JSON.

    Attributes:
        names: The names of the parameters. The list is empty if the problem concerns the whole run.
        heading: The line above the explanation, or "" if none exists.
        cause: The cause of the problem.
        kind: The kind of the cause.
        file: The file that contains the line to blame, or None if no line is to blame.
        line: The line to blame.
        code: The text of the line to blame.
        message: What happened.
        fix: What to change, without the patch.
        patch: The corrected line, or None if no patch exists.
        patch_line: The line that the patch replaces.
        further: Sentences about further problems.
        trial: The result of the patch's trial, or "" if there was no trial.
        is_patch_offered: Whether the trial showed that the patch works.
    """

    names: NameList
    heading: str
    cause: str
    kind: str
    file: OptionalText
    line: OptionalNumber
    code: str
    message: str
    fix: str = ""
    patch: OptionalText = None
    patch_line: OptionalNumber = None
    further: TextSequence = ()
    trial: str = ""
    is_patch_offered: bool = False

    def __str__(self) -> str:
        """Return the problem as a paragraph."""
        lines = [self.heading] if self.heading else []
        lines += list_report_lines_of_problem(self, self.file)
        if self.patch and self.is_patch_offered:
            lines.append(f"  {_format_patch_sentence(self)}")
        if self.trial:
            lines.append(f"  {self.trial}")
        lines += ["  " + fill("Also: {text}", text=text) for text in self.further]
        return "\n".join(lines)


# The problems of a page or of a run, in the order in which they are printed.
ProblemGroupList: TypeAlias = list[ProblemGroup]


def _format_patch_sentence(problem: ProblemGroup | Explanation) -> str:
    """Return the patch of a problem or an explanation as a sentence."""
    return format_fix_sentence(Fix(problem.patch_line or problem.line or 0, problem.patch or ""))


def build_problem_group(explanation: Explanation, names: NameList, heading: str = "") -> ProblemGroup:
    """Convert an explanation into a problem.

    Args:
        explanation: The explanation that the parameters share.
        names: The names of the parameters.
        heading: The line above the explanation.
    """
    fix = explanation.fix
    if explanation.patch:
        fix = fix.removesuffix(_format_patch_sentence(explanation)).rstrip()
    further = [other.message for other in explanation.others if other.message not in explanation.message]
    return ProblemGroup(
        names,
        heading,
        explanation.cause,
        explanation.kind,
        explanation.filename,
        explanation.line,
        explanation.code,
        explanation.message,
        fix,
        explanation.patch,
        explanation.patch_line,
        further,
    )


def list_problem_groups(page: ModelPage) -> ProblemGroupList:
    """Return a page's problems, worst first.

    Args:
        page: The explanations of the parameters.
    """
    return [
        build_problem_group(group.explanation, group.names, group.heading)
        for group in page.list_groups(has_numbers=False)
        if group.role == "problem"
    ]


@dataclass
class RunReport:
    """The known facts about a run.

    Attributes:
        page: The explanations of the parameters in the recorded steps.
        error: The error that ended the program, or None if it ended normally.
        raised: The explanation of the error that ended the program, or None if none exists.
        anomaly: A paragraph about the first non-finite value, or "" if all values are finite.
        first_anomaly: The first non-finite value, or None if all values are finite.
        anomaly_problems: The problems of the step in which the non-finite value arose.
        problems: The problems of parameters and of the whole run.
        remarks: Sentences about intentionally untrained parameters, and about what could not be observed.
        summary: The last line of the page.
        passes: The number of backward passes.
        steps: The number of optimizer steps.
        missed_all_gradients: Whether the program computed its gradients in a way that could not be observed.
        is_cut_short: Whether an error in minitape ended the watch before the program ended.
    """

    page: ModelPage
    error: OptionalError = None
    raised: ProblemGroup | None = None
    anomaly: str = ""
    first_anomaly: Anomaly | None = None
    anomaly_problems: ProblemGroupList = field(default_factory=list)
    problems: ProblemGroupList = field(default_factory=list)
    remarks: TextList = field(default_factory=list)
    summary: str = ""
    passes: int = 0
    steps: int = 0
    missed_all_gradients: bool = False
    is_cut_short: bool = False

    @property
    def has_findings_or_unobserved_part(self) -> bool:
        """Whether a problem was found, or part of the run was not observed."""
        is_unseen = self.missed_all_gradients or self.is_cut_short
        return bool(self.raised or self.anomaly or self.problems or is_unseen or self.error)

    def __str__(self) -> str:
        """Return the report as text. If the report explains a raised error, the text contains only that explanation."""
        paragraphs = []
        if self.raised:
            paragraphs.append(str(self.raised))
        else:
            if self.anomaly:
                paragraphs.append(join_sentences(self.anomaly))
            paragraphs += map(str, self.anomaly_problems)
            paragraphs += map(str, self.problems)
        last = [*([] if self.raised else self.remarks), self.summary]
        return "\n\n".join([*paragraphs, "\n".join(line for line in last if line)])

    def to_json(self) -> JsonObject:  # The values can be of any JSON type.
        """Return the report as plain dictionaries and lists."""
        return {
            "answers": self.page.as_json(),
            "error": None if self.error is None else format_error(self.error),
            "raised": None if self.raised is None else self.raised._asdict(),
            "anomaly": self.anomaly,
            "anomaly_problems": [group._asdict() for group in self.anomaly_problems],
            "problems": [group._asdict() for group in self.problems],
            "summary": self.summary,
            "passes": self.passes,
            "steps": self.steps,
        }


def is_about_none(error: OptionalError) -> bool:
    """Return whether an error was raised because a value is None.

    Args:
        error: The error that ended a program, or None if there was none.
    """
    return isinstance(error, (TypeError, AttributeError)) and bool(re.search(r"\bNone(Type)?\b", str(error)))
