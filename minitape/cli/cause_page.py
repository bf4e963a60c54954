"""Implement `minitape explain --cause`, which finds a cause by its name or by an error message and prints its page."""

import re
from difflib import get_close_matches
from pathlib import Path

import click
from click import echo

from minitape.common.read_data import read_json
from minitape.common.translation import PACKAGE, detect_language
from minitape.explain.causes import CAUSES

from ..engine.types import NameList, OptionalText
from .messages import create_usage_error, say

# The pages are in the first folder in an installed package, and in the second folder in the repository.
PAGE_FOLDERS = (PACKAGE / "cause_pages", PACKAGE.parent / "docs" / "causes")
NAMES = CAUSES.keys() - {"connected"}  # A gradient that is connected needs no page.
FEWEST_WORDS = 3  # A text with fewer words is not searched for in error messages.


def show_cause_page(context: click.Context, text: OptionalText) -> None:
    """Print the page about a cause and exit if the option was given.

    Args:
        context: The context of the command.
        text: The value of the option, or None if it was not given.

    Raises:
        click.UsageError: If the text is neither the name of a cause nor a known error message.
    """
    if text is None or context.resilient_parsing:
        return
    causes = find_causes_by_name_or_message(text)
    if not causes:
        raise create_usage_error(describe_unknown_cause(text))
    if len(causes) == 1:
        echo(read_cause_page(causes[0]))
    else:
        message = (
            "There are several causes. To find the cause in your program, use minitape explain PROGRAM. "
            "To read about one of these causes, use --cause NAME:"
        )
        echo(say(message) + "\n")
        width = max(map(len, causes))
        echo("\n".join(f"  {cause:{width}}  {read_cause_page_title(cause)}" for cause in causes))
    context.exit()


def find_causes_by_name_or_message(text: str) -> NameList:
    """Return the cause with a given name, the causes that belong to an error message, or all causes.

    Args:
        text: The name of a cause, an error message, or "all". Part of the message is enough.

    Returns:
        The names of the causes. The list may be empty.
    """
    name = text.strip().strip("`").lower()
    if name in NAMES:
        return [name]
    if name == "all":
        return sorted(NAMES)
    causes_by_error = read_json(find_cause_page_file("errors.json"))
    searched = normalize_message_words(re.sub(r"^\s*[\w.]+(?:Error|Exception|Warning): ", "", text))
    found: NameList = []
    for error, causes in causes_by_error.items():
        known = normalize_message_words(error)
        is_part = len(searched.split()) >= FEWEST_WORDS and searched in known
        if known in searched or is_part:
            found += causes
    return [*dict.fromkeys(found)]


def normalize_message_words(text: str) -> str:
    """Return the words of a message in lower case, without punctuation.

    Args:
        text: The message.

    >>> normalize_message_words("RuntimeError: element 0 of tensors, which ...")
    'runtimeerror element 0 of tensors which'
    """
    return " ".join(re.findall(r"\w+", text.lower()))


def describe_unknown_cause(text: str) -> str:
    """Return a message that suggests the names most similar to a text that was not found.

    Args:
        text: The text that was not found.

    Returns:
        The message, which also says how to list all causes.
    """
    close_names = get_close_matches(text.lower(), NAMES)
    if close_names:
        message = "{name} is not the name of a cause. Did you mean {close}? To list all causes, use --cause all."
        return say(message, name=text, close=", ".join(close_names))
    message = (
        "{name} is neither the name of a cause nor a known error message. To find the cause in your program, use "
        "minitape explain PROGRAM. To list all causes, use --cause all."
    )
    return say(message, name=text)


def find_cause_page_file(*names: str) -> Path:
    """Return the path of a file about causes.

    Args:
        *names: The names that the file may have. The first name that exists is used.

    Returns:
        The path, in the installed package or in the repository.

    Raises:
        click.ClickException: If the file is missing.
    """
    for path in (folder / name for name in names for folder in PAGE_FOLDERS):
        if path.is_file():
            return path
    raise click.ClickException(say("the pages about causes are missing. Reinstall minitape."))


def read_cause_page(cause: str) -> str:
    """Return the page about a cause in the user's language.

    Args:
        cause: The name of the cause.

    Returns:
        The text in Markdown, without the links and comments that the web site needs.
    """
    text = find_cause_page_file(f"{cause}.{detect_language()}.md", f"{cause}.md").read_text(encoding="utf-8")
    return re.sub(r"^(?:<!--|!?\[).*\n\n?", "", text, flags=re.MULTILINE).rstrip()


def read_cause_page_title(cause: str) -> str:
    """Return the title of the page about a cause.

    Args:
        cause: The name of the cause.

    Returns:
        The title without the name of the cause.
    """
    return re.sub(r"^# \w+[:：] *", "", read_cause_page(cause).partition("\n")[0])
