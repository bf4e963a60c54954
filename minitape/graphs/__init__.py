"""Graphs: recordings without values.

Building
    ``symbolic``   tensors and operations of a graph: names, dtypes and static shapes, but no values (``naming``)
    ``build``      the graph itself: operations on symbolic tensors append rows instead of computing
    ``infer``      shapes and dtypes of results, found by running the primitive on cheap stand-ins (``refusals``: how
                   shapes that do not fit are worded)
    ``lifted``     eager tensors that become part of a graph
    ``primitive``  primitives that only graphs have, and how they get their derivative
    ``effects``    rows that do more than compute: variables' reads and assignments, Python functions
    ``assigned``, ``gates``   what assignments return; operations that only wait for others
    ``sweep``      gradients inside a graph: the one reverse sweep adds rows
    ``later``, ``postponed``, ``slicing``   what depends on sizes and values that only a run knows

Running
    ``program``    the rows that some results need: compiled, or replayed as eager operations
    ``compile``    rows as one generated Python function; runs of single numbers go to the kernel
    ``within``     what a picture sees of a call that it looks into
    ``failures``   which operation failed, and where the user wrote it

Interfaces
    ``settings``   how functions run, and on what: ``tf.config``, ``tf.device``
    ``session``, ``named``, ``variables``, ``scopes``, ``gradients``   placeholders, names in a graph, ``Session.run``, the rest of TensorFlow 1
    ``function``, ``concrete``, ``inline``   ``tf.function``, its traces, and their calls inside others
    ``signature``, ``arguments``, ``spec``, ``retracing``   what they take
    ``control``, ``whiles``, ``mapping``, ``arrays``   ``cond``, ``while_loop``, ``map_fn``, ``TensorArray``
    ``body``, ``carried``   the functions in branches and loops, and what passes in and out
    ``autograph``, ``loops``, ``turns``, ``calls``, ``values``   Python's control flow on symbolic tensors
    ``sources``, ``rewrite``, ``exits``, ``liveness``, ``syntax``, ``rewritten``   functions rewritten for it
    ``streams``    datasets, whose elements are drawn when the graph runs
    ``custom``     ``custom_gradient`` and ``py_function`` inside a graph
"""
