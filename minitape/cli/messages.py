"""Translate the messages of the `minitape` command into the user's language."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from ..common import translation
from ..picture.truncation import measure_width


def say(text: str, language_code: str | None = None, /, **values: object) -> str:
    """Translate one of the command's messages.

    >>> say("saved {path}", path="a.ipynb")
    'saved a.ipynb'

    Args:
        text: The English text, with the names of values in braces.
        language_code: The language, or None for the user's own language.
        values: The values for the names in braces.

    Returns:
        The translated text, or the English text if the terminal cannot show the language.
    """
    return translation.say(text, translation.CLI, language_code, **values)


def create_failure(text: str, /, **values: object) -> click.ClickException:
    """Create the error for a failed action.

    Args:
        text: The English message, with the names of values in braces.
        values: The values for the names in braces.

    Returns:
        The error with the translated message.
    """
    return click.ClickException(say(text, **values))


def create_usage_error(text: str, /, **values: object) -> click.UsageError:
    """Create the error for an invalid argument or option.

    Args:
        text: The English message, with the names of values in braces.
        values: The values for the names in braces.

    Returns:
        The error with the translated message.
    """
    return click.UsageError(say(text, **values))


@contextmanager
def convert_write_errors(path: Path) -> Iterator[None]:
    """Convert an OSError from the block into a click error.

    Args:
        path: The file or folder that the block writes. The message names it.

    Raises:
        click.ClickException: If the block raises an OSError.
    """
    try:
        yield
    except OSError as error:
        raise create_failure("cannot write {path}: {error}", path=path, error=error.strerror or error) from error


def translate_column_names(*names: str) -> list[str]:
    """Translate the column names of a table.

    Args:
        names: The English names.

    Returns:
        The translated names.
    """
    return [say(name) for name in names]


class HelpText(click.HelpFormatter):
    """Format the text of ``--help`` in lines that fit the terminal, even with characters that are two columns wide."""

    def write_text(self, text: str) -> None:
        """Write text as wrapped lines. With wide characters, lines are half as long.

        Args:
            text: One paragraph of text.
        """
        full_width = self.width
        if measure_width(text) > len(text):
            self.width //= 2
        super().write_text(text)
        self.width = full_width


class CommandContext(click.Context):
    """A command context that formats help with `HelpText`."""

    formatter_class = HelpText
