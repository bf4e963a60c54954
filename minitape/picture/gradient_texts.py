"""Write the results of gradient calls below a figure: `∂loss/∂w = 0.25`."""

from collections.abc import Iterator, Sequence

from ..engine.types import OptionalFloat, TextList
from .expressions import MAX_NAME_LETTERS, Expressions, format_row_title
from .picture_texts import translate
from .snapshot_types import ResultFields, SourceFields, TargetFields
from .svg_elements import NUMBER_STYLE, SERIF_FONT, draw_text
from .truncation import measure_width, shorten_name
from .value_display import format_magnitude, format_magnitude_and_shape

MARGIN = 8
# The maximum length of a gradient's text, in a figure of any width and in one of a given width.
MAX_NUMBER_LETTERS, MAX_NARROW_NUMBER_LETTERS = 40, 22
PLAIN_CALLS = ("gradient", "backward", "grad")  # The frameworks' usual calls need no name in a result line.
MAX_SOURCES = 12  # Further sources of a gradient call are counted but not listed.
LINE_HEIGHT, ITALIC_WIDTH, LETTER_WIDTH = 16, 6.6, 6.7  # Sizes of result lines, in pixels.
FORMULA_STYLE = f'font-size="12" font-style="italic" text-anchor="end" font-family="{SERIF_FONT}"'

GradientLine = tuple[str, str]  # The derivative, such as "∂y/∂x", and its value, such as "= 6.0".


def iter_gradient_result_lines(
    results: Sequence[ResultFields], expressions: Expressions, max_width: OptionalFloat = None
) -> Iterator[GradientLine]:
    """Yield a line for each source of the gradient calls. The names have the room that the numbers leave.

    Args:
        results: The results to write. A gradient whose sweep cannot be repeated has words instead of a number.
        expressions: The texts of the rows, for targets and sources without names.
        max_width: The width in pixels in which the lines must fit; None for any width.

    Yields:
        (derivative, value) pairs, in which the value is "" for a remark.
    """
    name_letters = MAX_NAME_LETTERS
    number_letters = MAX_NUMBER_LETTERS
    if max_width is not None:
        number_letters = MAX_NARROW_NUMBER_LETTERS
        numbers = [
            _describe_gradient(source, result, expressions, number_letters)[1]
            for result in results
            for source in result["sources"][:MAX_SOURCES]
        ]
        number_width = LETTER_WIDTH * (2 + max(map(measure_width, numbers), default=0))
        name_letters = int((max_width - number_width - 3 * MARGIN) / ITALIC_WIDTH)
    for result in results:
        sources = result["sources"]
        target = ", ".join(_format_target(end, expressions) for end in result["target"])
        # A Jacobian runs one sweep per element, and only one of these sweeps is shown.
        if element := result.get("element"):
            yield translate("{target}: the steps show this element", target=f"{target}{element}"), ""
        call = result.get("call", "gradient")
        prefix = "" if call in PLAIN_CALLS else f"{translate(call)}: "
        for source in sources[:MAX_SOURCES]:
            derivative = f"{prefix}∂{target}/∂"
            name, number = _describe_gradient(source, result, expressions, number_letters)
            yield derivative + shorten_name(name, max(6, name_letters - measure_width(derivative))), f"= {number}"
        if (further_count := len(sources) + result["more"] - MAX_SOURCES) > 0:
            yield translate("and {n} more", n=further_count), ""


def _format_target(end: TargetFields, expressions: Expressions) -> str:
    """Return the name of a target, in brackets if it is a derivative itself."""
    name = shorten_name(end["name"] or "", MAX_NAME_LETTERS) or expressions.format_target_name(end["row"])
    return f"({name})" if name.startswith("∂") else name


def _describe_gradient(
    source: SourceFields, result: ResultFields, expressions: Expressions, number_letters: int
) -> GradientLine:
    """Return the name of a source and its gradient.

    A long array is summarized by magnitude and shape. The number of a variable with several states is written as a sum.
    """
    row = expressions.rows_by_number.get(source["rows"][-1] if source["rows"] else source["at"])
    name = str(source["name"] or (format_row_title(row) if row else translate("a source")))
    value = source["gradient"]
    shape = list(row["shape"]) if row else []
    first_target = expressions.rows_by_number.get(result["target"][0]["row"]) if result["target"] else None
    if first_target and result.get("call") in ("jacobian", "batch_jacobian"):
        shape = [*first_target["shape"], *shape[result["call"] == "batch_jacobian" :]]
    if value is None:
        return name, "None" if result["known"] or source["none"] else translate("not computed here")
    text = format_magnitude_and_shape(value, shape, number_letters)
    # A variable that was assigned on the tape has an adjoint for each state. Its gradient is their sum.
    summands = [format_magnitude(part, number_letters) for part in source["parts"] if part]
    long_text = f"{' + '.join(summands)} = {text}".replace("+ -", "− ")
    return name, long_text if len(summands) > 1 and not shape and len(long_text) <= number_letters else text


def draw_gradient_result_lines(
    lines: list[GradientLine], figure_width: float, figure_bottom: float
) -> tuple[float, float, TextList]:
    """Draw result lines below a figure, with their equals signs aligned.

    Args:
        lines: The lines.
        figure_width: The width of the figure, in pixels.
        figure_bottom: The height of the figure, in pixels.

    Returns:
        The width and the height of the figure with the lines, and the SVG elements of the lines.
    """
    x = 2 * MARGIN + ITALIC_WIDTH * max((measure_width(name) for name, _ in lines), default=0)
    parts = []
    y = figure_bottom + 8
    for name, number in lines:
        parts += [draw_text(x - 6, y, name, FORMULA_STYLE), draw_text(x, y, number, NUMBER_STYLE)]
        figure_width = max(figure_width, x + LETTER_WIDTH * measure_width(number) + MARGIN)
        y += LINE_HEIGHT
    return figure_width, y - 2 if lines else figure_bottom, parts
