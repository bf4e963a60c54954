"""The recording: the rows that all open tapes share, and the notes about them."""
