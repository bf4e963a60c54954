"""What the package's page on an index shows: addresses where the README has paths, and links to the repository.

Hatchling runs this while it builds (pyproject.toml names it). Where the repository lies is said by the variable MINITAPE_REPOSITORY, such as
https://HOST/OWNER/minitape, which CI sets; without it the README stays as it is and there are no links.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "MINITAPE_REPOSITORY"
PATHS = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")


def with_addresses(text: str, repository: str) -> str:
    """A text in Markdown whose links and pictures lead to `repository`.

    >>> with_addresses("![a](docs/a.png) [b](B.md#c) [d](https://e.org) [f](#g)", "https://host/me/it/")
    '![a](https://host/me/it/raw/HEAD/docs/a.png) [b](https://host/me/it/blob/HEAD/B.md#c) [d](https://e.org) [f](#g)'
    """
    places = {"!": "raw", "": "blob"}
    root = repository.rstrip("/")
    return PATHS.sub(lambda found: f"{found[1]}{found[2]}({root}/{places[found[1]]}/HEAD/{found[3]})", text)


class PackagePage(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        repository = os.environ.get(VARIABLE, "").rstrip("/")
        if repository:
            text = with_addresses(text, repository)
            metadata["urls"] = {
                "Repository": repository,
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
                "For teachers": f"{repository}/blob/HEAD/deploy/jupyterhub/TEACHERS.md",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
