"""Build a self-contained HTML page with the front end and a snapshot that steps without a kernel."""

from __future__ import annotations

import base64
import json
import os
import zlib
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from minitape.common.garbage_collection import pause_garbage_collection
from minitape.common.script_json import format_script_json
from minitape.picture.picture_rows import PictureRow
from minitape.picture.picture_texts import build_browser_texts, translate

from .front_end import BUNDLE
from .script_page import build_script_page, format_bundle

if TYPE_CHECKING:
    from minitape.picture.snapshot_types import Snapshot

MOUNT_SCRIPT = """const { mount } = await import(url);
const data = document.getElementById("data");
async function unpacked() {
  const bytes = Uint8Array.from(atob(data.textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}
const given = "packed" in data.dataset ? await unpacked() : JSON.parse(data.textContent);
for (const one of given.both ?? [given]) mount(document.getElementById("view"), { texts: given.texts, ...one }, \
async () => text);
if (window === top) document.querySelector(".mt-view")?.focus({ preventScroll: true });  // the keys, without a click"""

MAX_PLAIN_LETTERS = 1_000_000  # The length above which a snapshot is compressed.
MAX_PAGE_LETTERS = 5_000_000  # The length above which a page has summaries instead of arrays.
MAX_COMPRESSION = 4  # Compression is not tried if it would have to shrink the text by a larger factor.
SUMMARY_DIGITS = 4  # The number of digits in a summary's numbers.
SUMMARY_CELLS = (9, 26)  # The most lines and columns of an array in a summary; its thumbnail shows about as many.


@pause_garbage_collection()
def build_html_page(snapshot: Snapshot | dict[str, list[Snapshot]]) -> str:
    """Return the HTML text of a page that shows a snapshot.

    The character ``<`` is escaped, so no text of the snapshot can end its script element. A large snapshot is
    compressed. If the page would still be larger than 5 MB, thumbnails replace the arrays, and the sweep loses the
    local derivatives of arrays.

    Args:
        snapshot: A snapshot, or ``{"both": [first, second]}`` for a comparison whose views step together. The rows of a
            very long recording may be packed as ``PictureRow`` objects. Such rows are written one by one, to save
            memory.
    """
    bundle = format_bundle(BUNDLE)
    build_page = partial(
        build_script_page,
        title=translate("Tape"),
        name="view",
        bundle=bundle,
        script=MOUNT_SCRIPT,
        margin="16px",
        main_attributes="" if "both" in snapshot else " data-fill",
    )
    content: Any = {**snapshot, **build_browser_texts(), **build_playground_field(snapshot.get("sources_text"))}
    rows: Any = content.get("rows")
    if rows and isinstance(rows[0], PictureRow):
        data = _compress_rows_to_base64(content)
        if len(data) + len(bundle) > MAX_PAGE_LETTERS:
            data = _compress_rows_to_base64(content, summarize_arrays)
        return build_page(data=data, data_attributes=" data-packed")
    data, packed = format_script_json(content), ""
    if len(data) > MAX_PLAIN_LETTERS:
        packed = " data-packed"
        data = _compress_to_base64(content) if len(data) < MAX_COMPRESSION * MAX_PAGE_LETTERS else ""
        if not data or len(data) + len(bundle) > MAX_PAGE_LETTERS:
            data = _compress_to_base64(summarize_arrays(content))
    return build_page(data=data, data_attributes=packed)


