"""Send the front end to the browser once per kernel.

A hidden widget holds the JavaScript bundle. Each view's script is only a few lines long, and fetches the bundle from
this widget.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from minitape.course.prediction_buttons import HEAR_SCRIPT
from minitape.course.widget_base import AnyWidget, Unicode

BUNDLE = Path(__file__).parent / "static" / "tapeview.js"
ELEMENT_SCRIPT = BUNDLE.with_name("minitape.js")
"""The script that defines ``<mini-tape>`` in a web page."""

# The script of each view. It finds the front end through the widget manager, so a page (or the frame of an output, in
# Colab and VS Code) may load the models in any order. A page imports each version of the bundle once.
LOADER = (
    HEAR_SCRIPT
    + """
async function engine(model) {
  const id = model.get("_engine");
  const home = (globalThis.__minitape_engines ??= {});
  const found = await model.widget_manager.get_model(id);
  const text = found.get("bundle");
  const key = text.slice(0, 80);
  if (!home[key]) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    home[key] = import(url).finally(() => URL.revokeObjectURL(url));
  }
  return { lib: await home[key], text };
}
const shared = new Map();
export default {
  async initialize({ model }) {
    const { lib } = await engine(model);
    await hear(model);
    const key = model.get("_key");
    shared.set(key, lib.listen(model));
    return () => shared.delete(key);
  },
  async render({ model, el }) {
    const { lib, text } = await engine(model);
    return lib.show(shared.get(model.get("_key")), el, async () => text);
  },
};
"""
)


class FrontEnd(AnyWidget):
    """The hidden widget that holds the bundled front end.

    Attributes:
        bundle: The text of the JavaScript bundle.
    """

    _esm = "export default {};"
    bundle = Unicode().tag(sync=True)

    def __repr__(self) -> str:
        """Return a short text without the bundle."""
        return "FrontEnd()"


_front_end: list[Any] = []


def get_front_end() -> FrontEnd:
    """Return the kernel's front end, creating it on the first call or after it was closed."""
    if not _front_end or _front_end[0].comm is None:
        _front_end[:] = [FrontEnd(bundle=BUNDLE.read_text(encoding="utf-8"))]
    return _front_end[0]
