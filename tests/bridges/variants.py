"""Find which sentence of its cause an answer uses, and store this for all programs of a framework.

``variants.json`` has the answers with another sentence than the ordinary one. Rewording a sentence does not change it.

    python -m tests.bridges.variants torch
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from minitape.explain.causes import CAUSES

VARIANTS_FILE = Path(__file__).with_suffix(".json")


def find_variant(framework: str, answer: Any) -> str:
    """Return the variant whose sentences an English answer uses, or "" for the ordinary sentences.

    Args:
        framework: The name of the framework.
        answer: The explanation.
    """
    texts = {variant: text for (own, variant), text in CAUSES[answer.cause].text_by_variant.items() if own == framework}
    fitting = {variant: text for variant, text in texts.items() if _fits(text.message, answer.message)}
    with_fix = [variant for variant, text in fitting.items() if _fits(text.fix, answer.fix)]
    return max(with_fix or fitting or [""], key=lambda variant: len(texts[variant].message) if variant in texts else 0)


def _fits(template: str, text: str) -> bool:
    """Return whether a text begins with a template whose fields are filled in."""
    words = re.split(r"\{[^}]*\}", template)
    return re.match(".*?".join(map(re.escape, words)), text, re.DOTALL) is not None


def read_variants() -> dict[str, dict[str, str]]:
    """Return the variants by framework and program. Programs with the ordinary sentences are left out."""
    return json.loads(VARIANTS_FILE.read_text(encoding="utf-8"))


def main(names: list[str]) -> None:
    """Store the variants of the frameworks named on the command line."""
    from .cases import strip_fix_comments
    from .frameworks import FRAMEWORKS

    variants = read_variants() if VARIANTS_FILE.exists() else {}
    for framework in FRAMEWORKS:
        if framework.name not in names:
            continue
        found = {}
        for name, (_, text) in framework.cases.items():
            _, _, answer = framework.record_and_explain_program(strip_fix_comments(text), f"<{name}>")
            found[name] = find_variant(framework.name, answer)
        variants[framework.name] = {name: variant for name, variant in found.items() if variant}
    VARIANTS_FILE.write_text(json.dumps(variants, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
