"""Explain errors in a learner's function that say more than a wrong result would, such as an unknown name."""

import linecache
import re
from difflib import get_close_matches
from traceback import walk_tb
from types import TracebackType

from ..common.translation import join_sentences, say
from ..engine.types import LIST_OR_TUPLE, NameList
from .answer_comparison import describe_kind
from .exercise import Program

MIN_WORD_LENGTH = 3
# An error gets the hint of the first pattern that matches its classes or its message. The patterns have dots instead of
# blanks, because a text with blanks would have to be translated.
ERROR_HINTS = {
    r"non-persistent.GradientTape": (
        "A tape gives only one answer, and this tape has none left: you have already asked it, or its with block "
        "never ran. Make a new tape, or ask for all inputs in one call. To ask about several results, open the tape "
        "with persistent=True."
    ),
    r"TypeError.*received.None": (
        "The target of a gradient was None. Did an earlier gradient find no path, or does a function return nothing?"
    ),
    r"'_tape'|while.it.is.not|(?i:is.not.recording)": (
        "A tape was used while it was not recording: watch and stop_recording belong in its with block. Is this the "
        "tape that the block opened?"
    ),
    r"no.attribute.'_id'": (
        "A tape was asked about something that it cannot have recorded, such as a plain number. Pass tensors or "
        "variables: the result first, then the inputs that it depends on."
    ),
    r"Passed.in.object.*of.type.'(int|float|complex)\d*'": (
        "Only tensors and variables can be watched, but this is a plain number. Watch the tensor that the computation "
        "uses, or make one of the number with tf.constant."
    ),
    r"Passed.in.object": (
        "Only tensors and variables can be watched, but this is neither. Which tensor or variable does the function "
        "use?"
    ),
    r"custom_gradient.function.expected.to.return": (
        "A gradient rule returns one value for each input of its function. How many values does your rule return?"
    ),
    r"cannot.be.interpreted.as.an.integer|attribute.'__index__'$": (
        "Steps and positions are counted in whole numbers. Which value here is not a whole number?"
    ),
    r"AttributeError.*attribute.'assign(_add|_sub)?'": (
        "Only a variable can be assigned to, but this is not a variable. Does the name stand for the variable or for "
        "a different value?"
    ),
    r"(AttributeError|TypeError).*NoneType": (
        "Something here is None, and you can't calculate with None. Did a gradient find no path, or is a function "
        "missing its return?"
    ),
    r"AttributeError.*minitape.has.no": (
        "minitape has only the TensorFlow names that its lessons use. Which of these names could help here?"
    ),
    r"AttributeError": "",  # The function find_error_hint describes these errors.
    r"'[\w.]*(function|method|Program|Polynomial|TracedNumber|Distance)(_or_method)?'": (
        "A function is used as if it were a number or a list. Did you forget to call it, or did you mean something "
        "else?"
    ),
    r"RuntimeError.*tf.gradients.is.not.supported": (
        "tf.gradients works only in a graph. Ask your tape instead: tape.gradient(y, x)."
    ),
    r"RuntimeError.*is.not.supported": (
        "Python's += and -= don't work on a variable. Should the variable itself change? Then use assign_add or "
        "assign_sub. If you only want a new number, compute v + ... and give the result a new name."
    ),
    r"type_value": "This must be a data type such as tf.float32, but it is something else.",
    r"Cannot.convert.*.to.EagerTensor.of.dtype.int": (
        "The variable or tensor holds whole numbers, but this number is not whole. Start with a decimal number, such "
        "as 0.0."
    ),
    r"TypeError.*'type'.object.*context.manager": (
        "You need to create a tape first. Add the missing parentheses: tf.GradientTape()."
    ),
    r"TypeError.*not.callable": (
        "There are parentheses after a value that is not a function. Is a * missing, or does one name stand for two "
        "things?"
    ),
    r"TypeError.*(multiply.sequence|concatenate.(list|tuple|str)|(unary|operand|type\(s\).for).*'(list|tuple)')": (
        "You can compute with numbers, but not with a whole Python list, tuple or string. Where does this value come "
        "from?"
    ),
    r"TypeError.*for.\^": "In Python, ^ does not mean a power. Write **, as in x ** 2.",
    r"TypeError.*(not.subscriptable|not.iterable|an.iterable|iterate.over)": (
        "Something is used as if it were a list, but it is none. Where does this value come from?"
    ),
    r"ValueError.*to.unpack": (
        "A line unpacks something into the wrong number of names. How many values does it contain?"
    ),
    r"loop.has.\d+.variables": (
        "The body of a while_loop returns one value for each variable of the loop, in the same order. How many does "
        "yours return?"
    ),
    r"only.inside.a.traced.function": (
        "The function was called outside of a traced function. Keep @tf.function above the function that calls it."
    ),
    r"OverflowError": (
        "A number got too large for Python's math. The functions of tf return inf for such a number instead."
    ),
    r"could.not.be.broadcast|core.dimension": (
        "The shapes of two arrays don't fit together, as the message says. Where do the two differ, and is this the "
        "operation that you need?"
    ),
    r"indices.must.be.integers": (
        "The value in the square brackets is not an integer. A loop over the items gives the items themselves, and "
        "range(len(items)) gives their positions."
    ),
    r"takes.tensors.with.at.least.two.axes": (
        "@ multiplies matrices, but these are single lists. Multiply them with *, and add up the products."
    ),
    r"was.expected.to.be.a.\w+.tensor": (
        "Two tensors of different dtypes meet here. Convert one of them, as in tf.cast(a, b.dtype)."
    ),
    r"slice.scalar": "A single number has no parts and no order. Remove the square brackets.",
    r"truth.value.of.an.array|only.0-dimensional": (
        "Python's if, -1 < x < 1 and float need a single number, but here there are many. Compute with all of them "
        "at once, and let tf.where choose for each number."
    ),
    r"is.a.bool.tensor": "True and False are not numbers here. Convert them to numbers first: tf.cast(x > 0, x.dtype).",
    r"'tuple'.object.does.not.support": "A tuple cannot be changed. Make a list of it first: list(...).",
    r"item.assignment": (
        "A tensor cannot be changed in place. To change some of its numbers, compute a new tensor, as tf.where does."
    ),
    r"only.integer.scalar": (
        "A position or a length should be a single whole number. And a tensor cannot be changed in place: to change "
        "some of its numbers, compute a new tensor, as tf.where does."
    ),
    r"RecursionError": "The calls are nested too deeply here. Does a function call itself, and when should it stop?",
    r"IndexError": "There is nothing at this position of a list or an axis. Positions are counted from 0.",
    r"KeyError": (
        "A dictionary has no entry for this key. A key has to be the same where it is stored and where it is looked up."
    ),
    r"ZeroDivisionError": "Something is divided by 0 here. What is the divisor, and when is it 0?",
}


