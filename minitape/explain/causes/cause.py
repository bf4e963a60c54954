"""Define the record of a cause, and the kinds into which causes are grouped."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ...engine.types import Names, TextPair
from ..fixes.fault_site import Edit, Plan

FRAMEWORKS = ("tape", "torch", "tensorflow", "jax")  # "tape" is minitape's own tape.
PAGES_FOLDER = "causes"  # The folder in `docs/` with a page about each cause.


class Kind(NamedTuple):
    """A group of causes that are handled in the same way.

    Attributes:
        meaning: What the causes in the group have in common, as a title.
        path_cost: The cost that a break of this kind adds to a path. The cheapest path is reported.
        has_gradient: Whether a gradient can exist despite a cause of this kind.
        is_discrete: Whether the operation that breaks the path yields a truth value, an index or a count. Programs are
            rarely meant to send a gradient through such values.
        repeats_cost: Whether each break in a chain of breaks with the same cause costs the full `path_cost`.
    """

    meaning: str
    path_cost: float = 1.0
    has_gradient: bool = False
    is_discrete: bool = False
    repeats_cost: bool = False


KINDS = {
    "connected": Kind("Nothing is wrong", has_gradient=True),
    "not_tracked": Kind("No gradient is kept for the source"),
    "wrong_dtype": Kind("The value is not a float", path_cost=0.9, is_discrete=True),
    "cut": Kind("A call blocks the gradient on purpose"),
    "paused": Kind("The line ran while nothing was recorded", path_cost=0.5, repeats_cost=True),
    "outside": Kind("The line ran outside the recording", path_cost=0.5, repeats_cost=True),
    "through_state": Kind("The value went through a variable"),
    "left": Kind("The value left the framework"),
    "other_object": Kind("A different object was used instead of the source"),
    "no_derivative": Kind("An operation passes no gradient back", path_cost=0.98, is_discrete=True),
    "unknown": Kind("The gradient was lost in a call that is recorded as one row", path_cost=0.99),
    "unused": Kind("The target does not depend on the source"),
    "zero": Kind("The gradient is zero", has_gradient=True),
    "nonfinite": Kind("The gradient is NaN or infinite", has_gradient=True),
    "error": Kind("No gradient was computed, or it was thrown away"),
    # Recorded numbers or object identities reveal the causes of this kind.
    "suspect": Kind("The gradient exists but is wrong", has_gradient=True),
}


class CauseText(NamedTuple):
    """The sentences about a cause. Fields in braces are filled in.

    Attributes:
        message: What happened.
        fix: What to change.
        functions: The framework functions to insert into the field {functions} of `fix`.
    """

    message: str
    fix: str
    functions: str = ""


Texts = dict[TextPair, CauseText]  # The texts are keyed by framework and variant.


@dataclass(frozen=True, eq=False)
class Cause:
    """Everything that explain needs to know about one cause, except for the check that finds the cause.

    Attributes:
        name: The name that an explanation shows.
        kind: The group of the cause, one of the keys of `KINDS`.
        sentences: The sentences, in the format that `parse_sentences_by_framework_and_variant` reads.
        edits: The edits that may fix the line to blame, in the order in which they are tried.
        plans: The fixes that examine the whole program. Plans are tried after the edits.
        name_in_bridges: The bridges' name for the same cause, if it differs. The cause with that name then provides the
            edits and plans.
    """

    name: str
    kind: str
    sentences: str
    edits: tuple[Edit, ...] = ()
    plans: tuple[Plan, ...] = ()
    name_in_bridges: str = ""

    @property
    def page(self) -> str:
        """The documentation page about the cause, relative to the folder `docs`."""
        return f"{PAGES_FOLDER}/{self.name}.md"

    @cached_property
    def text_by_variant(self) -> Texts:
        """The sentences, keyed by framework and variant."""
        return parse_sentences_by_framework_and_variant(self.sentences)

    @property
    def frameworks(self) -> Names:
        """The frameworks in which the cause occurs."""
        return tuple(name for name in FRAMEWORKS if any(framework == name for framework, _ in self.text_by_variant))

    def get_text_or_default_variant(self, framework: str, variant: str = "") -> CauseText:
        """Return the sentences for a framework.

        Args:
            framework: One of `FRAMEWORKS`.
            variant: The variant of the sentences to return. For a variant without sentences, the default sentences are
                used.

        Raises:
            KeyError: If the framework has no sentence for the cause.
        """
        return self.text_by_variant.get((framework, variant)) or self.text_by_variant[framework, ""]


def parse_sentences_by_framework_and_variant(sentences: str) -> Texts:
    r"""Parse the sentences of a cause.

    Args:
        sentences: Paragraphs, separated by empty lines. The first line of a paragraph names the frameworks and the
            variant, as in ``[torch]`` or ``[tape, tensorflow: late]``; ``all`` means all frameworks. Next come the
            message, the fix after "Fix:" (or "Fix in torch:" if frameworks differ), and possibly the functions after
            "Functions in torch:". A variant without a message uses the message of the preceding default paragraph.

    Returns:
        The sentences, keyed by framework and variant.

    >>> sentences = "[tape, jax]\nIt was\nlate.\nFix in tape: Begin earlier.\nFix in jax: Leave it."
    >>> texts = parse_sentences_by_framework_and_variant(sentences)
    >>> texts["tape", ""]
    CauseText(message='It was late.', fix='Begin earlier.', functions='')
    >>> texts["jax", ""].fix
    'Leave it.'
    """
    texts: Texts = {}
    for paragraph in re.split(r"\n\s*\n", sentences.strip()):
        heading, *lines = (line.strip() for line in paragraph.strip().splitlines())
        frameworks, _, variant = heading.strip("[]").partition(": ")
        # Each part except the message begins with a label, such as "Fix in torch: ".
        message, *labeled_parts = re.split(r"(?:^| )(Fix|Functions)(?: in ([a-z, ]+))?: ", " ".join(lines))
        triples = list(zip(*[iter(labeled_parts)] * 3, strict=True))
        for framework in FRAMEWORKS if frameworks == "all" else frameworks.split(", "):
            parts = {
                label: text.strip() for label, names, text in triples if not names or framework in names.split(", ")
            }
            ordinary_message = texts[framework, ""].message if variant and not message.strip() else ""
            texts[framework, variant] = CauseText(
                message.strip() or ordinary_message, parts.get("Fix", ""), parts.get("Functions", "")
            )
    return texts
