"""Search the program's text for lines on which NumPy reads a tensor's memory, which no callback reports."""

import ast

from ...explain.reasons.program_text import (
    FunctionNode,
    ProgramText,
    Statement,
    collect_statements_using_value,
    find_last_name_of_dotted_path,
    find_root_name,
    find_statement,
    may_depend_on_statement,
    read_program,
    unparse,
)
from ...recording.sites import Site

NUMPY_PACKAGES = ("numpy", "scipy", "sklearn", "math")


def find_numpy_use_of_result(result_site: Site) -> Site | None:
    """Return the line that passes another line's result to NumPy or a NumPy-based package.

    For a ``fit`` call, the results are the predictions that Keras passes to a loss function.

    Args:
        result_site: The line that computed the result.

    Returns:
        The line of the NumPy call, or None if the program has no such call.
    """
    start_statement = find_statement(result_site)
    program = read_program(start_statement.file)
    modules = {name for name, module in program.imported_modules.items() if module.partition(".")[0] in NUMPY_PACKAGES}
    if not modules:
        return None
    prediction_names = {}
    if start_statement.find_call("fit", "train_on_batch"):
        prediction_names = map_keras_losses_to_prediction_parameters(program, start_statement)
    loss_statements = [
        candidate
        for candidate in program.statements
        if candidate.enclosing_functions and candidate.enclosing_functions[0] in prediction_names
    ]
    for statement in [*loss_statements, *collect_statements_using_value(start_statement, [])]:
        for call in statement.calls:
            is_numpy_function = (
                find_root_name(call.func) in modules or find_last_name_of_dotted_path(call.func) == "img_to_array"
            )
            arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
            name = prediction_names.get(next(iter(statement.enclosing_functions), None))
            if is_numpy_function and (
                may_depend_on_statement(start_statement, statement, arguments)
                or any(unparse(argument) == name for argument in arguments)
            ):
                return statement.file, call.lineno
    return None


def map_keras_losses_to_prediction_parameters(
    program: ProgramText, near_statement: Statement
) -> dict[FunctionNode | None, str]:
    """Return the loss functions that the program passes to Keras, each with the parameter that receives predictions.

    In each function, the last parameter without a default receives the predictions. Losses in ``compile`` calls in the
    same function as `near_statement` are preferred.

    Args:
        program: The program's text.
        near_statement: The statement that uses the losses.
    """
    compile_calls = [
        (statement, call) for statement in program.statements if (call := statement.find_call("compile")) is not None
    ]
    nearby_calls = [
        call for statement, call in compile_calls if statement.enclosing_functions == near_statement.enclosing_functions
    ] or [call for _, call in compile_calls]
    loss_names = {
        find_last_name_of_dotted_path(getattr(expression, "func", expression))
        for call in nearby_calls
        for expression in (*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "loss"))
    }
    loss_functions = [
        statement.node
        for statement in program.statements
        if isinstance(statement.node, ast.FunctionDef)
        and (statement.enclosing_class_name if statement.node.name == "call" else statement.node.name) in loss_names
    ]
    return {
        function: function.args.args[-1 - len(function.args.defaults)].arg
        for function in loss_functions
        if len(function.args.args) > len(function.args.defaults)
    }
