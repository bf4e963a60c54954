"""Explain errors in a learner's function that say more than a wrong result would, such as an unknown name."""

from __future__ import annotations

import difflib
import linecache
import re
from types import TracebackType

from ..common.translation import join_sentences, say
from .answer_comparison import describe_kind
from .exercise import Answer, Program

MIN_WORD_LENGTH = 3
# The first pattern that is in the classes of an error, or in its message. A dot in it is a blank: what has blanks is a
# text to translate.
ERROR_HINTS = {
    r"non-persistent.GradientTape": (
        "A tape answers once, and this one has nothing left to say: you've asked it before, or its with block never "
        "ran. Do you want a new tape for each step, or all gradients in one call?"
    ),
    r"TypeError.*received.None": (
        "The target of a gradient was None. Did a gradient before it find no path, or does a function give nothing "
        "back?"
    ),
    r"'_tape'|while.it.is.not|(?i:is.not.recording)": (
        "A tape was used while it was off: watch and stop_recording belong in its block. Is it the tape of this block?"
    ),
    r"no.attribute.'_id'": (
        "A tape got something that it cannot have recorded, such as a plain number. Give it tensors and variables: of "
        "what, and with respect to what?"
    ),
    r"Passed.in.object.*of.type.'(int|float|complex)\d*'": (
        "Only tensors and variables can be watched, and this is a plain number. With which tensor is it computed?"
    ),
    r"Passed.in.object": (
        "Only tensors and variables can be watched, and this is none. Which of them does the function use?"
    ),
    r"custom_gradient.function.expected.to.return": (
        "A rule gives back one amount for each input of its function. How many does yours?"
    ),
    r"cannot.be.interpreted.as.an.integer|attribute.'__index__'$": (
        "Steps and places are counted with whole numbers. Which value is none here?"
    ),
    r"AttributeError.*attribute.'assign": (
        "Only a variable can be assigned to, and this is none. Is it the name of the variable, or of another value?"
    ),
    r"(AttributeError|TypeError).*NoneType": (
        "Something here is None, and you can't calculate with None. Did a gradient find no path, or is a function "
        "missing its return?"
    ),
    r"AttributeError.*minitape.has.no": "Of TensorFlow's names minitape has those of its lessons. Which of them helps?",
    r"AttributeError": "",  # see find_error_hint
    r"'[\w.]*(function|method|Program|Polynomial|TracedNumber|Distance)(_or_method)?'": (
        "A function is used as if it were a number. Should it be called, or is something else meant there?"
    ),
    r"RuntimeError.*tf.gradients.is.not.supported": (
        "tf.gradients needs a graph, and there isn't one here. Ask your tape: tape.gradient(y, x)."
    ),
    r"RuntimeError.*is.not.supported": (
        "Python's += and -= don't work on a variable. Should the variable itself change? Then it's assign_add or "
        "assign_sub. If you only want a new number, compute v + ... and give it a new name."
    ),
    r"type_value": "A type of numbers is asked for here, such as tf.float32, and this is none.",
    r"Cannot.convert.*.to.EagerTensor.of.dtype.int": (
        "The variable or tensor holds whole numbers, and this is none. Begin with a decimal number, such as 0.0."
    ),
    r"TypeError.*'type'.object.*context.manager": (
        "A tape must be made first: brackets are missing, as in tf.GradientTape()."
    ),
    r"TypeError.*not.callable": (
        "There are brackets after a value that is no function. Is a * missing, or is one name used for two things?"
    ),
    r"TypeError.*(multiply.sequence|concatenate.(list|tuple|str)|(unary|operand|type\(s\).for).*'(list|tuple)')": (
        "One computes with numbers, not with a whole list, tuple or text of Python. Where does it come from?"
    ),
    r"TypeError.*for.\^": "In Python ^ is not a power. Write **, as in x ** 2.",
    r"TypeError.*(not.subscriptable|not.iterable|an.iterable|iterate.over)": (
        "A single value is used as if it were a list. Where does it come from?"
    ),
    r"ValueError.*to.unpack": "A line that takes a list or tuple apart got another number of parts. What does it get?",
    r"slice.scalar": "A single number has no parts, and no order. Leave the square brackets out.",
    r"truth.value.of.an.array|only.0-dimensional": (
        "Of many numbers Python's if, its -1 < x < 1 and float make no single one. Compute with the tensor as it is, "
        "and let tf.where choose for each number."
    ),
    r"is.a.bool.tensor": "True and False are no numbers here. Make numbers of them first: tf.cast(x > 0, x.dtype).",
    r"item.assignment|only.integer.scalar": "A tensor cannot be changed in place. Compute a new one, as tf.where does.",
    r"RecursionError": "Calls within calls do not end here. Does a function call itself, and when should it stop?",
    r"IndexError": "A list or table has no such place. Counting starts with 0.",
    r"KeyError": "A dictionary has no entry of that name. Is it called the same in both places?",
    r"ZeroDivisionError": "Your program divides by 0. Which number is that, and when is it 0?",
}


