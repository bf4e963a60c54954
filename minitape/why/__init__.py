"""Why a gradient is None, zero, NaN or wrong: rows, checks in their order, words, and a few edits."""
