"""Explain finds the program's name for an object in one search, however many objects are looked up."""

from __future__ import annotations

from typing import Any

import pytest

import minitape as tf
from minitape.recording import access_paths as searches
from minitape.recording.access_paths import AccessPaths


class Holder:
    """An object of the program with some attributes."""

    def __init__(self, **attributes: Any) -> None:  # The attributes are objects of any class.
        """Set the attributes."""
        vars(self).update(attributes)


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives the id of each object that a search takes apart."""
    ids: list[int] = []
    list_parts = searches.list_parts_with_suffixes

    def list_parts_and_count(value: Any, *limit: int) -> list[tuple[str, Any]]:
        ids.append(id(value))
        return list_parts(value, *limit)

    monkeypatch.setattr(searches, "list_parts_with_suffixes", list_parts_and_count)
    return ids


def test_the_shortest_path_wins() -> None:
    """An object that several names reach gets the name with the fewest attributes and items."""
    weight = object()
    layer = Holder(weight=weight)
    named_values = [("trainer", Holder(net=Holder(layers=[layer]))), ("layer", layer)]
    assert AccessPaths(named_values).find_path(weight) == "layer.weight"
    assert AccessPaths(named_values[:1]).find_path(weight) == "trainer.net.layers[0].weight"
    assert AccessPaths(named_values).find_path(object()) == ""


def test_thousands_of_objects_have_names() -> None:
    """The search reaches items beyond the first few thousand, and objects behind them."""
    layers = [Holder(weight=object()) for _ in range(5000)]
    access_paths = AccessPaths([("layers", layers)])
    assert [access_paths.find_path(layer.weight) for layer in (layers[0], layers[4999])] == [
        "layers[0].weight",
        "layers[4999].weight",
    ]


def test_a_search_is_bounded(searched: list[int]) -> None:
    """A search ends in a program whose objects refer to each other, and in one with endless data."""
    first, second = Holder(), Holder()
    first.other, second.other = second, first
    assert AccessPaths([("first", first)]).find_path(object()) == ""
    assert len(searched) == 2
    shared_list = [[0] * 1000 for _ in range(2000)]
    assert AccessPaths([("data", [shared_list])]).find_path(object()) == ""
    assert len(searched) < 500


def test_one_question_searches_the_program_once(searched: list[int]) -> None:
    """Explaining four times as many sources takes no object apart more often."""
    counts = []
    for number in (50, 200):
        searched.clear()
        weights = [tf.Variable(float(index)) for index in range(number)]
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.stop_gradient(tf.stack(weights)))
        answers = tape.explain(loss, weights)
        assert answers[-1].cause == "stop_gradient"
        assert f"weights[{number - 1}]" in answers[-1].message
        assert len(searched) < 3 * len(set(searched)) + 3
        counts.append(len(searched) - number)
        del weights, answers, loss, tape
    assert counts[1] < counts[0] + 200
