"""What the command says, in the user's language."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ..common import texts
from ..picture.short import wide


def say(text: str, code: str | None = None, /, **values: object) -> str:
    """A text in the user's language, or in that of a `code`, with `values` put in where it names them in braces; in
    English where the terminal cannot show the user's.

    >>> say("saved {path}", path="a.ipynb")
    'saved a.ipynb'
    """
    said = texts.say(text, texts.CLI, code, **values)
    try:
        said.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return said if code else texts.say(text, texts.CLI, texts.ENGLISH, **values)
    return said


def failure(text: str, /, **values: object) -> click.ClickException:
    """The error for what could not be done."""
    return click.ClickException(say(text, **values))


def misuse(text: str, /, **values: object) -> click.UsageError:
    """The error for what was typed."""
    return click.UsageError(say(text, **values))


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Around what writes a file or a folder: where that cannot be done, the error says so."""
    try:
        yield
    except OSError as error:
        raise failure("cannot write {path}: {error}", path=path, error=error.strerror or error) from error


def column_names(*names: str) -> list[str]:
    """The names of a table's columns."""
    return [say(name) for name in names]


class HelpText(click.HelpFormatter):
    """The text of ``--help``, in lines as wide as the terminal also where each character takes the room of two."""

    def write_text(self, text: str) -> None:
        """Write a text in lines."""
        room, self.width = self.width, self.width // (1 + (wide(text) > len(text)))
        super().write_text(text)
        self.width = room


class CommandContext(click.Context):
    """What a command is called with."""

    formatter_class = HelpText
