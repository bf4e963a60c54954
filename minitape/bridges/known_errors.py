"""Find the line of an error that a framework raised, and explain errors that can be recognized by their messages."""

import re
import traceback
from typing import NamedTuple

from ..common.translation import format_error
from ..engine.record.user_frames import is_minitape_or_library_file
from ..engine.types import TextsByName
from ..explain.explanation import OptionalExplanation, explain_cause
from ..recording.sites import NOWHERE, Site

# Each line consists of a framework, a cause, the variant of its sentences, and a pattern for the message. The first
# line that matches is used.
KNOWN_ERRORS = r"""
jax leaked_tracer '' UnexpectedTracerError
jax branch '' TracerBoolConversionError
jax boolean_index '' NonConcreteBooleanIndexError
jax boolean_index size size argument
jax left_jax '' (TracerArrayConversion|Concretization|TracerIntegerConversion)Error
jax while_loop '' (?<=does not work for lax\.)while_loop
jax callback '' callback(?=s do not support)
jax not_scalar '' scalar-output.*shape: (?P<what>\([\d, ]*\))
jax refused in_place item assignment
jax refused forward forward-mode
jax refused list got <class 'list'>
jax refused donated previously donated|has been deleted|donate the same buffer
jax refused needs_params requires? the current value of (the )?param|must pass.*params
jax refused carry .*must have equal types.*
jax refused shapes (\w+ requires contracting|Incompatible shapes|\w+ got incompatible shapes).*
jax refused unhashable Non-hashable static.*
jax refused no_array not a valid JAX type|as an abstract array
jax refused trees (?i)(tree_map|tree structure|pytree|dict key mismatch|custom node|arity mismatch).*
tensorflow refused persistent non-persistent GradientTape
tensorflow refused other_variables Unknown variable:|cannot recognize variable
tensorflow refused in_place does not support item assignment
tensorflow refused no_value SymbolicTensor|out of scope|symbolic `?tf\.Tensor|numpy\(\) is only available
tensorflow refused new_variable only supports singleton|tried to create variables|on non-first call
tensorflow refused keras_tensor A KerasTensor
tensorflow refused target_shape (Arguments `target` and `output`|`?logits`? and `?labels`? must).*
tensorflow refused layer_input Input \d+ of layer.*
tensorflow refused labels label value of (?P<n>-?\d+) which is outside the valid range of \[0, (?P<all>\d+)\)
tensorflow refused dtypes (was expected to be a \w+ tensor|Tensor conversion requested dtype).*
tensorflow refused shapes (Incompatible shapes|Dimensions must be equal|Matrix size-incompatible|required broadcast).*
tensorflow refused branches '[\w.]+' (must|is None|may not|has|does not) .*(branch|branches|the loop|iteration)\b
torch refused count (?P<what>\w+)Backward returned an incorrect number .*expected (?P<all>\d+), got (?P<n>\d+)
torch refused shape (?P<what>\w+)Backward returned an invalid .* (?P<n>\d+) - got (?P<one>\[.*?\]).* (?P<two>\[.*?\])
torch refused one_example Expected more than 1 value per channel when training, got input size (?P<what>.*)
torch refused inference [Ii]nference tensor
torch refused no_parameters optimizer got an empty parameter list
torch refused computed can't optimize a non-leaf Tensor
torch refused dtype Found dtype (?P<one>\w+) but expected (?P<two>\w+)
torch refused not_probabilities elements of input should be between 0 and 1
torch refused integer Only Tensors of floating point and complex dtype can require gradients
torch refused numpy call numpy\(\) on Tensor that requires grad
torch refused view is a view and is being modified inplace
torch refused no_derivative derivative for '?(aten::)?(?P<what>\w+)'? is not implemented
torch refused half_weights Attempting to unscale FP16 gradients
torch refused unscaled_twice unscale_\(\) has already been called
torch refused nothing_scaled No inf checks were recorded
"""
# TensorFlow and JAX write the program's lines into the message of an error in a compiled function, because they are not
# in the traceback.
list_places_in_message = re.compile(r'(?:File "|created on line )([^"\n]+?)(?:", line |:)(\d+)(?:, in |:\d+ )').findall


class ErrorSite(NamedTuple):
    """The location at which an error was raised.

    Attributes:
        site: The user's innermost line, or NOWHERE if none of the user's lines was running.
        library_function: The library function called on this line, or "" if it does not call one.
    """

    site: Site = NOWHERE
    library_function: str = ""


def find_error_site(error: BaseException) -> ErrorSite:
    """Return the user's innermost line that led to an error, and the library function that this line called.

    Args:
        error: The error, with its traceback.
    """
    library_function = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not is_minitape_or_library_file(frame.filename):
            return ErrorSite((frame.filename, frame.lineno), library_function)
        library_function = frame.name.strip("_") if frame.name not in ("meth", "op") else library_function
    return ErrorSite()


def find_cause_variant_and_fields_by_message(framework: str, error: BaseException) -> tuple[str, str, TextsByName]:
    """Look up the message of an error in the table of known errors.

    Args:
        framework: The name of the framework.
        error: The error.

    Returns:
        The cause, the variant of the cause's sentences to use, and the values to insert into the sentences' fields. The
        field "what" is the part of the message to quote, unless the pattern has a group with that name. If the message
        is not known, all three items are empty.
    """
    message = format_error(error)
    for line in KNOWN_ERRORS.strip().splitlines():
        name, cause, variant, pattern = line.split(maxsplit=3)
        match = re.search(pattern, message) if name == framework else None
        if match:
            return cause, variant.strip("'"), {"what": match.group().partition(" [Op:")[0]} | match.groupdict()
    return "", "", {}


def explain_error_by_message(
    framework: str, error: BaseException, blamed_site: Site = NOWHERE, other: str = ""
) -> OptionalExplanation:
    """Explain the error that ended a program, based on its message.

    Args:
        framework: The name of the framework.
        error: The error.
        blamed_site: The line to blame, or NOWHERE to blame the line that led to the error.
        other: A second place that the sentences name, in parentheses, or "" if it is not known.

    Returns:
        The explanation, or None if the message is not known.
    """
    cause, variant, fields = find_cause_variant_and_fields_by_message(framework, error)
    if not cause:
        return None
    site, function = find_error_site(error)
    # JAX raises some errors where a gradient is computed, and adds the calls that led to the operation as their cause.
    traced_calls = error.__cause__
    if traced_calls and type(traced_calls).__name__ == "JaxStackTraceBeforeTransformation":
        site = find_error_site(traced_calls).site
    for file, line in list_places_in_message(str(error)):
        site = site if is_minitape_or_library_file(file) else (file, int(line))
    if cause == "left_jax":
        fields["what"] = f"{function}()"
    return explain_cause(
        framework, cause, site if blamed_site == NOWHERE else blamed_site, variant, fields | {"other": other}
    )
