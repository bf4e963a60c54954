"""The static picture and the live view place nodes by one rule."""

import json

from .make_placements import FILE, graphs, place


def test_the_golden_places_are_those_of_the_rule():
    assert json.loads(FILE.read_text()) == [place(items) for items in graphs()]


def test_no_two_nodes_overlap():
    for items in graphs():
        placed = place(items)
        taken = [(c, s + k) for c, s in zip(placed["column"], placed["slot"], strict=True) for k in (0, 1)]
        assert len(taken) == len(set(taken))
