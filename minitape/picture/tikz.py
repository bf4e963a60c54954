"""Convert the SVG of a figure to TikZ for LaTeX papers.

Only the elements that :mod:`.svg_elements` draws are converted, so both formats show the same picture.
"""

import re
from html import unescape

PREAMBLE = r"""
% Needs \usepackage{tikz}\usetikzlibrary{svg.path}; as wide as a line: \resizebox{\linewidth}{!}{\input{...}}
% Scripts other than Latin and Greek need LuaLaTeX or XeLaTeX, and a font that has them.
\begin{tikzpicture}[yscale=-1,x=1pt,y=1pt,line width=1pt,every node/.style={anchor=base,inner sep=0pt},
  ink/.code={\definecolor{tape#1}{HTML}{#1}\tikzset{draw=tape#1}},
  inside/.code={\definecolor{tape#1}{HTML}{#1}\tikzset{fill=tape#1}}]
\def\clap#1{\hbox to0pt{\hss#1\hss}}\let\lap\rlap
"""[1:]
# Each rule consists of a regular expression for SVG, "=>" and a replacement, which may be on the next line. The rules
# are applied in order.
SVG_RULES = r"""
(?s)<svg.*?</desc>=>
<text x="(.*?)" y="(.*?)" (.*?) fill="#(\w+)"(.*?)>(.*?)</text>=>
  \\node at (\1,\2) {{\\sffamily\\color[HTML]{\4}\3\5\\lap{\\selectfont \6}}};\n
 ?font-size="([\d.]+)"=>\\fontsize{\1}{\1}
 ?font-family="[^"]*mono[^"]*"=>\\ttfamily
 ?font-family="[^"]*serif[^"]*"=>\\rmfamily
 ?font-weight="600"=>\\bfseries\\boldmath
 ?font-style="italic"=>\\itshape
 ?text-anchor="start"=>
 ?text-anchor="end"=>\\let\\lap\\llap
 ?text-anchor="middle"=>\\let\\lap\\clap
<rect x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"( rx="(.*?)")?(.*?)/>=>
  \\path[rounded corners=0\6pt] (\1,\2) rectangle +(\3,\4) [\7];\n
<path d="(.*?)"(.*?)/>=>\\path svg "\1" [\2];\n
 fill="#(\w+)"=>inside=\1,
 fill="none"=>
 stroke="#(\w+)"=>ink=\1,
 stroke-width="(.*?)"=>line width=\1pt,
 stroke-dasharray="(\S+) (\S+)"=>dash pattern=on \1pt off \2pt,
</svg>=>\\end{tikzpicture}\n
"""
LATEX_SIGNS = r"""
\ \textbackslash{} { \{ } \} # \# $ \$ % \% & \& _ \_ ~ \textasciitilde{} ^ \textasciicircum{} " '' | $|$
< \textless{} > \textgreater{} ¬ $\neg$ × $\times$ ÷ $\div$ − $-$ ± $\pm$ · $\cdot$ ∂ $\partial$ ∇ $\nabla$ √ $\surd$
∞ $\infty$ ≥ $\geq$ ≤ $\leq$ → $\to$ … \ldots{} ⟨ $\langle$ ⟩ $\rangle$ ᵀ $^{T}$ ˣ $^{x}$ ʸ $^{y}$
⁰ $^0$ ¹ $^1$ ² $^2$ ³ $^3$ ⁴ $^4$ ⁵ $^5$ ⁶ $^6$ ⁷ $^7$ ⁸ $^8$ ⁹ $^9$
₀ $_0$ ₁ $_1$ ₂ $_2$ ₃ $_3$ ₄ $_4$ ₅ $_5$ ₆ $_6$ ₇ $_7$ ₈ $_8$ ₉ $_9$
α $\alpha$ β $\beta$ γ $\gamma$ δ $\delta$ ε $\varepsilon$ ζ $\zeta$ η $\eta$ θ $\theta$ κ $\kappa$ λ $\lambda$
μ $\mu$ ν $\nu$ ξ $\xi$ π $\pi$ ρ $\rho$ σ $\sigma$ τ $\tau$ φ $\varphi$ χ $\chi$ ψ $\psi$ ω $\omega$
Γ $\Gamma$ Δ $\Delta$ Θ $\Theta$ Λ $\Lambda$ Σ $\Sigma$ Φ $\Phi$ Ψ $\Psi$ Ω $\Omega$
"""
LATEX_BY_SIGN = {ord(sign): written for sign, written in re.findall(r"(\S) (\S+)", LATEX_SIGNS)}


def convert_to_tikz(svg: str) -> str:
    r"""Return the figure as LaTeX code with a ``tikzpicture``, which a document includes with ``\input``.

    Args:
        svg: The text of ``Figure.build_svg``.
    """
    text = re.sub(">([^<]+)<", lambda match: f">{unescape(match[1]).translate(LATEX_BY_SIGN)}<", svg)
    for pattern, replacement in re.findall("(.+)=>(?:\n  )?(.*)\n", SVG_RULES):
        text = re.sub(pattern, replacement, text)
    return PREAMBLE + text
