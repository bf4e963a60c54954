"""Write JSON into a page's script elements."""

import json


def format_script_json(value: object) -> str:
    r"""Format a value as JSON that cannot end the script element around it.

    Args:
        value: A value that JSON can represent, without NaN or infinity.

    Returns:
        The JSON, in which ``<`` is written as an escape.

    Raises:
        ValueError: If the value contains NaN or infinity.

    >>> print(format_script_json(["</script>"]))
    ["\u003c/script>"]
    """
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")