def find_typo_hint(error: BaseException, function: Program) -> str:
    """Find what to say about a misspelled name or argument in the learner's own code, or "" for any other error.

    >>> def half(x):
    ...     return x / too
    >>> try:
    ...     half(2.0)
    ... except NameError as error:
    ...     print(find_typo_hint(error, half))
    Python does not know the name 'too'. Is it misspelled, or is it made in a cell that has not run?
    """
    message = str(error)
    if "where it is not associated with a value" in message and (
        name := _find_first_group(r"variable '(\w+)'", message)
    ):
        return say("The name {name} is used before it gets a value.", name=repr(name))
    if isinstance(error, NameError) and (
        name := getattr(error, "name", None) or _find_first_group(r"name '(\w+)'", message)
    ):
        if name in _list_public_names(import_minitape()):
            return say(
                "Python does not know the name {name}: it belongs to tf, as {full}.", name=repr(name), full=f"tf.{name}"
            )
        if name in getattr(getattr(function, "__code__", None), "co_varnames", ()):
            template = (
                "{name} is a name within your function, and this line looks for it outside. Hand it in as an argument."
            )
            return say(template, name=repr(name))
        suggestion = _find_nearest_name(
            name, ["True", "False", "None", *_collect_known_names(error.__traceback__, function)]
        )
        problem = say("Python does not know the name {name}.", name=repr(name))
        if suggestion:
            return join_sentences(problem, say("Did you mean {near}?", near=repr(suggestion)))
        return join_sentences(problem, say("Is it misspelled, or is it made in a cell that has not run?"))
    if isinstance(error, AttributeError) and getattr(error, "obj", None) is not None and isinstance(error.name, str):
        return (
            "" if error.name.startswith("assign") else _find_missing_attribute_hint(error.name, error.obj)
        )  # find_error_hint knows it
    if isinstance(error, TypeError) and (name := _find_first_group(r"unexpected keyword argument '(\w+)'", message)):
        return say("There is no argument {name} here.", name=repr(name))
    return ""


def _find_missing_attribute_hint(attribute_name: str, owner: object) -> str:
    """Find what to say of a name after a dot that is not there, where it is near one that is, or belongs elsewhere."""
    if attribute_name in _list_public_names(import_minitape().GradientTape):  # tf.stop_gradient is something else
        tape_hint = say(
            "{name} is a method of a tape: {example}.", name=attribute_name, example=f"tape.{attribute_name}(...)"
        )
        return tape_hint if owner is import_minitape() or hasattr(owner, "dtype") else ""
    problem = say("There is no {name} here.", name=repr("." + attribute_name))
    tf_names, own_names = _list_public_names(import_minitape()), _list_public_names(owner)
    math_name = f"math.{attribute_name}" if attribute_name in _list_public_names(import_minitape().math) else ""
    suggestion = "" if owner is import_minitape() and math_name else _find_longer_name(attribute_name, own_names)
    if not suggestion:
        suggestion = _find_nearest_name(attribute_name, own_names)
        full_name = (
            attribute_name
            if attribute_name in tf_names
            else math_name or ("" if suggestion else _find_longer_name(attribute_name, tf_names))
        )
        if full_name and (owner is not import_minitape() or math_name) and not isinstance(owner, (list, tuple)):
            return join_sentences(problem, say("It belongs to tf: {example}.", example=f"tf.{full_name}(...)"))
    return join_sentences(problem, say("Did you mean {near}?", near=repr(suggestion))) if suggestion else ""


