"""The static picture and the live view place nodes by one rule."""

import json

from minitape.picture.placement import Item, Placement

from .make_placements import FILE, graphs, place


def test_the_golden_places_are_those_of_the_rule():
    assert json.loads(FILE.read_text()) == [place(items) for items in graphs()]


def test_a_node_never_moves_when_rows_are_added():
    items = graphs()[4]
    whole = place(items)
    placement = Placement()
    for index, item in enumerate(items):
        placement.add(Item(*item))
        for i in range(index + 1):
            if placement.column[i] >= 0:
                assert (placement.column[i], placement.slot[i]) == (whole["column"][i], whole["slot"][i])


def test_no_two_nodes_overlap():
    for items in graphs():
        placed = place(items)
        taken = [(c, s + k) for c, s in zip(placed["column"], placed["slot"], strict=True) for k in (0, 1)]
        assert len(taken) == len(set(taken))
