"""Store a view in a saved notebook as a compressed interactive page next to the static picture."""

from __future__ import annotations

import base64
import zlib
from hashlib import sha256
from html import escape

from minitape.common.translation import join_sentences
from minitape.picture.drawing import Picture
from minitape.picture.picture_texts import translate

MAX_LETTERS = 1_000_000  # The size limit for a compressed page, above which it is not stored.
# The script replaces the picture with the page. Where scripts do not run, as on GitHub or in a notebook that is not
# trusted, the picture stays.
KEPT_HTML = """<div id="{name}">{picture}</div><script>
(async (places) => {{
  const bytes = Uint8Array.from(atob("{packed}"), (letter) => letter.charCodeAt(0));
  const page = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  for (const place of places) {{
    const frame = Object.assign(document.createElement("iframe"), {{ srcdoc: page, title: "{title}" }});
    frame.setAttribute("sandbox", "allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox");
    frame.style.cssText = "width: 100%; height: {height}px; border: 0";
    place.replaceChildren(frame);
  }}
}})(document.querySelectorAll("#{name}"));
</script>"""


class KeptView:
    """An output that steps without a kernel in a notebook that was reopened, emailed or converted.

    Attributes:
        picture: The static picture.
    """

    def __init__(self, picture: Picture, page: str, height: int) -> None:
        """Store the picture, the HTML text of the page, and the height of the page in pixels."""
        self.picture = picture
        self._page, self._height = page, height

    def html(self) -> str:
        """Return the picture's HTML, with a script that replaces the picture with the page.

        If the page is too large, a sentence that says so takes the script's place.
        """
        packed = base64.b64encode(zlib.compress(self._page.encode(), 9)).decode()
        if len(packed) > MAX_LETTERS:
            message = translate(
                "This page would add {size} MB to the notebook, but the limit is {most} MB. Use "
                'view.save("tape.html") to save the page next to the notebook.',
                size=f"{len(packed) / 1e6:.1f}",
                most=f"{MAX_LETTERS / 1e6:g}",
            )
            return f"{self.picture.html()}<p>{escape(join_sentences(message))}</p>"
        name = f"tape-{sha256(packed.encode()).hexdigest()[:12]}"
        return KEPT_HTML.format(
            name=name, picture=self.picture.html(), packed=packed, title=translate("Tape"), height=int(self._height)
        )

    def __repr__(self) -> str:
        """Return the number of rows and tapes."""
        return repr(self.picture).replace("Picture", "KeptView")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}
