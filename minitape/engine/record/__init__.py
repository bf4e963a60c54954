"""The recording, with the rows that all open tapes share and the notes about them."""
