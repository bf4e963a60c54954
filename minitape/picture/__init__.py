"""Pictures of a recording: what they read of it, where nodes stand, and the static picture.

``snapshots`` documents what a picture is given; ``reading``, ``rows`` and ``values`` take it from the recording, and
``stepping`` from a sweep, ``results`` from what gradients gave; ``replay`` computes again what a used tape let go of;
``difference`` finds where two recordings part. ``placement`` and ``drawing`` make the static picture of it. The live one is a package of its
own, ``minitape_widgets``, which reads the same.
"""
