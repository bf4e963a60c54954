"""Pictures of a recording: what they read of it, where nodes are, and the static picture.

- What a picture reads: ``source`` says what it needs from a recording, whoever wrote it; ``snapshots`` builds the
  dictionary that a picture is given, and ``snapshot_types`` says what each of its fields means.
- Rows: ``reader``, ``picture_rows`` and ``shown_values`` take them from the recording; ``events`` lists what happened
  besides; ``recomputed_values`` computes again what a used tape released; ``tangents`` are those of forward mode;
  ``nested_gradient_layout`` says below which row a row is drawn that a gradient wrote; ``function_insides`` looks into
  the calls of ``tf.function``.
- Gradients: ``stepper`` reads a sweep, ``gradient_results`` what gradients gave, ``path_breaks`` where a gradient ends,
  ``alarms`` what is wrong.
- Texts: ``readable_formulas`` and ``expressions`` write rules as a book does; ``known_rules`` finds the rule of another
  framework's operation; ``truncation`` bounds names and texts; ``picture_texts`` are in the language of the lessons.
- The static picture is ``drawing``: ``figure`` draws the rows at the places that ``placement`` gives, with the lines of
  ``gradient_texts`` below, from ``svg_elements`` and ``value_display``; ``tikz`` writes the same for LaTeX.

The live picture is a package of its own, ``minitape_widgets``, which reads the same snapshots.
"""
