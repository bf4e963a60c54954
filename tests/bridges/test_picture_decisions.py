"""What a picture shows of a recording that is written by hand: sources, reasons, updates, names and further results."""

from types import SimpleNamespace

import numpy as np
import pytest

from minitape.bridges import Recording, picture_reader
from minitape.bridges.checkup import FrameworkRecording
from minitape.bridges.framework_import import import_framework
from minitape.bridges.model_page import GradientStatistics, format_statistics_ranges, rank_worst_first
from minitape.explain.explanation import Explanation


class TrainedRecording(Recording):
    """A recording whose trained sources, updates and reasons are set by hand."""

    def __init__(self, trained=(), updates=None):
        """Keep the trained sources as (name, source, rows), and the weights around the last step of each source."""
        super().__init__("by hand")
        self.trained, self.updates, self.asked = trained, updates or {}, []

    def collect_sources_meant_to_be_trained(self):
        """Return the sources by name."""
        return {name: source for name, source, _ in self.trained}

    def list_rows(self, source):
        """Return the rows of a source."""
        return next((rows for _, own, rows in self.trained if own is source), [])

    def read_weights_around_last_step(self, source):
        """Return the elements before and after the last step."""
        return self.updates.get(source, (None, None))

    def find_target_row_unless_found_from_source(self, sweep):
        """Return that the source alone identifies the pass."""

    def explain_source(self, target, source):
        """Return a reason, and note the question."""
        self.asked.append(source)
        return Explanation("detach", "It was cut.", "Mend it.", "train.py", 3)


def record(trained=(), updates=None, leaves=(3.0,), gradients=(2.0,), sources=(), target=True, **sweep_facts):
    """Record the sum of some leaves and its backward pass. A gradient of None reached no leaf."""
    recording = TrainedRecording(trained, updates)
    rows = [recording.add_leaf(value, name=f"x{number}", shape=np.shape(value))
            for number, value in enumerate(leaves)]  # fmt: skip
    y = recording.add_operation("add_n", rows, 1.0)
    sweep = recording.add_backward_pass([y] if target else [])
    sweep.sources = list(sources)
    for name, fact in sweep_facts.items():
        setattr(sweep, name, fact)
    sweep.set_adjoint(y, 1.0)
    for row, gradient in zip(rows, gradients, strict=True):
        if gradient is not None:
            sweep.send(y, row, row, gradient, gradient)
            sweep.set_adjoint(row, gradient)
    recording.close()
    return recording, recording.snapshot()["results"][-1]


def test_the_reasons_of_gradients_that_are_none_or_zero_are_told() -> None:
    trained = [(f"net.w{number}", f"source {number}", [number]) for number in range(3)]
    recording, result = record(trained, leaves=(1.0, 2.0, 3.0), gradients=(2.0, 0.0, None))
    assert [(it["at"], it["none"], it["reason"]) for it in result["sources"]] == [
        (0, False, None), (1, False, "It was cut. Mend it."), (2, True, "It was cut. Mend it.")]  # fmt: skip
    assert recording.asked == ["source 1", "source 2"] and result["call"] == "backward"
    without_names, _ = record(leaves=(1.0, 2.0), gradients=(2.0, 0.0))
    assert without_names.asked == [1]
    without_target, _ = record(leaves=(1.0, 2.0), gradients=(2.0, 0.0), target=False)
    assert without_target.asked == []


def test_only_a_few_reasons_are_searched(monkeypatch) -> None:
    monkeypatch.setattr(picture_reader, "MAX_EXPLAINED", 2)
    recording, _ = record(leaves=(1.0, 2.0, 3.0), gradients=(0.0, 0.0, 0.0))
    assert recording.asked == [0, 1]


def test_the_sources_of_a_call_are_those_it_named() -> None:
    _, result = record(leaves=(1.0, 2.0), gradients=(2.0, 3.0), sources=[1], function_name="grad")
    assert [it["at"] for it in result["sources"]] == [1] and result["call"] == "grad"


UPDATES = {
    "a step": (([1.0, 2.0], [1.0, 3.0]), [1.0, 2.0], [1.0, 3.0]),
    "a step without a change": (([1.0, 2.0], [1.0, 2.0]), [1.0, 2.0], None),
    "a step from another value": (([1.0, 4.0], [1.0, 3.0]), [1.0, 2.0], None),
    "no step": ((None, None), [1.0, 2.0], None),
    "an unknown end": (([1.0, 2.0], None), [1.0, 2.0], None),
}


@pytest.mark.parametrize(("weights", "used", "now"), UPDATES.values(), ids=UPDATES)
def test_the_value_after_an_optimizer_step_is_shown(weights, used, now) -> None:
    around = tuple(None if values is None else np.array(values) for values in weights)
    _, result = record([("w", "source", [0])], {"source": around}, leaves=(np.array(used),), gradients=(np.ones(2),))
    (fields,) = result["sources"]
    assert (fields["now"] and fields["now"]["data"], fields["assigned"]) == (now, int(now is not None))


NAMED = {
    "a short name of one source": ([("net.w", "a", [0]), ("net.b", "b", [1])], ["x0", "x1"]),
    "two sources with one name": ([("net.0.w", "a", [0]), ("net.1.w", "b", [1])], ["net.0.w", "net.1.w"]),
    "elements of a tree": ([("params['w']", "a", [0]), ("params['b']", "b", [1])], ["w", "b"]),
    "equal last parts": ([("params['a']['w']", "a", [0]), ("params['b']['w']", "b", [1])],
                         ["params['a']['w']", "params['b']['w']"]),
    "numbers": ([("params[0]", "a", [0]), ("params[1]", "b", [1])], ["params[0]", "params[1]"]),
}  # fmt: skip


