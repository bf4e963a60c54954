"""The package's page on an index: README.md, with addresses where it has paths, and links to the repository.

Hatchling runs this while it builds (pyproject.toml names it). Where the repository lies is said by the variable
MINITAPE_REPOSITORY, such as https://HOST/OWNER/minitape; without it by git's remote "origin"; in an unpacked sdist by
its own metadata; else by `repository` in pyproject.toml's [tool.minitape]. As long as none of these knows an address,
the page has the words of the links, and no picture: nothing on it is dead.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from email import message_from_string
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.specifiers import SpecifierSet

VARIABLE = "MINITAPE_REPOSITORY"
LINK_PATH = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")
# a picture for each theme, which Markdown does not have
PICTURE_SOURCE = re.compile(r'(src|srcset)="(?![a-z]+:)([^"\s]+)"')
PICTURE = re.compile(r"<picture>.*?</picture>\n+", re.DOTALL)


def resolve_repository_links(page_text: str, repository_url: str) -> str:
    """Return a text in Markdown whose links and pictures, also those in HTML, lead to `repository_url`.

    Without one the words of the links stay, and the pictures go.

    >>> resolve_repository_links("![a](docs/a.png) [b](B.md#c) [d](https://e.org) [f](#g)", "https://host/me/it/")
    '![a](https://host/me/it/raw/HEAD/docs/a.png) [b](https://host/me/it/blob/HEAD/B.md#c) [d](https://e.org) [f](#g)'
    >>> resolve_repository_links('<img src="docs/a.png">', "https://host/me/it")
    '<img src="https://host/me/it/raw/HEAD/docs/a.png">'
    >>> resolve_repository_links("[b](B.md#c) [d](https://e.org)\\n\\n<picture>\\n...\\n</picture>\\n\\nend", "")
    'b [d](https://e.org)\\n\\nend'
    """
    if not repository_url:
        return LINK_PATH.sub(lambda match: match[2].strip("[]"), PICTURE.sub("", page_text))
    folder_by_sign = {"!": "raw", "": "blob"}
    root = repository_url.rstrip("/")
    page_text = PICTURE_SOURCE.sub(lambda match: f'{match[1]}="{root}/raw/HEAD/{match[2]}"', page_text)
    return LINK_PATH.sub(
        lambda match: f"{match[1]}{match[2]}({root}/{folder_by_sign[match[1]]}/HEAD/{match[3]})", page_text
    )


def find_repository_url(project_folder: Path) -> str:
    """Find the address of the repository in which `project_folder` lies, "" where nothing tells it."""
    address = (
        os.environ.get(VARIABLE, "")
        or _read_git_origin_url(project_folder)
        or _read_metadata_repository_url(project_folder)
        or _read_configured_repository_url(project_folder)
    )
    return address.strip().rstrip("/").removesuffix(".git")


def _read_git_origin_url(project_folder: Path) -> str:
    """Read the address of git's remote, as a browser takes it; "" for a folder of this machine, and without git."""
    if not (project_folder / ".git").exists():
        return ""  # git would look in the folders above
    try:
        process = subprocess.run(
            ["git", "remote", "get-url", "origin"], cwd=project_folder, capture_output=True, text=True
        )
    except OSError:
        return ""
    address = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", process.stdout.strip())
    return re.sub(r"//[^/@]*@", "//", address) if re.match(r"https?://", address) else ""  # without a name and a token


def _read_metadata_repository_url(project_folder: Path) -> str:
    """Read the repository's address from an sdist's own metadata, "" where they have none."""
    if not (project_folder / "PKG-INFO").is_file():
        return ""
    urls = message_from_string((project_folder / "PKG-INFO").read_text(encoding="utf-8")).get_all("Project-URL", [])
    return next((url.partition(", ")[2] for url in urls if url.startswith("Repository, ")), "")


def _read_configured_repository_url(project_folder: Path) -> str:
    """Read the repository's address from pyproject.toml, "" where it has none."""
    import tomllib  # Python 3.10 lacks this module. It imports this file, and `_check_python_version` then stops it.

    pyproject = project_folder / "pyproject.toml"
    settings = tomllib.loads(pyproject.read_text(encoding="utf-8")) if pyproject.is_file() else {}
    return str(settings.get("tool", {}).get("minitape", {}).get("repository", ""))


def _check_python_version(required_versions: str) -> None:
    """End the build immediately if this Python is too old or too new.

    Older versions of pip otherwise download many versions of each dependency before they check the Python version.

    Args:
        required_versions: The versions that are allowed, such as ">=3.11,<3.15".

    Raises:
        SystemExit: If this version is not allowed. pip shows the message.
    """
    if not SpecifierSet(required_versions).contains(platform.python_version(), prereleases=True):
        raise SystemExit(
            f"minitape needs Python {required_versions}, but this is Python {platform.python_version()}. "
            "Create the environment with a different Python."
        )


class PackagePage(MetadataHookInterface):
    """Fills in `readme` and `urls`."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the page and its links, as Hatchling asks for it."""
        _check_python_version(metadata["requires-python"])
        repository = find_repository_url(Path(self.root))
        text = resolve_repository_links(Path(self.root, "README.md").read_text(encoding="utf-8"), repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        if repository:
            metadata["urls"] = {
                "Repository": repository,
                "Documentation": f"{repository}/blob/HEAD/README.md",
                "Issues": f"{repository}/issues",
                "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
                "For teachers": f"{repository}/blob/HEAD/deploy/jupyterhub/TEACHERS.md",
            }
