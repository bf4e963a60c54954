"""A figure's SVG as a picture for LaTeX: TikZ, in the document's own type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, fromstring

POINT = 72.27 / 96  # TeX's points in a pixel
HEAD = r"""%% \usepackage{tikz} \usetikzlibrary{svg.path}
\begin{tikzpicture}[x=%(p).6gpt, y=-%(p).6gpt, inner sep=0pt, outer sep=0pt]
"""
WRITTEN = r"""
∂ $\partial$
× $\times$
÷ $\div$
− $-$
- $-$
σ $\sigma$
Σ $\Sigma$
→ $\to$
√ $\surd$
· $\cdot$
… \dots{}
⁰ $^0$
¹ $^1$
² $^2$
³ $^3$
⁴ $^4$
⁵ $^5$
⁶ $^6$
⁷ $^7$
⁸ $^8$
⁹ $^9$
ʸ $^y$
ᵀ $^{\mathsf{T}}$
* $\ast$
∗ $\ast$
≈ $\approx$
≥ $\geq$
≤ $\leq$
± $\pm$
⟨ $\langle$
⟩ $\rangle$
> $>$
< $<$
\ \textbackslash{}
~ \textasciitilde{}
^ \textasciicircum{}
"""
SIGNS = {chr(0x2460 + k): rf"\textcircled{{\tiny {k + 1}}}" for k in range(20)} | {"⓪": r"\textcircled{\tiny 0}"}
SIGNS |= {sign: rf"\{sign}" for sign in "&%$#_{}"} | dict(map(str.split, WRITTEN.strip().splitlines()))


def tikz(svg: str) -> str:
    """The picture of an SVG that this package wrote.

    >>> svg = '<svg xmlns="http://www.w3.org/2000/svg"><text x="4" y="8" font-size="12" fill="#b34700">∂ 2</text></svg>'
    >>> print(tikz(svg))
    % \\usepackage{tikz} \\usetikzlibrary{svg.path}
    \\begin{tikzpicture}[x=0.752812pt, y=-0.752812pt, inner sep=0pt, outer sep=0pt]
    \\definecolor{tape-b34700}{HTML}{B34700}
    \\node[anchor=base west, text=tape-b34700] at (4,8) {\\fontsize{9.03}{9.03}\\selectfont $\\partial$ 2};
    \\end{tikzpicture}
    <BLANKLINE>
    """
    root = fromstring(svg)
    drawn = [line for element in _parts(root) for line in _commands(element)]
    colours = sorted({found for line in drawn for found in re.findall(r"tape-(\w{6})", line)})
    names = [rf"\definecolor{{tape-{colour}}}{{HTML}}{{{colour.upper()}}}" for colour in colours]
    return HEAD % {"p": POINT} + "\n".join([*names, *drawn, r"\end{tikzpicture}", ""])


def _parts(root: Element) -> list[Element]:
    """What is drawn: not the words for who cannot see it, nor the background."""
    found = [element for element in root if element.tag.split("}")[-1] not in ("title", "desc")]
    return found[1 if len(found) > 1 else 0 :]


def _commands(element: Element) -> Iterator[str]:
    tag = element.tag.split("}")[-1]
    if tag == "text":
        yield _node(element)
        return
    style = [f"draw={_colour(element, 'stroke')}" if element.get("stroke") else "", _fill(element)]
    if width := element.get("stroke-width"):
        style.append(f"line width={float(width) * POINT:.3g}pt")
    if dashes := element.get("stroke-dasharray"):
        on, off = (float(length) * POINT for length in dashes.split())
        style.append(f"dash pattern=on {on:.3g}pt off {off:.3g}pt")
    options = ", ".join(filter(None, style))
    if tag == "rect":
        x, y, w, h = (float(element.get(name, 0)) for name in ("x", "y", "width", "height"))
        radius = min(float(element.get("rx", 0)), w / 2, h / 2) * POINT
        corners = f", rounded corners={radius:.3g}pt" if radius else ""
        yield rf"\path[{options}{corners}] ({x:g},{y:g}) rectangle ({x + w:g},{y + h:g});"
    elif tag == "path":
        path = element.get("d", "")  # its lengths are TeX's points, whatever x and y are
        yield rf"\begin{{scope}}[xscale={POINT:.6g}, yscale=-{POINT:.6g}]\path[{options}] svg {{{path}}};\end{{scope}}"


def _node(element: Element) -> str:
    size = float(element.get("font-size", 10)) * POINT
    face = r"\ttfamily" if "monospace" in element.get("font-family", "") else ""
    bold = r"\bfseries" if element.get("font-weight") else r"\itshape" if element.get("font-style") else ""
    text = "".join(SIGNS.get(sign, sign) for sign in element.text or "")
    anchor = "east" if element.get("text-anchor") else "west"
    place = f"({element.get('x')},{element.get('y')})"
    font = rf"\fontsize{{{size:.3g}}}{{{size:.3g}}}\selectfont{face}{bold}"
    return rf"\node[anchor=base {anchor}, text={_colour(element, 'fill')}] at {place} {{{font} {text}}};"


def _fill(element: Element) -> str:
    return "" if element.get("fill", "none") == "none" else f"fill={_colour(element, 'fill')}"


def _colour(element: Element, name: str) -> str:
    return f"tape-{element.get(name, '#000000')[1:]}"