def find_name_error_hint(error: BaseException, function: Program) -> str:
    """Find what to say about a misspelled name or argument in the learner's own code, or "" for any other error.

    >>> def half(x):
    ...     return x / too
    >>> try:
    ...     half(2.0)
    ... except NameError as error:
    ...     print(find_name_error_hint(error, half))
    Python does not know the name 'too'. Is it misspelled, or is it defined in a cell that has not been run?
    """
    import minitape as tf  # At the top of the module, this import would be circular.

    message = str(error)
    if "where it is not associated with a value" in message and (
        name := _find_first_group(r"variable '(\w+)'", message)
    ):
        return say("The name {name} is used before it has a value.", name=repr(name))
    if isinstance(error, NameError) and (name := error.name or _find_first_group(r"name '(\w+)'", message)):
        if name in _list_public_names(tf):
            return say(
                "Python does not know the name {name}. The name belongs to tf, so write {full}.",
                name=repr(name),
                full=f"tf.{name}",
            )
        if name in getattr(getattr(function, "__code__", None), "co_varnames", ()):
            template = (
                "{name} is a name inside your function, but this line looks for the name outside. Pass the value as "
                "an argument."
            )
            return say(template, name=repr(name))
        suggestion = _find_nearest_name(
            name, ["True", "False", "None", *_collect_known_names(error.__traceback__, function)]
        )
        problem = say("Python does not know the name {name}.", name=repr(name))
        if suggestion:
            return join_sentences(problem, say("Did you mean {near}?", near=repr(suggestion)))
        return join_sentences(problem, say("Is it misspelled, or is it defined in a cell that has not been run?"))
    if isinstance(error, AttributeError) and error.obj is not None and isinstance(error.name, str):
        # For a missing assign method, find_error_hint has its own sentence.
        return "" if error.name.startswith("assign") else _find_missing_attribute_hint(error.name, error.obj)
    if isinstance(error, TypeError) and (name := _find_first_group(r"unexpected keyword argument '(\w+)'", message)):
        return say("The function has no argument named {name}.", name=repr(name))
    return ""


