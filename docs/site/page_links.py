"""What Sphinx cannot see in finished pages: links in raw HTML that lead nowhere, and what would need a network."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"src", "srcset", "data", "poster"}  # attributes whose ends a browser loads by itself


class Page(HTMLParser):
    """The anchors and the links of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name == "href" or name in LOADED:
                (self.links if tag == "a" else self.loads).add(value or "")


def broken(folder: Path, apart: str = "") -> list[str]:
    """A line for each link that leads nowhere, and for each file that a page would load from another machine. What is
    in the folder `apart` below it has pages of others.
    """
    paths = [path for path in sorted(folder.rglob("*.html")) if path.relative_to(folder).parts[0] != apart]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    found = []
    for path, page in pages.items():
        here = path.relative_to(folder)
        for link in sorted(page.links | page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loads and parts.scheme != "data":
                    found.append(f"{here}: {link} would be loaded from another machine")
                continue
            end = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not end.exists():
                found.append(f"{here}: {link} does not exist")
            elif parts.fragment and end in pages and unquote(parts.fragment) not in pages[end].anchors:
                found.append(f"{here}: {link} has no such place")
    return found
