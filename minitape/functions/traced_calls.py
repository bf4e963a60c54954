"""Select the public functions whose calls write a single row while a ``tf.function`` is traced.

Other functions need no wrapper, because their operations are recorded. Namespaces look up this table when a name is
first read.
"""

import inspect
from functools import wraps

from ..engine.record.thread_state import state
from ..engine.types import Object

# For each public name, the function in :mod:`.effect_rows` that writes its row.
_ROW_WRITERS = {
    name: writer
    for writer, names in {
        "write_effect_row": "print",
        "write_random_row": "normal uniform",
        "write_py_function_row": "py_function numpy_function py_func",
        "call_or_write_guarded_row": "boolean_mask eye fill gather getitem length linspace one_hot ones pad range "
        "repeat reshape split substr tensor_scatter_nd_update tile to_dense top_k transpose unique unstack where zeros",
    }.items()
    for name in names.split()
}


def wrap_for_first_runs(name: str, public_object: Object) -> Object:
    """Return the object that a namespace provides under a name.

    Args:
        name: The public name, such as "print".
        public_object: The function, class or value with that name.

    Returns:
        If the table contains the name, a function that writes one row when it is called in a first run, and calls
        `public_object` elsewhere. Otherwise, `public_object` itself.

    >>> wrap_for_first_runs("cos", abs) is abs
    True
    """
    writer_name = _ROW_WRITERS.get(name)
    if writer_name is None or not inspect.isfunction(public_object):
        return public_object

    @wraps(public_object)
    def call_or_write_row(*args: Object, **kwargs: Object) -> Object:
        record = state.record
        if record is None or record.first_run is None:
            return public_object(*args, **kwargs)
        from . import effect_rows

        return getattr(effect_rows, writer_name)(public_object, *args, **kwargs)

    return call_or_write_row
