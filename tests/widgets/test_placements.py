"""The static picture and the live view place nodes by one rule."""

import json

from .make_placements import FILE, build_graphs, place_items


def test_the_golden_places_are_those_of_the_rule():
    assert json.loads(FILE.read_text()) == [place_items(items) for items in build_graphs()]


def test_many_terms_of_a_sum_are_in_their_order_and_the_sum_is_beside_the_middle_one():
    leaves, squares = range(0, 24, 2), range(1, 24, 2)
    items = [item for leaf in leaves for item in ([[], True, 0], [[leaf, leaf], False, 0])]
    slots = place_items([*items, [[*squares], False, 0]])["slot"]
    assert [slots[square] for square in squares] == [slots[leaf] for leaf in leaves] == [*range(0, 24, 2)]
    assert slots[24] == slots[11]


def test_no_two_nodes_overlap():
    for items in build_graphs():
        placed = place_items(items)
        taken = [(c, s + k) for c, s in zip(placed["column"], placed["slot"], strict=True) for k in (0, 1)]
        assert len(taken) == len(set(taken))
