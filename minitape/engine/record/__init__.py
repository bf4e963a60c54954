"""Record the rows that all open tapes share, and store what ``explain`` needs to know about them."""
