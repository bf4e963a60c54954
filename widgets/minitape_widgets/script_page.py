"""Build HTML pages that contain their script and their data, so that they need no server and load nothing."""

from __future__ import annotations

from pathlib import Path

from minitape.common.script_json import format_script_json
from minitape.picture.picture_texts import translate

# The page contains everything it needs, so it may load nothing from elsewhere.
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
body {{ margin: {margin}; color-scheme: light dark }}
@media (prefers-color-scheme: dark) {{ body {{ background: #111417 }} }}
</style>
<main id="{name}"{main_attributes}></main>
<script type="application/json" id="data"{data_attributes}>{data}</script>
<script type="text/plain" id="bundle">{bundle}</script>
<script type="module">
const text = JSON.parse(document.getElementById("bundle").textContent);
const url = URL.createObjectURL(new Blob([text], {{ type: "text/javascript" }}));
{script}
</script>
</html>
"""


def format_bundle(bundle: Path) -> str:
    """Return the text of a script's file in the form in which a page contains it."""
    return format_script_json(bundle.read_text(encoding="utf-8"))


def build_script_page(
    *,
    title: str,
    name: str,
    data: str,
    bundle: str,
    script: str,
    margin: str = "0",
    main_attributes: str = "",
    data_attributes: str = "",
) -> str:
    """Return the HTML text of a page.

    Args:
        title: The title of the page.
        name: The id of the page's main element, which the script fills.
        data: The data as text that cannot end a script element, for instance from ``format_script_json``. The id of
            the element that contains it is "data".
        bundle: The text of a script module, as ``format_bundle`` returns it.
        script: The JavaScript that runs in the page. ``url`` is the address of the module, and ``text`` its source.
        margin: The margin around the page in CSS units.
        main_attributes: Further attributes of the main element, with a leading space.
        data_attributes: Further attributes of the data's element, with a leading space.
    """
    return PAGE_TEMPLATE.format(
        language=translate("en"),
        policy=CONTENT_POLICY,
        title=title,
        name=name,
        data=data,
        bundle=bundle,
        script=script,
        margin=margin,
        main_attributes=main_attributes,
        data_attributes=data_attributes,
    )
