"""The package's page on an index: README.md, with addresses where it has paths, and links to the repository.

Hatchling runs this while it builds (pyproject.toml names it). Where the repository lies is said by the variable
MINITAPE_REPOSITORY, such as https://HOST/OWNER/minitape; without it by git's remote "origin"; in an unpacked sdist by
its own metadata; else by `repository` in pyproject.toml's [tool.minitape]. As long as none of these knows an address,
the page has the words of the links, and no picture: nothing on it is dead.
"""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from email import message_from_string
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

VARIABLE = "MINITAPE_REPOSITORY"
PATHS = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")
# a picture for each theme, which Markdown does not have
SOURCES = re.compile(r'(src|srcset)="(?![a-z]+:)([^"\s]+)"')
PICTURE = re.compile(r"<picture>.*?</picture>\n+", re.DOTALL)


def with_addresses(text: str, repository: str) -> str:
    """A text in Markdown whose links and pictures, also those in HTML, lead to `repository`. Without one the words
    stay.

    >>> with_addresses("![a](docs/a.png) [b](B.md#c) [d](https://e.org) [f](#g)", "https://host/me/it/")
    '![a](https://host/me/it/raw/HEAD/docs/a.png) [b](https://host/me/it/blob/HEAD/B.md#c) [d](https://e.org) [f](#g)'
    >>> with_addresses('<img src="docs/a.png">', "https://host/me/it")
    '<img src="https://host/me/it/raw/HEAD/docs/a.png">'
    >>> with_addresses("[b](B.md#c) [d](https://e.org)\\n\\n<picture>\\n...\\n</picture>\\n\\nend", "")
    'b [d](https://e.org)\\n\\nend'
    """
    if not repository:
        return PATHS.sub(lambda found: found[2].strip("[]"), PICTURE.sub("", text))
    places = {"!": "raw", "": "blob"}
    root = repository.rstrip("/")
    text = SOURCES.sub(lambda found: f'{found[1]}="{root}/raw/HEAD/{found[2]}"', text)
    return PATHS.sub(lambda found: f"{found[1]}{found[2]}({root}/{places[found[1]]}/HEAD/{found[3]})", text)


def repository_of(root: Path) -> str:
    """The address of the repository in which the folder `root` lies, "" where nothing tells it."""
    told = os.environ.get(VARIABLE, "") or _origin(root) or _metadata(root) or _setting(root)
    return told.strip().rstrip("/").removesuffix(".git")


def _origin(root: Path) -> str:
    """The address of git's remote, as a browser takes it; "" for a folder of this machine, and where there is no
    git.
    """
    if not (root / ".git").exists():
        return ""  # git would look in the folders above
    try:
        asked = subprocess.run(["git", "remote", "get-url", "origin"], cwd=root, capture_output=True, text=True)
    except OSError:
        return ""
    address = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", asked.stdout.strip())
    return re.sub(r"//[^/@]*@", "//", address) if re.match(r"https?://", address) else ""  # without a name and a token


def _metadata(root: Path) -> str:
    """What the sdist's own metadata say."""
    if not (root / "PKG-INFO").is_file():
        return ""
    urls = message_from_string((root / "PKG-INFO").read_text(encoding="utf-8")).get_all("Project-URL", [])
    return next((url.partition(", ")[2] for url in urls if url.startswith("Repository, ")), "")


def _setting(root: Path) -> str:
    """What pyproject.toml says."""
    file = root / "pyproject.toml"
    settings = tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return str(settings.get("tool", {}).get("minitape", {}).get("repository", ""))


class PackagePage(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        repository = repository_of(Path(self.root))
        text = with_addresses(Path(self.root, "README.md").read_text(encoding="utf-8"), repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if repository:
            metadata["urls"] = {
                "Repository": repository,
                "Documentation": f"{repository}/blob/HEAD/README.md",
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
                "For teachers": f"{repository}/blob/HEAD/deploy/jupyterhub/TEACHERS.md",
            }
