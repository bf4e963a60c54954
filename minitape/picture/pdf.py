"""A PDF of the static picture's SVG (:mod:`.figure`), and a PNG where the machine has a program that makes one.

The SVG has four elements, ``rect``, ``path``, ``text`` and ``svg``, and so has this: vectors and text in the fonts that
each reader of PDF has. Greek letters and signs come from its font Symbol, Chinese characters from the song font that a
reader puts in the place of the one that is named here.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from .short import wide

POINTS = 72 / 25.4  # in a millimetre
PIXEL = 0.75  # points of a CSS pixel
FONTS = {
    "sans": "Helvetica",
    "sans bold": "Helvetica-Bold",
    "mono": "Courier",
    "mono bold": "Courier-Bold",
    "symbol": "Symbol",
}
WIDE = "STSong-Light"  # the font of the alphabet Adobe-GB1, which no file needs to hold
SYMBOLS = {
    "∂": 0xB6,
    "Σ": 0x53,
    "σ": 0x73,
    "→": 0xAE,
    "−": 0x2D,
    "∞": 0xA5,
    "√": 0xD6,
    "π": 0x70,
    "∇": 0xD1,
    "≥": 0xB3,
    "≤": 0xA3,
    "≠": 0xB9,
    "·": 0xD7,
    "⋅": 0xD7,
    "∫": 0xF2,
    "Π": 0x50,
    "α": 0x61,
    "β": 0x62,
    "γ": 0x67,
    "δ": 0x64,
    "ε": 0x65,
    "θ": 0x71,
    "λ": 0x6C,
    "μ": 0x6D,
    "φ": 0x66,
    "ω": 0x77,
    "Δ": 0x44,
    "Φ": 0x46,
}
PLAIN = {"ʸ": "^y", "ⁿ": "^n", "‖": "||", "⊙": "o"}
ROUND = 0.5523  # of a radius: where the control points of a quarter of a circle are
PROGRAMS = ("rsvg-convert", "inkscape", "chromium", "chromium-browser", "google-chrome")  # that make a PNG of an SVG
DENSITY = 2  # pixels of a PNG for each of the picture


def pdf_of(svg: str) -> bytes:
    """The PDF of a picture.

    >>> path = '<path d="M0 0h5" stroke="#000000"/>'
    >>> pdf_of(f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" viewBox="0 0 20 10">{path}</svg>')[:8]
    b'%PDF-1.4'
    """
    root = ElementTree.fromstring(svg)
    _, _, width, height = (float(x) for x in root.attrib["viewBox"].split())
    scale = _points(root.attrib["width"]) / width
    drawn = [f"{scale:.5f} 0 0 {-scale:.5f} 0 {height * scale:.3f} cm"]
    for element in root.iter():
        draw = _DRAW.get(element.tag.rpartition("}")[2])
        if draw is not None:
            drawn.append(f"q {draw(element)} Q")
    return _file("\n".join(drawn).encode("latin-1"), width * scale, height * scale)


def _points(length: str) -> float:
    return float(length.removesuffix("mm")) * POINTS if length.endswith("mm") else float(length) * PIXEL


def _file(content: bytes, width: float, height: float) -> bytes:
    fonts = " ".join(f"/F{k} {4 + k} 0 R" for k in range(1, len(FONTS) + 2))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:.3f} {height:.3f}] /Contents 4 0 R /Resources << /Font "
        f"<< {fonts} >> >> >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        *(
            "<< /Type /Font /Subtype /Type1 /BaseFont "
            f"/{name}{'' if name == 'Symbol' else ' /Encoding /WinAnsiEncoding'} >>".encode()
            for name in FONTS.values()
        ),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /UniGB-UCS2-H /DescendantFonts [%d 0 R] >>"
        % (WIDE.encode(), 6 + len(FONTS)),
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /%s /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) "
        b"/Supplement 4 >> /DW 1000 "
        b"/FontDescriptor %d 0 R >>" % (WIDE.encode(), 7 + len(FONTS)),
        b"<< /Type /FontDescriptor /FontName /%s /Flags 4 /FontBBox [-25 -254 1000 880] /ItalicAngle 0 /Ascent 880 "
        b"/Descent -120 /CapHeight 880 "
        b"/StemV 93 >>" % WIDE.encode(),
    ]
    text, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = "".join(f"{at:010d} 00000 n \n" for at in places)
    return (
        text
        + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n<< /Size {len(objects) + 1} /Root 1 0 R "
        f">>\nstartxref\n{len(text)}\n%%EOF\n".encode()
    )


# -- elements --------------------------------------------------------------------------------------


def _colour(text: str) -> str:
    return " ".join(f"{int(text[k : k + 2], 16) / 255:.3f}" for k in (1, 3, 5))


def _painted(element: ElementTree.Element, path: str) -> str:
    """A path with the fill, the line and the dashes of an element."""
    fill, stroke = element.get("fill", "#000000"), element.get("stroke", "none")
    setup = "" if fill == "none" else f"{_colour(fill)} rg "
    if stroke != "none":
        setup += (
            f"{_colour(stroke)} RG {element.get('stroke-width', '1')} w [{element.get('stroke-dasharray', '')}] "
            "0 d 1 J "
        )
    return (
        f"{setup}{path} "
        f"{'n' if fill == stroke == 'none' else 'f' if stroke == 'none' else 'S' if fill == 'none' else 'B'}"
    )


def _rect(element: ElementTree.Element) -> str:
    x, y, w, h, r = (float(element.get(name, "0")) for name in ("x", "y", "width", "height", "rx"))
    r = min(r, w / 2, h / 2)
    if not r:
        return _painted(element, f"{x:.3f} {y:.3f} {w:.3f} {h:.3f} re")
    k, right, bottom = r * (1 - ROUND), x + w, y + h
    path = (
        f"{x + r:.3f} {y:.3f} m {right - r:.3f} {y:.3f} l {right - k:.3f} {y:.3f} {right:.3f} {y + k:.3f} "
        f"{right:.3f} {y + r:.3f} c "
        f"{right:.3f} {bottom - r:.3f} l {right:.3f} {bottom - k:.3f} {right - k:.3f} {bottom:.3f} {right - r:.3f} "
        f"{bottom:.3f} c "
        f"{x + r:.3f} {bottom:.3f} l {x + k:.3f} {bottom:.3f} {x:.3f} {bottom - k:.3f} {x:.3f} {bottom - r:.3f} c "
        f"{x:.3f} {y + r:.3f} l {x:.3f} {y + k:.3f} {x + k:.3f} {y:.3f} {x + r:.3f} {y:.3f} c h"
    )
    return _painted(element, path)


def _path(element: ElementTree.Element) -> str:
    return _painted(element, " ".join(_absolute(element.get("d", ""))))


def _absolute(d: str) -> Iterator[str]:
    """The commands of an SVG path as those of PDF, which has only lines and cubic curves in absolute points."""
    x = y = 0.0
    for letter, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", re.sub(r"(\d)e([-+]?\d)", r"\1E\2", d)):
        numbers = [float(n) for n in re.findall(r"-?(?:\d+\.?\d*|\.\d+)(?:E[-+]?\d+)?", rest)]
        own, kind = letter.islower(), letter.upper()
        if kind == "Z":
            yield "h"
            continue
        if kind in "HV":
            value = numbers[0] + ((x if kind == "H" else y) if own else 0)
            x, y = (value, y) if kind == "H" else (x, value)
            yield f"{x:.3f} {y:.3f} l"
            continue
        size = {"M": 2, "L": 2, "Q": 4, "C": 6}[kind]
        for at in range(0, len(numbers), size):
            points = [n + ((x, y)[k % 2] if own else 0) for k, n in enumerate(numbers[at : at + size])]
            if kind == "Q":  # a quadratic curve as a cubic one
                a, b, c, e = points
                points = [x + 2 / 3 * (a - x), y + 2 / 3 * (b - y), c + 2 / 3 * (a - c), e + 2 / 3 * (b - e), c, e]
            x, y = points[-2:]
            yield (
                f"{' '.join(f'{p:.3f}' for p in points)} "
                f"{'m' if kind == 'M' and not at else 'c' if len(points) == 6 else 'l'}"
            )


# widths of Helvetica in thousandths, where they differ much from the mean; digits and most letters are about 556
_NARROW = dict.fromkeys("ijl'|.,:;I![]/ ft()", 270) | dict.fromkeys("mMW@%", 850) | dict.fromkeys("rsckxyzv-", 460)


def _text(element: ElementTree.Element) -> str:
    text, size = "".join(element.itertext()), float(element.get("font-size", "12"))
    for sign, instead in PLAIN.items():
        text = text.replace(sign, instead)
    mono, bold = "Courier" in element.get("font-family", ""), element.get("font-weight") == "600"
    face = ("mono" if mono else "sans") + (" bold" if bold else "")
    size *= 1.0 if not mono else 0.98
    width = (
        sum(1000 if wide(letter) > 1 else 600 if mono else _NARROW.get(letter, 556) for letter in text) / 1000 * size
    )
    x, y = float(element.get("x", "0")), float(element.get("y", "0"))
    x -= {"end": width, "middle": width / 2}.get(element.get("text-anchor", ""), 0.0)
    shown, fonts = [], list(FONTS)
    for part, letters in _runs(text):
        font = (len(FONTS) if part == "wide" else fonts.index(part or face)) + 1
        shown.append(f"/F{font} {size:.2f} Tf <{letters.hex()}> Tj")
    return f"{_colour(element.get('fill', '#000000'))} rg BT 1 0 0 -1 {x:.3f} {y:.3f} Tm {' '.join(shown)} ET"


def _runs(text: str) -> Iterator[tuple[str, bytes]]:
    """Stretches of a text, each in one font: ("symbol", "wide", or "" for that of the text; its bytes)."""
    for font, letters in groupby(
        text, lambda letter: "symbol" if letter in SYMBOLS else "wide" if wide(letter) > 1 else ""
    ):
        if font == "symbol":
            yield font, bytes(SYMBOLS[letter] for letter in letters)
        else:
            yield font, "".join(letters).encode("utf-16-be" if font else "cp1252", "replace")


_DRAW = {"rect": _rect, "path": _path, "text": _text}


# -- PNG -------------------------------------------------------------------------------------------


def png_of(svg: str) -> bytes:
    """The PNG of a picture, made by a program of this machine. Raises FileNotFoundError where none is installed."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise FileNotFoundError(
            f"Writing .png needs one of the programs {', '.join(PROGRAMS[:3])}, and none was found. Save as .svg or "
            ".pdf instead, "
            'which need nothing, or as .png from the menu "export" of a TapeView.'
        )
    root = ElementTree.fromstring(svg)
    width, height = (round(_points(root.attrib[side]) / PIXEL) for side in ("width", "height"))
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "picture.svg"), Path(folder, "picture.png")
        given.write_text(svg, encoding="utf-8")
        name = Path(program).name
        if name == "rsvg-convert":
            order = [program, "--zoom", str(DENSITY), "-o", str(made), str(given)]
        elif name == "inkscape":
            order = [
                program,
                "--export-type=png",
                f"--export-filename={made}",
                f"--export-width={DENSITY * width}",
                str(given),
            ]
        else:
            page = Path(folder, "picture.html")
            page.write_text(
                f'<!doctype html><meta charset="utf-8"><style>body {{ margin: 0 }}</style>{svg}', encoding="utf-8"
            )
            order = [
                program,
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                "--disable-gpu",
                f"--screenshot={made}",
                f"--force-device-scale-factor={DENSITY}",
                f"--window-size={width},{height}",
                page.as_uri(),
            ]
        subprocess.run(order, check=True, capture_output=True, timeout=60)
        return made.read_bytes()