def _find_missing_attribute_hint(attribute_name: str, owner: object) -> str:
    """Return a hint for a missing attribute that resembles an existing one or belongs to another object."""
    import minitape as tf  # At the top of the module, this import would be circular.

    if attribute_name in _list_public_names(tf.GradientTape):  # Names of `tf` are looked up below.
        tape_hint = say(
            "{name} is a tape method. Write {example}.", name=attribute_name, example=f"tape.{attribute_name}(...)"
        )
        return tape_hint if owner is tf or hasattr(owner, "dtype") else ""
    problem = say("There is no {name} here.", name=repr("." + attribute_name))
    tf_names = _list_public_names(tf)
    own_names = _list_public_names(owner)
    math_name = f"math.{attribute_name}" if attribute_name in _list_public_names(tf.math) else ""
    suggestion = "" if owner is tf and math_name else _find_longer_name(attribute_name, own_names)
    if not suggestion:
        suggestion = _find_nearest_name(attribute_name, own_names)
        full_name = (
            attribute_name
            if attribute_name in tf_names
            else math_name or ("" if suggestion else _find_longer_name(attribute_name, tf_names))
        )
        if full_name and (owner is not tf or math_name) and not isinstance(owner, LIST_OR_TUPLE):
            return join_sentences(problem, say("This name belongs to tf: {example}.", example=f"tf.{full_name}(...)"))
    return join_sentences(problem, say("Did you mean {near}?", near=repr(suggestion))) if suggestion else ""


def _find_longer_name(name_part: str, names: NameList) -> str:
    """Find a longer name that the learner may have meant, or return "" if none exists.

    A name of two words that ends in `name_part` comes first, then the shortest name that begins with it.

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
    if say("this function accepts only values that a tape can follow: tensors and variables") in str(error):
        return say(
            "The function got something that no tape can follow, such as a plain number. Pass a tensor or a variable."
        )
    error_text = f"{' '.join(error_class.__name__ for error_class in type(error).__mro__)}: {error}"
    pattern = next((pattern for pattern in ERROR_HINTS if re.search(pattern, error_text, re.DOTALL)), "")
    if pattern == "AttributeError" and isinstance(error, AttributeError) and error.name:
        template = (
            "The value before the dot is {kind} and has no {name}. Did you mean a different value, or is this part "
            "not written yet?"
        )
        return say(template, kind=describe_kind(error.obj), name=repr("." + error.name))
    if pattern:
        return say(ERROR_HINTS[pattern])
    return _find_argument_count_hint(error) if isinstance(error, TypeError) else ""


def _find_argument_count_hint(error: TypeError) -> str:
    """Find what to say about a call with too few or too many arguments, made by the program or by `check`."""
    message = str(error)
    is_missing = re.search(r"\(\) missing|missing a required argument", message)
    if not (is_missing or re.search(r"takes .*positional arguments? but|too many positional", message)):
        return ""
    if error.__traceback__ is None or error.__traceback__.tb_next is None:
        return say(
            "Your function takes another number of arguments than it's called with. Change its first line back to the "
            "original."
        )
    if is_missing:
        missing_arguments = ", ".join(re.findall(r"'(\w+)'", message.partition("Received")[0]))
        return say("A call is missing the argument {lacks}.", lacks=missing_arguments)
    return say("A function is called with more arguments than it takes.")


def _find_first_group(pattern: str, message: str) -> str:
    """Return the text that a pattern's first group matches in a message, or "" if the pattern does not match."""
    match = re.search(pattern, message)
    return match[1] if match else ""


def _list_public_names(owner: object) -> NameList:
    return [name for name in dir(owner) if not name.startswith("_")]


def _find_nearest_name(name: str, names: NameList) -> str:
    return next(iter(get_close_matches(name, [candidate for candidate in names if candidate != name], 1, 0.7)), "")


def _collect_known_names(traceback: TracebackType | None, function: Program) -> NameList:
    """Collect the names known where the error was raised, in the function and in its notebook."""
    names = [*getattr(function, "__globals__", {})]
    for frame, _ in walk_tb(traceback):
        names += frame.f_locals
    return names


def find_error_line(error: BaseException, function: Program) -> str:
    """Find the line of the learner's function that raised the error, or "" if the line is not available."""
    filename = getattr(getattr(function, "__code__", None), "co_filename", None)
    line = ""
    for frame, line_number in walk_tb(error.__traceback__):
        if frame.f_code.co_filename == filename:
            line = linecache.getline(filename, line_number).strip()
    return line
