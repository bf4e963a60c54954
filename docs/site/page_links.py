"""Find broken links in raw HTML, and everything that would need a network, which Sphinx cannot see in its pages."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED_ATTRIBUTES = {"src", "srcset", "data", "poster"}  # The attributes whose targets a browser loads by itself.


class Page(HTMLParser):
    """The anchors and links on one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loaded_urls: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name == "href" or name in LOADED_ATTRIBUTES:
                (self.links if tag == "a" else self.loaded_urls).add(value or "")


def list_link_problems(html_folder: Path, excluded_folder: str = "") -> list[str]:
    """List the broken links, and the files that a page would load from another machine, one per line.

    Pages in `excluded_folder`, a folder in `html_folder`, are left out: others wrote them.
    """
    paths = [
        path
        for path in sorted(html_folder.rglob("*.html"))
        if path.relative_to(html_folder).parts[0] != excluded_folder
    ]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    problems = []
    for path, page in pages.items():
        page_path = path.relative_to(html_folder)
        for link in sorted(page.links | page.loaded_urls):
            link_parts = urlsplit(link)
            if link_parts.scheme or link_parts.netloc:
                if link in page.loaded_urls and link_parts.scheme != "data":
                    problems.append(f"{page_path}: {link} would be loaded from another machine")
                continue
            target = (path.parent / unquote(link_parts.path)).resolve() if link_parts.path else path
            if not target.exists():
                problems.append(f"{page_path}: {link} does not exist")
            elif link_parts.fragment and target in pages and unquote(link_parts.fragment) not in pages[target].anchors:
                problems.append(f"{page_path}: {link} has no such place")
    return problems
