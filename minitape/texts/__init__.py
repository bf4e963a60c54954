"""What ``tf.strings`` is made of: numbers as text, patterns, Unicode, hashes."""
