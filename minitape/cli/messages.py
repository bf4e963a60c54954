"""What the command says, in the user's language."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ..common import translation
from ..picture.truncation import measure_width


def say(text: str, language_code: str | None = None, /, **values: object) -> str:
    """Return a text in the user's language, or in `language_code`, with `values` put in where it names them in braces.

    It is in English where the terminal cannot show the user's language.

    >>> say("saved {path}", path="a.ipynb")
    'saved a.ipynb'
    """
    translated = translation.say(text, translation.CLI, language_code, **values)
    try:
        translated.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return translated if language_code else translation.say(text, translation.CLI, translation.ENGLISH, **values)
    return translated


def create_failure(text: str, /, **values: object) -> click.ClickException:
    """Create the error for what could not be done, with a translated message."""
    return click.ClickException(say(text, **values))


def create_usage_error(text: str, /, **values: object) -> click.UsageError:
    """Create the error for what was typed, with a translated message."""
    return click.UsageError(say(text, **values))


@contextmanager
def convert_write_errors(path: Path) -> Iterator[None]:
    """Turn an OSError of what writes a file or a folder, in the block, into a click error that says so."""
    try:
        yield
    except OSError as error:
        raise create_failure("cannot write {path}: {error}", path=path, error=error.strerror or error) from error


def translate_column_names(*names: str) -> list[str]:
    """Translate the names of a table's columns."""
    return [say(name) for name in names]


class HelpText(click.HelpFormatter):
    """The text of ``--help``, in lines as wide as the terminal also where each character takes the room of two."""

    def write_text(self, text: str) -> None:
        """Write a text in lines."""
        full_width, self.width = self.width, self.width // (1 + (measure_width(text) > len(text)))
        super().write_text(text)
        self.width = full_width


class CommandContext(click.Context):
    """What a command is called with."""

    formatter_class = HelpText
