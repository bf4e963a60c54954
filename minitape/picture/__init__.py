"""Pictures of a recording: what they read of it, where nodes stand, and the static picture.

``snapshots`` documents what a picture is given, and ``fields`` names its dictionaries for type checkers; ``reading``,
``rows`` and ``values`` take it from the recording, and ``stepping`` from a sweep. ``short`` bounds names and texts. ``placement`` and ``drawing`` make the
static picture of it. The live one is a package of its own, ``minitape_widgets``, which reads the same.
"""
