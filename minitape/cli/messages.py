"""Translate the messages of the `minitape` command into the user's language."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click import ClickException, core, decorators, exceptions, parser, types

from ..common import translation
from ..engine.types import NameList, OptionalText
from ..picture.truncation import measure_width

UNBREAKABLE_PIECE = re.compile(r"[（“《]*(?:[!-~]+|.)[，。；：、！？”）》]* ?", re.DOTALL)
"""A word of Latin letters or a single wide character, with the punctuation marks that belong to it."""


def say(text: str, language_code: OptionalText = None, /, **values: object) -> str:
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


def create_failed_action_error(text: str, /, **values: object) -> ClickException:
    """Create the error for a failed action.

    Args:
        text: The English message, with the names of values in braces.
        values: The values for the names in braces.

    Returns:
        The error with the translated message.
    """
    return ClickException(say(text, **values))


def create_usage_error(text: str, /, **values: object) -> click.UsageError:
    """Create the error for an invalid argument or option.

    Args:
        text: The English message, with the names of values in braces.
        values: The values for the names in braces.

    Returns:
        The error with the translated message.
    """
    return click.UsageError(say(text, **values))


# These texts of click are shown to users.
CLICK_TEXTS = (
    "Aborted!",
    "Did you mean {possibility}?",
    "(Did you mean one of: {possibilities}?)",
    "Error: {message}",
    "Got unexpected extra argument ({args})",
    "Got unexpected extra arguments ({args})",
    "Invalid value for {param_hint}: {message}",
    "Missing argument",
    "Missing option",
    "No such command {name!r}.",
    "No such option {name!r}.",
    "Option {name!r} requires an argument.",
    "Show the version and exit.",
    "Show this message and exit.",
    "Try '{command} {option}' for help.",
    "default: {default}",
    "required",
    "{name} {filename!r} does not exist.",
    "{value!r} is not a valid {number_type}.",
    "{value!r} is not one of {choices}.",
    "{value} is not in the range {range}.",
)


def translate_click_text(text: str, plural: str = "", count: int = 1) -> str:
    """Translate one of click's own texts. This function replaces gettext, which has no Chinese text for click.

    Args:
        text: The English text.
        plural: The text to use if `count` is not 1.
        count: The number that the text is about.
    """
    chosen = text if count == 1 else plural
    return say(chosen) if chosen in CLICK_TEXTS else chosen


for _module in (core, decorators, exceptions, parser, types):
    vars(_module).update(_=translate_click_text, ngettext=translate_click_text)


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
        raise create_failed_action_error(
            "cannot write {path}: {error}", path=path, error=error.strerror or error
        ) from error


def translate_column_names(*names: str) -> NameList:
    """Translate the column names of a table.

    Args:
        names: The English names.

    Returns:
        The translated names.
    """
    return [say(name) for name in names]


class HelpText(click.HelpFormatter):
    """A formatter that writes the text of ``--help`` in the user's language, in lines that fit the terminal."""

    def write_usage(self, prog: str, args: str = "", prefix: OptionalText = None) -> None:
        """Write the line that shows how to call a command.

        Args:
            prog: The name of the command.
            args: Its arguments.
            prefix: The text before the name, or None for "Usage: ".
        """
        super().write_usage(prog, args, say("Usage: ") if prefix is None else prefix)

    def write_heading(self, heading: str) -> None:
        """Write the heading above a list.

        Args:
            heading: "Options" or "Commands".
        """
        title = say("Options:") if heading == "Options" else say("Commands:")
        self.write(f"{'':{self.current_indent}}{title}\n")

    def write_text(self, text: str) -> None:
        """Write text as wrapped lines. A line may end between two wide characters, but not before a punctuation mark.

        Args:
            text: The paragraphs, separated by empty lines.
        """
        if measure_width(text) == len(text):
            super().write_text(text)
            return
        indent = " " * self.current_indent
        paragraphs = []
        for paragraph in text.split("\n\n"):
            lines = [indent]
            for piece in UNBREAKABLE_PIECE.findall(paragraph):
                if measure_width(lines[-1] + piece.rstrip()) > self.width:
                    lines.append(indent)
                lines[-1] += piece
            paragraphs.append("".join(f"{line.rstrip()}\n" for line in lines))
        self.write("\n".join(paragraphs))


class CommandContext(click.Context):
    """A command context that formats help with `HelpText`."""

    formatter_class = HelpText
