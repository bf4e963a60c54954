"""Pictures of a recording: what they read of it, where nodes are, and the static picture.

``snapshots`` documents what a picture is given, and ``fields`` names its dictionaries for type checkers; ``reading``,
``rows`` and ``values`` take it from the recording, ``events`` says what happened beside its rows; ``stepping`` reads
a sweep, ``results`` what gradients gave, ``diagnosis`` what is wrong, ``torn`` where a gradient ends; ``replay``
computes again what a used tape released; ``tangents`` are those of forward mode, ``storeys`` says below which row one
stands that a gradient wrote; ``inside`` looks into the calls of ``tf.function``; ``short`` bounds names and texts,
``readable`` and ``expressions`` write rules as a book does, and ``known_rules`` finds that of another framework's
operation; ``words`` are in the language of the lessons. The static picture is of ``drawing``: ``figure`` draws the
rows at the places that ``placement`` gives, with what ``gradients`` gave below, in the ``ink`` and ``marks`` of all;
``tikz`` writes the same for LaTeX.
The live one is a package of its own, ``minitape_widgets``, which reads the same.
"""
