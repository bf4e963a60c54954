"""Define the live form of a series of pictures, a widget or a page with a slider and a play button."""

from html import escape
from pathlib import Path

from ..common.script_json import format_script_json
from ..common.translation import say
from ..engine.types import JsonObject
from .plot import Moving
from .widget_base import AnyWidget, Float, Int, List, Unicode

HERE = Path(__file__).parent
# The widget's program only needs a "model". In a page, this is an object that the script creates.
PAGE_TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --jp-layout-color2: light-dark(#eee, #2d333b) }}
img {{ border-radius: 6px }}
{style}</style>
<main></main>
<script type="module">
{program}
const fields = {fields};
moving.render({{ model: {{ get: (name) => fields[name] }}, el: document.querySelector("main") }});
</script>
</html>
"""


class Slider(AnyWidget):
    """A widget that shows one picture of a `Moving` at a time. The slider works in the page, without the kernel."""

    _esm = HERE / "moving.js"
    _css = HERE / "moving.css"
    name = Unicode().tag(sync=True)
    values = List(Float()).tag(sync=True)
    sources = List(Unicode()).tag(sync=True)
    words = List(Unicode()).tag(sync=True)
    start = Int().tag(sync=True)
    play = Unicode().tag(sync=True)
    pause = Unicode().tag(sync=True)

    def __init__(self, moving: Moving):
        """Build the slider.

        Args:
            moving: The pictures.
        """
        super().__init__(**build_slider_fields(moving))


def build_slider_fields(moving: Moving) -> JsonObject:
    """Build the fields that the widget's script reads."""
    return {
        "name": moving.name,
        "values": moving.values,
        "sources": [picture.source() for picture in moving.pictures],
        "words": [picture.says for picture in moving.pictures],
        "start": moving.start,
        "play": say("Play"),
        "pause": say("Pause"),
    }


def build_slider_page(moving: Moving) -> str:
    """Build a page with the pictures and their slider, which needs no kernel.

    Nothing in the fields can end its script: ``<`` is an escape.

    Args:
        moving: The pictures.
    """
    fields = format_script_json(build_slider_fields(moving))
    program = (HERE / "moving.js").read_text(encoding="utf-8").replace("export default", "const moving =")
    style = (HERE / "moving.css").read_text(encoding="utf-8")
    return PAGE_TEMPLATE.format(title=escape(moving.name), style=style, program=program, fields=fields)
