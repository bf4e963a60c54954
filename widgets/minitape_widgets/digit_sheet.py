"""Draw a sheet of small images with captions, such as digits and what a network reads in them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape

import numpy as np

from minitape.common.translation import say
from minitape.course.digits import SIDE
from minitape.course.plot import GRAY, build_bitmap_address

SCALE = 4  # The width of an image's pixel on the sheet.
CAPTION_HEIGHT, GAP = 18, 8
INK = np.array([0x1F, 0x4E, 0x79])
PAPER = np.array([0xFF, 0xFF, 0xFF])


class DigitSheet:
    """Images of digits in rows.

    >>> from minitape.course.digits import load_digits
    >>> DigitSheet("two digits", load_digits()[0][:2], ["0", "1"])
    Picture: two digits
    """

    def __init__(
        self,
        says: str,
        images: np.ndarray,
        captions: Sequence[object] = (),
        columns: int = 10,
    ) -> None:
        """Store the images.

        Args:
            says: What the sheet shows, in words.
            images: The ink of the images from 0.0 to 1.0, one image per row.
            captions: The text below each image.
            columns: The number of images in a row of the sheet.
        """
        self.says = says
        self._images = np.clip(np.asarray(images, np.float64).reshape(-1, SIDE, SIDE), 0.0, 1.0)
        self._captions = [str(caption) for caption in captions] or [""] * len(self._images)
        self._columns = columns

    def build_svg(self) -> str:
        """Return the sheet as text."""
        size = SCALE * SIDE
        row_height = size + GAP + (CAPTION_HEIGHT if any(self._captions) else 0)
        rows = -(-len(self._images) // self._columns)
        width = self._columns * (size + GAP)
        height = rows * row_height
        elements = []
        for number, image in enumerate(self._images):
            row, column = divmod(number, self._columns)
            x = column * (size + GAP)
            y = row * row_height
            pixels = PAPER + image[::-1, :, np.newaxis] * (INK - PAPER)
            elements.append(
                f'<image x="{x}" y="{y}" width="{size}" height="{size}" style="image-rendering:pixelated" '
                f'href="{build_bitmap_address(pixels)}"/>'
            )
            elements.append(
                f'<text x="{x + size // 2}" y="{y + size + 14}" text-anchor="middle" fill="{GRAY}">'
                f"{escape(self._captions[number])}</text>"
            )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            f'font-family="Arial, sans-serif" font-size="13">{"".join(elements)}</svg>'
        )

    def __repr__(self) -> str:
        """Return the description of the sheet."""
        return say("Picture: {says}", says=self.says)

    def _repr_mimebundle_(self, **options: object) -> dict[str, str]:
        address = f"data:image/svg+xml;base64,{b64encode(self.build_svg().encode()).decode()}"
        html = f'<img style="max-width:100%" alt="{escape(self.says, quote=True)}" src="{address}">'
        return {"text/plain": repr(self), "text/html": html}