@pytest.mark.parametrize(("trained", "names"), NAMED.values(), ids=NAMED)
def test_a_source_has_the_shortest_name_that_no_other_has(trained, names) -> None:
    recording = TrainedRecording(trained)
    has_own_names = names == ["x0", "x1"]
    for number in range(2):
        recording.add_leaf(1.0, name=f"x{number}" if has_own_names else "w" if names[0] == "net.0.w" else None)
    recording.close()
    found = picture_reader.map_rows_to_trained_sources(recording)
    assert {row: tuple(named) for row, named in found.items()} == {0: (names[0], "a"), 1: (names[1], "b")}


def test_all_results_of_a_call_have_an_adjoint_in_its_step() -> None:
    recording = Recording("by hand")
    x = recording.add_leaf(3.0)
    first = recording.add_operation("split", [x], 1.0, call_id=1, output=0)
    recording.add_operation("split", [x], 2.0, call_id=1, output=1)
    recording.add_operation("sin", [first], 0.5)
    sweep = recording.add_backward_pass([3])
    for row in (3, 1, 0):
        sweep.set_adjoint(row, 1.0 + row)
    sweep.send(3, 1, 0, 2.0, 2.0)
    sweep.send(1, 0, 0, 2.0, 2.0)
    recording.close()
    steps = recording.snapshot()["sweep"]["steps"]
    assert [(step["row"], [it["row"] for it in step.get("others", [])]) for step in steps] == [(3, []), (1, [2])]
    assert steps[1]["others"][0]["adjoint"]["data"] == 0.0


def test_a_recording_is_read_in_parts_and_counts_its_rows() -> None:
    recording = Recording("by hand")
    row = recording.add_leaf(1.0)
    for _ in range(4):
        row = recording.add_operation("sin", [row], 1.0)
    sweep = recording.add_backward_pass([row])
    recording.close()
    assert (sweep.row_count, recording.list_rows(4), recording.list_rows(5), recording.list_rows("x")) == (
        5,
        [4],
        [],
        [],
    )
    reader = picture_reader.RecordingReader(recording)
    assert [[part.row for part in reader.read_new_rows(limit)] for limit in (2, 2, None, 3)] == [
        [0, 1],
        [2, 3],
        [4],
        [],
    ]
    (tape,) = reader.list_tape_fields()
    assert (tape["id"], tape["state"], tape["spans"], tape["bytes"]) == (0, "closed", [[0, 5]], 0)


def test_a_row_that_does_not_exist_has_no_name() -> None:
    recording = Recording("by hand")
    recording.add_leaf(1.0, name="x")
    recording.close()
    assert [picture_reader._find_display_name(recording, row, {}) for row in (-1, 0, 1)] == [None, "x", None]


def test_a_result_that_is_computed_several_times_has_numbered_names() -> None:
    recording = Recording("by hand")
    x = recording.add_leaf(1.0, name="x")
    for name in ("h", "h", "y"):
        recording.add_operation("sin", [x], 1.0, name=name)
    recording.close()
    names = [row["name"] for row in recording.snapshot()["rows"]]
    assert names[0] == "x" and names[3] == "y" and len(set(names)) == 4 and all(name[0] == "h" for name in names[1:3])


# -- explanations of several targets, and pages ----------------------------------------------------


def test_of_several_targets_the_one_that_reaches_the_source_is_told_and_blocked_paths_are_added() -> None:
    reached, blocked = Explanation("connected", "", ""), Explanation("detach", "Cut.", "", "a.py", 3)
    unused, placeless = Explanation("unused", "", ""), Explanation("data", "", "")
    for targets, told, others in (
        ([blocked, reached], reached, [blocked]), ([unused, blocked], blocked, []), ([blocked], blocked, []),
        ([unused, placeless], placeless, []), ([reached, placeless], reached, []),
    ):  # fmt: skip
        for answer in targets:
            answer.others = []
        recording = SimpleNamespace(_explain_gradient=lambda target, source: target)
        answer = FrameworkRecording.explain_source(recording, targets, None)
        assert answer is told and answer.others == others


def test_statistics_that_no_gradient_has_are_left_out() -> None:
    assert format_statistics_ranges([GradientStatistics(1.0, 0.5, None)]) == "norm 1, zeros 50 %"
    assert format_statistics_ranges([GradientStatistics(None, None, 0.5), GradientStatistics(None, None, 0.25)]) == (
        "update/weight 0.25 to 0.5"
    )


def test_the_worst_rank_is_zero() -> None:
    assert rank_worst_first(Explanation("detach", "", "")) == 0
    assert rank_worst_first(Explanation("connected", "", "")) == 10


@pytest.mark.parametrize(("minimum", "is_enough"), [((2, 5), True), ((2, 4), True), ((2, 6), False), ((3, 0), False)])
def test_a_framework_that_is_too_old_is_refused(monkeypatch, minimum, is_enough) -> None:
    monkeypatch.setattr(
        "minitape.bridges.framework_import.import_module", lambda name: SimpleNamespace(__version__="2.5.1")
    )
    if is_enough:
        assert import_framework("torch", "PyTorch", minimum).__version__ == "2.5.1"
    else:
        with pytest.raises(ImportError, match=r"needs PyTorch \d\.\d or newer, but 2\.5\.1 is installed"):
            import_framework("torch", "PyTorch", minimum)