def build_playground_field(sources: Any) -> dict[str, str]:
    """Return the address that opens a program in the playground, as {"playground": address}.

    Args:
        sources: The texts of the program's files or notebook cells, by name.

    Returns:
        The field of a snapshot. Empty if the environment variable ``MINITAPE_SITE`` names no site, or if the program
        has several files, because the playground runs only one.

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
    if len(sources) > 1 and any(map(os.path.exists, sources)):  # Notebook cells, unlike files, can be joined.
        return {}
    program = "\n\n".join(text.rstrip("\n") for text in sources.values())
    if "import minitape" not in program:  # A notebook may import minitape in a cell that has no rows.
        program = f"import minitape as tf\n{program}"
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    letters = base64.urlsafe_b64encode(packer.compress(program.encode()) + packer.flush()).decode().rstrip("=")
    return {"playground": f"{site}/playground/index.html#p={letters}"}


def _compress_to_base64(snapshot: Any) -> str:
    return base64.b64encode(zlib.compress(_to_compact_json(snapshot), 6)).decode()


def _to_compact_json(part: Any) -> bytes:
    return json.dumps(part, allow_nan=False, separators=(",", ":")).encode()


def _compress_rows_to_base64(snapshot: Any, convert: Callable[[Any], Any] = lambda part: part) -> str:
    """Return a compressed snapshot whose rows are converted and written one by one, to save memory.

    Args:
        snapshot: A snapshot whose rows are ``PictureRow`` objects.
        convert: A function that is applied to each row, and to the rest of the snapshot.
    """
    packer = zlib.compressobj(6)
    begin = _to_compact_json(convert({key: part for key, part in snapshot.items() if key != "rows"}))
    parts = [packer.compress(begin[:-1] + b',"rows":[')]
    for number, row in enumerate(snapshot["rows"]):
        separator = b"," if number else b""
        parts.append(packer.compress(separator + _to_compact_json(convert(row.to_row_fields()))))
    return base64.b64encode(b"".join([*parts, packer.compress(b"]}"), packer.flush()])).decode()


def summarize_arrays(part: Any, rounded_data: dict[int, Any] | None = None) -> Any:
    """Return a part of a snapshot with rounded numbers and smaller thumbnails instead of its arrays.

    Args:
        part: The part, as a dictionary, a list, or a value without arrays.
        rounded_data: The arrays that are rounded already, by the identity of their lists. A sweep shows many arrays
            two or three times.

    >>> summarize_arrays({"value": {"text": "[0.33333333 0.5]", "data": [0.33333333, 0.5]}})
    {'value': {'text': '', 'data': [0.3333, 0.5]}}
    """
    rounded_data = {} if rounded_data is None else rounded_data
    if isinstance(part, list):
        return [summarize_arrays(item, rounded_data) for item in part]
    if not isinstance(part, dict):
        return part
    if "product" in part and "local" in part:  # The part is an edge of the sweep.
        local = part["local"]
        is_array = local is not None and (isinstance(local.get("data"), list) or "thumb" in local)
        part = part | {"local": None if is_array else local}
    summarized = {
        key: item if key in ("data", "thumb") else summarize_arrays(item, rounded_data) for key, item in part.items()
    }
    if "thumb" in part:
        lines, fewer_lines = part["thumb"], _shrink_thumbnail(part["thumb"])
        if fewer_lines:
            cell = part.get("cell", 1.0) * len(lines[0]) / len(fewer_lines[0]) * len(fewer_lines) / len(lines)
            summarized |= {"text": "", "thumb": fewer_lines, "cell": _round_numbers(cell)}
    elif isinstance(part.get("data"), list):
        summarized |= {"text": _keep_nonfinite_text(part), "data": _round_numbers_once(part["data"], rounded_data)}
    return summarized


def _keep_nonfinite_text(value: dict[str, Any]) -> str:
    """Return the text of an array with NaN or infinity, by which the front end finds these, or else ""."""
    text = str(value.get("text", ""))
    return text if "nan" in text or "inf" in text else ""


def _round_numbers_once(data: list[Any], rounded_data: dict[int, Any]) -> Any:
    if id(data) not in rounded_data:
        rounded_data[id(data)] = _round_numbers(data)
    return rounded_data[id(data)]


def _round_numbers(data: Any) -> Any:
    if isinstance(data, list):
        return [_round_numbers(item) for item in data]
    return float(f"{data:.{SUMMARY_DIGITS}g}") if isinstance(data, float) else data


def _shrink_thumbnail(lines: list[list[Any]]) -> list[list[Any]]:
    """Return a thumbnail with at most SUMMARY_CELLS cells, each with its area's element of largest magnitude."""
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
