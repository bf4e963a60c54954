"""A page of its own: the front end and one snapshot in a single HTML file, stepping without a kernel."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitape.picture.rows import PictureRow
from minitape.picture.words import browser_texts, word

from .engine import BUNDLE

if TYPE_CHECKING:
    from minitape.picture.fields import Snapshot

# What a page may load: nothing but what is written in it.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
PAGE = """<!doctype html>
<html lang="{language}">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ margin: 16px; color-scheme: light dark }}
@media (prefers-color-scheme: dark) {{ body {{ background: #111417 }} }}
</style>
<main id="view"{fill}></main>
<script type="application/json" id="data"{packed}>{data}</script>
<script type="text/plain" id="bundle">{bundle}</script>
<script type="module">
const text = JSON.parse(document.getElementById("bundle").textContent);
const url = URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
const {{ mount }} = await import(url);
const data = document.getElementById("data");
async function unpacked() {{
  const bytes = Uint8Array.from(atob(data.textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}}
const given = "packed" in data.dataset ? await unpacked() : JSON.parse(data.textContent);
for (const one of given.both ?? [given]) mount(document.getElementById("view"), {{ texts: given.texts, ...one }}, \
async () => text);
if (window === top) document.querySelector(".mt-view")?.focus({{ preventScroll: true }});  // the keys, without a click
</script>
</html>
"""


SMALL = 1_000_000  # characters of a snapshot that a page holds as they are
MOST = 10_000_000  # of a page: a larger one has summaries of its arrays
SHRINKS = 4  # times at most: a longer text is not compressed to find out
DIGITS = 4  # of a number in a summary
CELLS = (9, 26)  # of an array in a summary, about as many as its small picture has


def page(snapshot: Snapshot | dict[str, list[Snapshot]]) -> str:
    """The HTML text of a page of one snapshot, or of ``{"both": [one, other]}``, whose views go together. Nothing of
    the snapshot can end its script element: ``<`` is written as an escape.

    A large snapshot travels compressed. Of one that would make a page of more than 10 MB the arrays are summaries:
    their small pictures, and of those of the sweep not more than the product and the adjoints. The rows of a very large
    one are given as the view keeps them: they are written out one by one, never all at once.
    """
    bundle = _inert(BUNDLE.read_text(encoding="utf-8"))
    fill = "" if "both" in snapshot else " data-fill"
    words = {"policy": POLICY, "fill": fill, "bundle": bundle, "language": word("en"), "title": word("Tape")}
    given: Any = {**snapshot, **browser_texts(), **playground_link(snapshot.get("sources_text"))}
    rows: Any = given.get("rows")
    if rows and isinstance(rows[0], PictureRow):
        data = _streamed(given)
        if len(data) + len(bundle) > MOST:
            data = _streamed(given, summary)
        return PAGE.format(data=data, packed=" data-packed", **words)
    data, packed = _inert(given), ""
    if len(data) > SMALL:
        packed = " data-packed"
        data = _packed(given) if len(data) < SHRINKS * MOST else ""
        if not data or len(data) + len(bundle) > MOST:
            data = _packed(summary(given))
    return PAGE.format(data=data, packed=packed, **words)


def playground_link(sources: Any) -> dict[str, str]:
    """The address at which a program, of one file or of several cells, is open in the playground of the site that the
    environment variable ``MINITAPE_SITE`` names, as {"playground": address}; {} without such a site, and for several
    files, which import each other.

    >>> os.environ["MINITAPE_SITE"] = "https://example.org/run"
    >>> playground_link({"a.py": "x = 1"})
    {'playground': 'https://example.org/run/playground/index.html#p=y8wtyC8qUcjNzMssSSxIVUgsVihJ46pQsFUwBAA'}
    >>> del os.environ["MINITAPE_SITE"]
    >>> playground_link({"a.py": "x = 1"})
    {}
    """
    site = os.environ.get("MINITAPE_SITE", "").rstrip("/")
    if not site.startswith(("https://", "http://")) or not sources:
        return {}
    if len(sources) > 1 and any(map(os.path.exists, sources)):  # a cell is in no file
        return {}
    program = "\n\n".join(text.rstrip("\n") for text in sources.values())
    if "import minitape" not in program:  # cells of a notebook
        program = f"import minitape as tf\n{program}"
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    letters = base64.urlsafe_b64encode(packer.compress(program.encode()) + packer.flush()).decode().rstrip("=")
    return {"playground": f"{site}/playground/index.html#p={letters}"}


def _packed(snapshot: Any) -> str:
    return base64.b64encode(zlib.compress(_short(snapshot), 6)).decode()


def _short(part: Any) -> bytes:
    return json.dumps(part, allow_nan=False, separators=(",", ":")).encode()


def _streamed(snapshot: Any, change: Callable[[Any], Any] = lambda part: part) -> str:
    """The same of rows that are made as they are packed."""
    packer = zlib.compressobj(6)
    begin = _short(change({key: part for key, part in snapshot.items() if key != "rows"}))
    parts = [packer.compress(begin[:-1] + b',"rows":[')]
    for number, row in enumerate(snapshot["rows"]):
        parts.append(packer.compress((b"," if number else b"") + _short(change(row.full()))))
    return base64.b64encode(b"".join([*parts, packer.compress(b"]}"), packer.flush()])).decode()


def summary(part: Any) -> Any:
    """A part of a snapshot with summaries in the place of its arrays.

    >>> summary({"value": {"text": "[0.33333333 0.5]", "data": [0.33333333, 0.5]}})
    {'value': {'text': '', 'data': [0.3333, 0.5]}}
    """
    if isinstance(part, list):
        return [summary(one) for one in part]
    if not isinstance(part, dict):
        return part
    if "product" in part and "local" in part:  # an edge of the sweep
        local = part["local"] if part["local"] is None or not isinstance(part["local"].get("data"), list) else None
        part = part | {"local": None if local is not None and "thumb" in local else local}
    found = {key: one if key in ("data", "thumb") else summary(one) for key, one in part.items()}
    if "thumb" in part:
        lines, fewer = part["thumb"], _fewer(part["thumb"])
        if fewer:
            cell = part.get("cell", 1.0) * len(lines[0]) / len(fewer[0]) * len(fewer) / len(lines)
            found |= {"text": "", "thumb": fewer, "cell": _rounded(cell)}
    elif isinstance(part.get("data"), list):
        found |= {"text": "", "data": _rounded(part["data"])}
    return found


def _rounded(data: Any) -> Any:
    if isinstance(data, list):
        return [_rounded(one) for one in data]
    return float(f"{data:.{DIGITS}g}") if isinstance(data, float) else data


def _fewer(lines: list[list[Any]]) -> list[list[Any]]:
    """The cells of a small picture: of those that share one the strongest."""
    height, width = len(lines), len(lines[0]) if lines else 0
    if height * width == 0:
        return lines
    rows, columns = min(height, CELLS[0]), min(width, CELLS[1])
    areas = [
        [
            [
                line[c * width // columns : (c + 1) * width // columns]
                for line in lines[r * height // rows : (r + 1) * height // rows]
            ]
            for c in range(columns)
        ]
        for r in range(rows)
    ]
    return [[_rounded(max((one for line in area for one in line), key=_strength)) for area in row] for row in areas]


def _strength(one: Any) -> float:
    return abs(one) if isinstance(one, (int, float)) else float("inf")


def _inert(value: Any) -> str:
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
