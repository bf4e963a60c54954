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


def test_what_a_gradient_wrote_runs_back_below_what_it_is_the_gradient_of():
    items = graphs()[-1]
    placed = place(items)
    column, slot = placed["column"], placed["slot"]
    upper = [k for k, item in enumerate(items) if len(item) < 4]
    lower = [k for k in range(len(items)) if k not in upper]
    assert min(slot[k] for k in lower) > max(slot[k] for k in upper) + 1
    for k in lower:
        inputs, leaf, _, _, below = items[k]
        assert all(column[i] > column[k] for i in inputs if i in lower)
        assert column[k] <= column[below] or leaf
    assert [column[k] - column[items[k][4]] for k in lower] == [0, 0, 0, 0, -1]
