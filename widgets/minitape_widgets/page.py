"""A page of its own: the front end and one snapshot in a single HTML file, stepping without a kernel."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .engine import BUNDLE

if TYPE_CHECKING:
    from minitape.picture.fields import Snapshot

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tape</title>
<style>
body {{ margin: 16px; color-scheme: light dark }}
@media (prefers-color-scheme: dark) {{ body {{ background: #111417 }} }}
</style>
<main id="view"></main>
<script type="application/json" id="data">{data}</script>
<script type="text/plain" id="bundle">{bundle}</script>
<script type="module">
const text = JSON.parse(document.getElementById("bundle").textContent);
const url = URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
const {{ mount }} = await import(url);
mount(document.getElementById("view"), JSON.parse(document.getElementById("data").textContent), async () => text);
</script>
</html>
"""


def page(snapshot: Snapshot) -> str:
    """The HTML text. Nothing of the snapshot can end its script element: ``<`` is written as an escape."""
    return PAGE.format(data=_inert(snapshot), bundle=_inert(BUNDLE.read_text(encoding="utf-8")))


def _inert(value: Any) -> str:
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
