"""A page of its own: the front end and one snapshot in a single HTML file, stepping without a kernel."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitape.picture.picture_rows import PictureRow
from minitape.picture.picture_texts import build_browser_texts, translate

from .front_end import BUNDLE

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import Snapshot

# What a page may load: nothing but what is written in it.
CONTENT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
PAGE_TEMPLATE = """<!doctype html>
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


MAX_PLAIN_LETTERS = 1_000_000  # characters of a snapshot that a page holds as they are
MAX_PAGE_LETTERS = 10_000_000  # of a page: a larger one has summaries of its arrays
MAX_COMPRESSION = 4  # times at most: a longer text is not compressed to find out
SUMMARY_DIGITS = 4  # of a number in a summary
SUMMARY_CELLS = (9, 26)  # of an array in a summary, about as many as its small picture has


def build_html_page(snapshot: Snapshot | dict[str, list[Snapshot]]) -> str:
    """Return the HTML text of a page of one snapshot, or of ``{"both": [one, other]}``, whose views go together.

    Nothing of the snapshot can end its script element: ``<`` is written as an escape.

    A large snapshot travels compressed. Of one that would make a page of more than 10 MB the arrays are summaries:
    their small pictures, and of those of the sweep not more than the product and the adjoints. The rows of a very large
    one are given as the view keeps them: they are written out one by one, never all at once.
    """
    bundle = _to_script_safe_json(BUNDLE.read_text(encoding="utf-8"))
    fill = "" if "both" in snapshot else " data-fill"
    page_fields = {
        "policy": CONTENT_POLICY,
        "fill": fill,
        "bundle": bundle,
        "language": translate("en"),
        "title": translate("Tape"),
    }
    content: Any = {**snapshot, **build_browser_texts(), **build_playground_field(snapshot.get("sources_text"))}
    rows: Any = content.get("rows")
    if rows and isinstance(rows[0], PictureRow):
        data = _compress_rows_to_base64(content)
        if len(data) + len(bundle) > MAX_PAGE_LETTERS:
            data = _compress_rows_to_base64(content, summarize_arrays)
        return PAGE_TEMPLATE.format(data=data, packed=" data-packed", **page_fields)
    data, packed = _to_script_safe_json(content), ""
    if len(data) > MAX_PLAIN_LETTERS:
        packed = " data-packed"
        data = _compress_to_base64(content) if len(data) < MAX_COMPRESSION * MAX_PAGE_LETTERS else ""
        if not data or len(data) + len(bundle) > MAX_PAGE_LETTERS:
            data = _compress_to_base64(summarize_arrays(content))
    return PAGE_TEMPLATE.format(data=data, packed=packed, **page_fields)


def build_playground_field(sources: Any) -> dict[str, str]:
    """Return the address at which a program is open in the playground, as {"playground": address}.

    The program is one file or several cells. The environment variable ``MINITAPE_SITE`` names the site; without one,
    and for several files, which import each other, there is no address: {}.

    >>> os.environ["MINITAPE_SITE"] = "https://example.org/run"
    >>> build_playground_field({"a.py": "x = 1"})
    {'playground': 'https://example.org/run/playground/index.html#p=y8wtyC8qUcjNzMssSSxIVUgsVihJ46pQsFUwBAA'}
    >>> del os.environ["MINITAPE_SITE"]
    >>> build_playground_field({"a.py": "x = 1"})
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


def _compress_to_base64(snapshot: Any) -> str:
    return base64.b64encode(zlib.compress(_to_compact_json(snapshot), 6)).decode()


def _to_compact_json(part: Any) -> bytes:
    return json.dumps(part, allow_nan=False, separators=(",", ":")).encode()


def _compress_rows_to_base64(snapshot: Any, convert: Callable[[Any], Any] = lambda part: part) -> str:
    """Compress a snapshot whose rows are written out one by one, as they are packed."""
    packer = zlib.compressobj(6)
    begin = _to_compact_json(convert({key: part for key, part in snapshot.items() if key != "rows"}))
    parts = [packer.compress(begin[:-1] + b',"rows":[')]
    for number, row in enumerate(snapshot["rows"]):
        parts.append(packer.compress((b"," if number else b"") + _to_compact_json(convert(row.to_row_fields()))))
    return base64.b64encode(b"".join([*parts, packer.compress(b"]}"), packer.flush()])).decode()


def summarize_arrays(part: Any) -> Any:
    """Return a part of a snapshot with summaries in the place of its arrays.

    >>> summarize_arrays({"value": {"text": "[0.33333333 0.5]", "data": [0.33333333, 0.5]}})
    {'value': {'text': '', 'data': [0.3333, 0.5]}}
    """
    if isinstance(part, list):
        return [summarize_arrays(item) for item in part]
    if not isinstance(part, dict):
        return part
    if "product" in part and "local" in part:  # an edge of the sweep
        local = part["local"] if part["local"] is None or not isinstance(part["local"].get("data"), list) else None
        part = part | {"local": None if local is not None and "thumb" in local else local}
    summarized = {key: item if key in ("data", "thumb") else summarize_arrays(item) for key, item in part.items()}
    if "thumb" in part:
        lines, fewer_lines = part["thumb"], _shrink_thumbnail(part["thumb"])
        if fewer_lines:
            cell = part.get("cell", 1.0) * len(lines[0]) / len(fewer_lines[0]) * len(fewer_lines) / len(lines)
            summarized |= {"text": "", "thumb": fewer_lines, "cell": _round_numbers(cell)}
    elif isinstance(part.get("data"), list):
        summarized |= {"text": "", "data": _round_numbers(part["data"])}
    return summarized


def _round_numbers(data: Any) -> Any:
    if isinstance(data, list):
        return [_round_numbers(item) for item in data]
    return float(f"{data:.{SUMMARY_DIGITS}g}") if isinstance(data, float) else data


def _shrink_thumbnail(lines: list[list[Any]]) -> list[list[Any]]:
    """Return the cells of a small picture: of those that share one the strongest."""
    height, width = len(lines), len(lines[0]) if lines else 0
    if height * width == 0:
        return lines
    rows, columns = min(height, SUMMARY_CELLS[0]), min(width, SUMMARY_CELLS[1])
    areas = [
        [
            [
                line[column_index * width // columns : (column_index + 1) * width // columns]
                for line in lines[row_index * height // rows : (row_index + 1) * height // rows]
            ]
            for column_index in range(columns)
        ]
        for row_index in range(rows)
    ]
    return [
        [_round_numbers(max((cell for line in area for cell in line), key=_measure_cell_strength)) for area in row]
        for row in areas
    ]


def _measure_cell_strength(cell: Any) -> float:
    return abs(cell) if isinstance(cell, (int, float)) else float("inf")


def _to_script_safe_json(value: Any) -> str:
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
