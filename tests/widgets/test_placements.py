"""The static picture and the live view place nodes by one rule."""

import json

from .make_placements import FILE, build_graphs, place_items


def test_the_golden_places_are_those_of_the_rule():
    assert json.loads(FILE.read_text()) == [place_items(items) for items in build_graphs()]


def test_no_two_nodes_overlap():
    for items in build_graphs():
        placed = place_items(items)
        taken = [(c, s + k) for c, s in zip(placed["column"], placed["slot"], strict=True) for k in (0, 1)]
        assert len(taken) == len(set(taken))
