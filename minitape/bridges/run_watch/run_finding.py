"""Define the class for problems found in the accounts of a run."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from ...engine.types import Attributes
from ...explain.explanation import Explanation, explain_cause
from ...recording.sites import Site


class RunFinding(NamedTuple):
    """A problem in the history of a run's gradients.

    Attributes:
        cause: One of the causes in ``explain.causes``.
        variant: The variant of the cause's sentences to use.
        site: The line to blame.
        fields: The values of the sentence's fields.
        keys: The keys of the affected parameters. The collection is empty if the problem concerns the whole run.
        is_remark: Whether the program may be doing this on purpose, in which case it is only mentioned.
    """

    cause: str
    variant: str
    site: Site
    fields: Attributes  # The type is Any, because the types of the values depend on the sentence.
    keys: Collection[int] = ()
    is_remark: bool = False

    def to_explanation(self, framework: str) -> Explanation:
        """Return the finding as an explanation of a parameter's gradient.

        Args:
            framework: The name of the framework, such as "torch".
        """
        return explain_cause(framework, self.cause, self.site, self.variant, self.fields)


RunFindings = Iterator[RunFinding]
