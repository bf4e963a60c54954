"""Draw pictures of a recording: the snapshot that they read, the node layout, and the static picture.

- Input: ``source`` declares the interface of a recording, for minitape's tape and for other frameworks. ``snapshots``
  builds the dictionary that a picture reads, and ``snapshot_types`` documents each field.
- Rows: ``reader``, ``picture_rows`` and ``shown_values`` read them from the recording. ``reader_base`` defines what the
  readers of all frameworks share. ``events`` lists assignments and escapes. ``recomputed_values`` recomputes the values
  that a used tape has released. ``tangents`` computes the tangents of forward mode. ``nested_gradient_layout`` finds
  the row below which each row of a recorded gradient is drawn. ``function_insides`` reads the rows inside
  ``tf.function`` calls. ``source_names`` reads names from the program text.
- Gradients: ``stepper`` reads a sweep step by step, and ``gradient_results`` reads the results of gradient calls.
  ``path_breaks`` finds the edges where a gradient ends, and ``alarms`` finds errors and warnings.
- Two tapes: ``tape_difference`` aligns their rows and finds the first row in which they differ.
- Texts: ``readable_formulas`` and ``expressions`` format rules as in a textbook. ``known_rules`` finds the rule for
  another framework's operation. ``truncation`` shortens names and texts. ``picture_texts`` translates.
- Static picture: ``drawing`` is the public interface. ``placement`` computes the layout and ``figure`` draws it, with
  the numbers that ``edge_labels`` places, and the result lines of ``gradient_texts`` below.
  ``figure_edges``, ``svg_elements`` and ``value_display`` draw the parts. ``layer_folds`` shows each layer as one row.
  ``tikz`` converts the picture to LaTeX, and ``graph`` writes it for Graphviz.

The live picture is a separate package, ``minitape_widgets``, which reads the same snapshots.
"""
