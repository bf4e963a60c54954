"""Change one piece of a solution as learners do: a sign, a factor, or one argument in place of another.

If a wrong program does the same as one of these variants, the learner reads what its result is.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import permutations

from ..common.syntax import list_nodes
from ..common.translation import say
from ..engine.types import TextPair

VALUE_PATTERN = (
    r"(?:\w[\w.]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|\([^()]*(?:\([^()]*\)[^()]*)*\))"  # A name, a call, or brackets.
)
# Each key is a piece of the solution and its replacement. The sentence describes a result of the changed solution. `~`
# stands for a blank, because a text with blanks would have to be translated. @VALUE stands for the pattern above.
VARIANTS = {
    "~-~=>~+~": "You get this result if you use a plus instead of a minus.",
    r"~\+~=>~-~": "You get this result if you use a minus instead of a plus.",
    r"~\*~=>~+~": "You get this result if you add instead of multiplying.",
    r"~\*~=>~/~": "You get this result if you divide instead of multiplying.",
    "~/~=>~*~": "You get this result if you multiply instead of dividing.",
    r"~/~@VALUE=>": "You get this result if you leave out a division.",
    r"(@VALUE)~\*~=>": "You get this result if you leave out {piece}.",
    r"~[*@]~(@VALUE)=>": "You get this result if you leave out {piece}.",
    r"(@VALUE)~[-+]~=>": "You get this result if you leave out {piece}.",
    r"(@VALUE)~-~=>-": "You get this result if you leave out {piece}.",
    r"~[-+]~(@VALUE)=>": "You get this result if you leave out {piece}.",
    r"(@VALUE(?:~[*/]~@VALUE)*)~-~(@VALUE(?:~[*/]~@VALUE)*)=>\2~-~\1": (
        "You get this result if you swap the two sides of a subtraction."
    ),
    r"(@VALUE)~/~(@VALUE)=>\2~/~\1": "You get this result if you swap the two sides of a division.",
    r"(@VALUE)~@~(@VALUE)=>\2~@~\1": "You get this result if you swap the two sides of a matrix product.",
    r"(?<=[(,~=])-(?=\w)=>": "You get this result if you leave out a minus sign.",
    r"\btf\.\w+(?=\()=>": "You get this result if you leave out {piece}.",
    r"\w+\.gradient\([^()]*\)=>tf.sign(\g<0>)": "You get this result if you use only the sign of the slope.",
    r"~\*\*~[\d.]+=>": "You get this result if you leave out the power.",
    r"mean(?=\()=>sum": "You get this result if you use a sum instead of a mean.",
    r"sum(?=\()=>mean": "You get this result if you use a mean instead of a sum.",
    "axis=0=>axis=1": "You get this result if you use the other axis.",
    "~>~=>~<~": 'You get this result if you swap "smaller than" and "larger than".',
    r"\((@VALUE),~(@VALUE)\)=>(\2,~\1)": "You get this result if you swap two values in parentheses.",
    r"(\n~+)(.+)\1(.+)=>\1\3\1\2": "You get this result if you swap two lines.",
}


def iter_variants_with_hints(solution: str) -> Iterator[TextPair]:
    """Yield the variants of a solution, each with the sentence about its result.

    >>> for text, told in iter_variants_with_hints("lambda x, y: x - y"):
    ...     print(text.partition(": ")[2], "|", told)
    x + y | You get this result if you use a plus instead of a minus.
    y | You get this result if you leave out x.
    -y | You get this result if you leave out x.
    x | You get this result if you leave out y.
    y - x | You get this result if you swap the two sides of a subtraction.
    y - y | You get this result if you use y instead of x.
    x - x | You get this result if you use x instead of y.
    """
    head = solution[: solution.find(":")]
    body = solution[solution.find(":") :]
    names = [node.arg for node in list_nodes(ast.parse(solution), ast.arg)]
    name_variants = {
        rf"\b{name}\b(?!\()=>{replacement}": say(
            "You get this result if you use {other} instead of {name}.", other=replacement, name=name
        )
        for name, replacement in permutations(dict.fromkeys(names), 2)
    }
    for change, sentence in (VARIANTS | name_variants).items():
        pattern, replacement = change.replace("@VALUE", VALUE_PATTERN).replace("~", " ").split("=>")
        for match in re.finditer(pattern, body):
            yield (
                head + body[: match.start()] + match.expand(replacement) + body[match.end() :],
                say(sentence, piece=match[match.lastindex or 0]),
            )


def measure_variant_evidence(variant: str, solution: str, source: str) -> int:
    """Measure how clearly the text of a wrong program contains a given change to the solution.

    Args:
        variant: The changed solution.
        solution: The solution.
        source: The wrong program.

    Returns:
        2 if it contains what the change adds, 1 if it lacks what the change removes or if only names differ, 0 if it
        contains the solution's own piece.

    >>> measure_variant_evidence("y - f(x)", "f(x) - y", "b - f(a)")
    2
    >>> measure_variant_evidence("x + y", "x - y", "a * b"), measure_variant_evidence("x + y", "x - y", "a - b")
    (1, 0)
    """
    variant_nodes, solution_nodes, source_nodes = (
        Counter(
            tuple(
                type(getattr(child, "op", child)).__name__ + getattr(getattr(child, "func", None), "attr", "")
                for child in (node, *ast.iter_child_nodes(node))
            )
            for node in ast.walk(ast.parse(text))
        )
        for text in (variant, solution, source)
    )
    if (variant_nodes - solution_nodes) & (source_nodes - solution_nodes):
        return 2
    return int(
        variant_nodes == solution_nodes or any((solution_nodes - variant_nodes) & (solution_nodes - source_nodes))
    )
