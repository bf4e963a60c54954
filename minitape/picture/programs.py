"""A PDF or a PNG of the static picture's SVG (:mod:`.figure`), made by a program of this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

# that read an SVG
PROGRAMS = ("rsvg-convert", "inkscape", "chromium", "chromium-browser", "chromium-headless-shell", "google-chrome")
DENSITY = 2  # pixels of a PNG for each of the picture
DOTS = 96 / 25.4  # of a page, in a millimetre


def converted(svg: str, kind: str) -> bytes:
    """The "pdf" or "png" of a picture. Raises FileNotFoundError where no program is installed that makes one."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise FileNotFoundError(
            f"Writing .{kind} needs one of the programs {', '.join(PROGRAMS[:3])}, and none was found. Save as .svg "
            'instead, which needs nothing, or as .png from the menu "export" of a TapeView.'
        )
    width, height = (_pixels(length) for length in re.findall(r' (?:width|height)="([\d.]+(?:mm)?)"', svg)[:2])
    with tempfile.TemporaryDirectory() as folder:
        given, made, page = (Path(folder, f"picture.{ending}") for ending in ("svg", kind, "html"))
        given.write_text(svg, encoding="utf-8")
        style = f"@page {{ size: {width}px {height}px; margin: 0 }} body {{ margin: 0 }} svg {{ display: block }}"
        page.write_text(f'<!doctype html><meta charset="utf-8"><style>{style}</style>{svg}', encoding="utf-8")
        size = f"--window-size={round(width)},{round(height)}"
        orders: dict[str, list[str | Path]] = {
            "rsvg-convert": [*(["--zoom", str(DENSITY)] if kind == "png" else []), "-f", kind, "-o", made, given],
            "inkscape": [f"--export-type={kind}", f"--export-filename={made}", f"--export-dpi={96 * DENSITY}", given],
            "pdf": ["--no-pdf-header-footer", f"--print-to-pdf={made}", page.as_uri()],
            "png": [f"--screenshot={made}", f"--force-device-scale-factor={DENSITY}", size, page.as_uri()],
        }
        browser = ["--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu", *orders[kind]]
        order = orders.get(Path(program).name, browser)
        subprocess.run([program, *order], check=True, capture_output=True, timeout=60)
        return made.read_bytes()


def _pixels(length: str) -> float:
    return float(length.removesuffix("mm")) * (DOTS if length.endswith("mm") else 1)
