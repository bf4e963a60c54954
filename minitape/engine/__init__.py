"""The engine: tensors, variables, the recording, the tape, its sweep, and the table of primitives.

It knows nothing of the rooms above. A learner reads ``tape``, ``record``, ``sweep``, ``backward`` and ``reach`` first, then
``primitives``; ``docs/engine.md`` follows one gradient through them.
"""