def _find_longer_name(name_part: str, names: list[str]) -> str:
    """Find the name of two words that ends in this one, else the shortest that begins with it; "" where there is none.

    >>> _find_longer_name("max", ["maximum", "reduce_max", "reduce_and_max"])
    'reduce_max'
    >>> _find_longer_name("mul", ["multiply", "mul_no_nan"])
    'multiply'
    """
    candidates = [
        candidate for candidate in names if re.fullmatch(rf"[^_]+_{name_part}|{name_part}[A-Za-z]\w*", candidate)
    ]
    if len(name_part) < MIN_WORD_LENGTH:
        return ""
    return min(candidates, key=lambda candidate: (candidate.startswith(name_part), len(candidate)), default="")


def find_error_hint(error: BaseException) -> str:
    """Find what to say about an error that is common in first programs with a tape, or "" for any other error.

    >>> find_error_hint(TypeError("unsupported operand type(s) for *: 'float' and 'NoneType'"))
    "Something here is None, and you can't calculate with None. Did a gradient find no path, or is a function missing
    its return?"
    """
    if say("this function takes tensors: values that a tape can follow") in str(error):
        return say(
            "The function got something that no tape can follow, such as a plain number. Hand it a tensor or a "
            "variable."
        )
    error_text = f"{' '.join(error_class.__name__ for error_class in type(error).__mro__)}: {error}"
    pattern = next((pattern for pattern in ERROR_HINTS if re.search(pattern, error_text, re.DOTALL)), "")
    if pattern == "AttributeError" and isinstance(error, AttributeError) and error.name:
        template = (
            "What is before the dot is {kind}, and has no {name}. Is another value meant, or is that still to be "
            "written?"
        )
        return say(template, kind=describe_kind(getattr(error, "obj", None)), name=repr("." + error.name))
    if pattern:
        return say(ERROR_HINTS[pattern])
    return _find_argument_count_hint(error) if isinstance(error, TypeError) else ""


def _find_argument_count_hint(error: TypeError) -> str:
    """Find what to say of a call with fewer or with more values than it takes: by the program, or by check."""
    message, is_raised_by_program = (
        str(error),
        error.__traceback__ is not None and error.__traceback__.tb_next is not None,
    )
    if re.search(r"\(\) missing|missing a required argument", message):
        missing_arguments = ", ".join(re.findall(r"'(\w+)'", message.partition("Received")[0]))
        if is_raised_by_program:
            return say("One of your calls is missing its {lacks}.", lacks=missing_arguments)
        return say("Your function is called with fewer values than it takes. Leave its first line as it was.")
    if re.search(r"takes .*positional arguments? but|too many positional", message):
        if is_raised_by_program:
            return say("A function is called with more than it takes.")
        return say("Your function is called with more values than it takes. Leave its first line as it was.")
    return ""


def _find_first_group(pattern: str, message: str) -> str:
    """Return what the first group of a pattern matches in a message, or "" if the pattern does not match."""
    match = re.search(pattern, message)
    return match[1] if match else ""


def _list_public_names(owner: object) -> list[str]:
    return [name for name in dir(owner) if not name.startswith("_")]


def import_minitape() -> Answer:
    """Import minitape, as lessons do; here, because it imports the course's neighbours."""
    import minitape

    return minitape


def _find_nearest_name(name: str, names: list[str]) -> str:
    return next(
        iter(difflib.get_close_matches(name, [candidate for candidate in names if candidate != name], 1, 0.7)), ""
    )


def _collect_known_names(traceback: TracebackType | None, function: Program) -> list[str]:
    """Collect the names known where the error was raised: those of the function, and those of its notebook."""
    names = [*getattr(function, "__globals__", {})]
    while traceback is not None:
        names += traceback.tb_frame.f_locals
        traceback = traceback.tb_next
    return names


def find_error_line(error: BaseException, function: Program) -> str:
    """Find the line of the learner's function that raised the error, or "" if the line is not available."""
    filename, line, traceback = (
        getattr(getattr(function, "__code__", None), "co_filename", None),
        "",
        error.__traceback__,
    )
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == filename:
            line = linecache.getline(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno).strip()
        traceback = traceback.tb_next
    return line
