"""Change one piece of a solution as learners do: a sign, a factor, or one argument in place of another.

If a wrong program does the same as one of these variants, the learner reads what its result is.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import permutations

from ..common.translation import say

VALUE_PATTERN = (
    r"(?:\w[\w.]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?|\([^()]*(?:\([^()]*\)[^()]*)*\))"  # a name, a call, brackets
)
# A piece of the solution with what is there in its place, and what to say of the result. ~ is a blank: what has blanks
# is a text to translate; @VALUE is the one above.
VARIANTS = {
    "~-~=>~+~": "That is the result with a plus where a minus belongs.",
    r"~\+~=>~-~": "That is the result with a minus where a plus belongs.",
    r"~\*~=>~/~": "That is the result with a division where a product belongs.",
    "~/~=>~*~": "That is the result with a product where a division belongs.",
    r"~/~@VALUE=>": "That is the result without a division.",
    r"@VALUE~\*~=>": "That is the result without one of the factors.",
    r"~[*@]~@VALUE=>": "That is the result without one of the factors.",
    r"@VALUE~[-+]~=>": "That is the result without one of the terms.",
    r"@VALUE~-~=>-": "That is the result without one of the terms.",
    r"~[-+]~@VALUE=>": "That is the result without one of the terms.",
    r"(@VALUE(?:~[*/]~@VALUE)*)~-~(@VALUE(?:~[*/]~@VALUE)*)=>\2~-~\1": (
        "That is the result with the two sides of a minus swapped."
    ),
    r"(@VALUE)~/~(@VALUE)=>\2~/~\1": "That is the result with the two sides of a division swapped.",
    r"(@VALUE)~@~(@VALUE)=>\2~@~\1": "That is the result with the two sides of a matrix product swapped.",
    r"(?<=[(,~=])-(?=\w)=>": "That is the result without a minus sign.",
    r"\btf\.\w+(?=\()=>": "That is the result without {piece}.",
    r"\w+\.gradient\([^()]*\)=>tf.sign(\g<0>)": "That is the result with only the sign of the slope.",
    r"~\*\*~[\d.]+=>": "That is the result without the power.",
    r"mean(?=\()=>sum": "That is the result with a sum where a mean belongs.",
    r"sum(?=\()=>mean": "That is the result with a mean where a sum belongs.",
    "axis=0=>axis=1": "That is the result along the other axis.",
    "~>~=>~<~": "That is the result with smaller and larger exchanged.",
    r"\((@VALUE),~(@VALUE)\)=>(\2,~\1)": "That is the result with two things in a bracket swapped.",
    r"(\n~+)(.+)\1(.+)=>\1\3\1\2": "That is the result with two lines in the other order.",
}


def iter_variants_with_hints(solution: str) -> Iterator[tuple[str, str]]:
    """Yield the variants of a solution, each with what to say of its result.

    >>> for text, told in iter_variants_with_hints("lambda x, y: x - y"):
    ...     print(text.partition(": ")[2], "|", told)
    x + y | That is the result with a plus where a minus belongs.
    y | That is the result without one of the terms.
    -y | That is the result without one of the terms.
    x | That is the result without one of the terms.
    y - x | That is the result with the two sides of a minus swapped.
    y - y | That is the result with y where x belongs.
    x - x | That is the result with x where y belongs.
    """
    head, body = solution[: solution.find(":")], solution[solution.find(":") :]
    names = [node.arg for node in ast.walk(ast.parse(solution)) if isinstance(node, ast.arg)]
    name_variants = {
        rf"\b{name}\b(?!\()=>{replacement}": say(
            "That is the result with {other} where {name} belongs.", other=replacement, name=name
        )
        for name, replacement in permutations(dict.fromkeys(names), 2)
    }
    for change in VARIANTS | name_variants:
        pattern, replacement = change.replace("@VALUE", VALUE_PATTERN).replace("~", " ").split("=>")
        match = re.search(pattern, body)
        while match:
            yield (
                head + body[: match.start()] + match.expand(replacement) + body[match.end() :],
                say((VARIANTS | name_variants)[change], piece=match[0]),
            )
            match = re.compile(pattern).search(body, match.end())


def measure_variant_evidence(variant: str, solution: str, source: str) -> int:
    """Measure how far the text of a wrong program shows a change of the solution.

    Args:
        variant: The changed solution.
        solution: The solution.
        source: The wrong program.

    Returns:
        2 if it has what the change makes, 1 if it lacks what the change takes away or only names differ, 0 if it has
        the solution's own piece.

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
