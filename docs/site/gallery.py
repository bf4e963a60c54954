"""Build the gallery of small programs with pictures of their tapes, from ``docs/gallery.toml``."""

from __future__ import annotations

import ast
import html
import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import page_programs

from minitape.common.translation import ENGLISH

GALLERY_FILE = Path(__file__).parents[1] / "gallery.toml"
PROGRAM_LABELS = {"en": "Program", "zh": "程序"}
GALLERY_COMMENT = "<!-- gallery -->"
FIGURE_TEMPLATE = """\
<figure>
<img src="{picture}" loading="lazy" alt="{alt}">
<figcaption>

**{title}.** {caption}

</figcaption>
<details class="code"><summary>{summary}</summary>

```python
{program}
```

</details>
</figure>
"""


class GalleryPicture(NamedTuple):
    """A picture of the gallery.

    Attributes:
        name: The name of its file, without the suffix.
        title: What the picture is about.
        caption: What to see in it.
        program: The source text, whose last line is the picture.
        shows: Texts that occur in the picture's description.
    """

    name: str
    title: str
    caption: str
    program: str
    shows: list[str]


def read_gallery(language_code: str = ENGLISH) -> dict[str, list[GalleryPicture]]:
    """Read the pictures of the gallery in one language.

    Args:
        language_code: The language of the titles and captions.

    Returns:
        The pictures by the title of their group.
    """
    groups = tomllib.loads(GALLERY_FILE.read_text(encoding="utf-8"))["groups"]
    suffix = "" if language_code == ENGLISH else f"_{language_code}"
    return {
        group["title" + suffix]: [
            GalleryPicture(
                entry["name"],
                entry["title" + suffix],
                entry["caption" + suffix],
                entry["program"].strip() + "\n",
                entry["shows"],
            )
            for entry in group["pictures"]
        ]
        for group in groups
    }


def draw_program(program: str) -> str:
    """Run a program and return the SVG text of the picture in its last line."""
    last_statement = ast.parse(program).body[-1]
    lines = program.splitlines(keepends=True)
    namespace: dict[str, Any] = {}  # The variables of a program, which can be anything.
    page_programs.run_program("".join(lines[: last_statement.lineno - 1]), namespace)
    return str(eval("".join(lines[last_statement.lineno - 1 :]), namespace).svg)


def embed_gallery(page_text: str, pictures_folder: Path, pictures_url: str, language_code: str) -> str:
    """Replace the gallery comment of a page with all pictures, and write their files.

    Args:
        page_text: The page, as Markdown.
        pictures_folder: The folder for the files.
        pictures_url: The address of that folder, seen from the page.
        language_code: The language of the page.

    Returns:
        The page with a figure for each picture.
    """
    summary = PROGRAM_LABELS[language_code]
    pictures_folder.mkdir(parents=True, exist_ok=True)
    blocks = []
    for group_title, pictures in read_gallery(language_code).items():
        figures = []
        for picture in pictures:
            (pictures_folder / f"{picture.name}.svg").write_text(draw_program(picture.program), encoding="utf-8")
            figures.append(
                FIGURE_TEMPLATE.format(
                    picture=f"{pictures_url}/{picture.name}.svg",
                    alt=html.escape(re.sub("`", "", picture.title)),
                    title=picture.title,
                    caption=picture.caption,
                    summary=html.escape(summary),
                    program=picture.program.rstrip(),
                )
            )
        blocks.append(f'## {group_title}\n\n<div class="gallery">\n\n' + "\n".join(figures) + "\n</div>")
    return page_text.replace(GALLERY_COMMENT, "\n\n".join(blocks))
