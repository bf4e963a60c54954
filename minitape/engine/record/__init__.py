"""The recording: the rows that all open tapes share, and notes about them."""
