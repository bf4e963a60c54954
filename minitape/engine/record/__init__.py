"""Record the rows that all open tapes share, and notes about these rows."""
