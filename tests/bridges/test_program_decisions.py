"""How a program is run, what its block keeps of an error, and how reports are written; no framework is used."""

import sys
import threading
from contextlib import contextmanager
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest

from minitape.bridges import Recording, Replay, program
from minitape.bridges.callbacks import ExplainedSteps
from minitape.bridges.model_page import ModelPage, SourceExplanations
from minitape.bridges.mutable_state import save_state_and_build_restorer
from minitape.bridges.program import FrameworkBlock, RunnableProgram, execute_as_main_and_pass_error, run_program
from minitape.bridges.run_watch import waiting_copies
from minitape.bridges.run_watch.report import RunReport, build_problem_group, is_about_none, list_problem_groups
from minitape.bridges.run_watch.side_effects import SideEffects
from minitape.explain.explanation import Explanation


def build(cause="detach", line=3, **attributes):
    """Build an explanation with further attributes."""
    answer = Explanation(cause, f"{cause} happened.", "Mend it.", line and "train.py", line)
    for name, value in attributes.items():
        setattr(answer, name, value)
    return answer


# -- a program as the main module ------------------------------------------------------------------


def run_text(tmp_path, text, *arguments, **options):
    """Run a program and return its namespace and the error that was passed on."""
    path = tmp_path / "train.py"
    path.write_text(text, encoding="utf-8")
    seen = []

    def receive(error):
        seen.append((vars(sys.modules["__main__"]).copy(), list(sys.argv), sys.path[0], error))

    before = sys.modules["__main__"], sys.argv, sys.path[:]
    execute_as_main_and_pass_error(RunnableProgram(path, arguments, **options), receive)
    assert (sys.modules["__main__"], sys.argv, sys.path) == before and len(seen) == 1
    return seen[0]


@pytest.mark.parametrize(("text", "error"), [
    ("a = 1", None), ("raise SystemExit", None), ("raise SystemExit(0)", None), ("raise SystemExit(2)", SystemExit),
    ("raise ValueError(3)", ValueError), ("raise KeyboardInterrupt", KeyboardInterrupt),
])  # fmt: skip
def test_an_exit_with_success_is_no_error(tmp_path, text, error) -> None:
    assert type(run_text(tmp_path, text)[3]) is (error or type(None))


def test_a_program_runs_as_main_with_its_arguments_and_its_folder(tmp_path) -> None:
    names, arguments, folder, _ = run_text(tmp_path, "own = __name__, __file__, __package__", "--epochs", "3")
    path = str(tmp_path / "train.py")
    assert names["own"] == ("__main__", path, None)
    assert (arguments, folder) == ([path, "--epochs", "3"], str(tmp_path))


def test_a_module_runs_in_its_package_and_a_given_text_replaces_that_of_the_file(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path.parent)
    spec = SimpleNamespace(parent="package", name="package.train")
    names, _, folder, _ = run_text(tmp_path, "a = 1", module_spec=spec, source="a = 2")
    assert (names["a"], names["__package__"], folder) == (2, "package", str(tmp_path.parent))
    written, replaced = (
        RunnableProgram(tmp_path / "train.py", ()),
        RunnableProgram(tmp_path / "train.py", (), None, "b"),
    )
    assert (written.read_source(), replaced.read_source()) == ("a = 1", "b")


# -- the block of a framework ----------------------------------------------------------------------


class FakeRecording(SimpleNamespace):
    """A recording whose answers are set by hand."""

    def __enter__(self):
        """Return the recording."""
        return self

    def __exit__(self, *error):
        """Note that the recording ended."""
        self.exits = getattr(self, "exits", 0) + 1

    def explain(self):
        """Return the page, or raise the error that was set."""
        if isinstance(self.page, Exception):
            raise self.page
        return ModelPage(self.page)


def build_block(page=None, **attributes):
    """Build a block with a fake recording."""
    block = FrameworkBlock("tensorflow", {})
    block.recording = FakeRecording(page={} if page is None else page, **attributes)
    return block


def list_causes(block):
    """Return the causes on the page and those of the whole run."""
    return [it.cause for it in block.page.problems], [it.cause for it in block.run_problems]


@pytest.mark.parametrize(("page", "bad_step", "causes"), [
    ({"w": build()}, None, (["detach"], [])), ({"w": build("connected")}, None, ([], [])),
    ({"w": build()}, 3, (["detach"], [])), ({"w": build("connected")}, 3, ([], ["nonfinite_value"])),
])  # fmt: skip
def test_a_step_that_was_not_recorded_is_told_if_nothing_else_is(page, bad_step, causes) -> None:
    block = build_block(page, bad_step=bad_step, steps=5)
    block.finish_recording_and_explain(None)
    assert list_causes(block) == causes and block.recording.exits == 1
    assert block.has_problems is bool(causes[0] or causes[1])


RUN_PROBLEM = [build("accumulated"), None]
OWN_ERROR, KNOWN_ERROR = ValueError("unknown"), ValueError("Incompatible shapes: [2] vs. [3]")


def list_problems_of_run():
    return RUN_PROBLEM


@pytest.mark.parametrize(("page", "causes"), [
    ({"w": build("nan_forward")}, (["nan_forward"], [])), ({"w": build()}, (["detach"], ["accumulated"])),
    ({"w": build("connected")}, ([], ["accumulated"])),
])  # fmt: skip
def test_the_problems_of_a_run_are_told_unless_a_value_is_not_finite(page, causes) -> None:
    block = build_block(page, iter_run_problems=list_problems_of_run, list_run_remarks=lambda: ["a remark"])
    block.finish_recording_and_explain(None)
    assert list_causes(block) == causes and block.remarks == ["a remark"]
    block.page["v"] = build("stop_gradient")  # A page with a problem is not replaced by a later one.
    block.recording.page = {}
    block.finish_recording_and_explain(None)
    assert "v" in block.page


def explain_call(*call):
    return build("refused") if call == ((1,), {"a": 2}) else None


ERRORS = {
    "the failed call": ({"w": build()}, {"failed_call": ((1,), {"a": 2}, OWN_ERROR)}, OWN_ERROR, ([], ["refused"])),
    "another error": ({"w": build()}, {"failed_call": ((1,), {"a": 2}, KeyError())}, OWN_ERROR, (["detach"], [])),
    "a call without an answer": ({"w": build()}, {"failed_call": ((), {}, OWN_ERROR)}, OWN_ERROR, (["detach"], [])),
    "a known message": ({}, {}, KNOWN_ERROR, ([], ["refused"])),
    "a known message beside a problem": ({"w": build()}, {}, KNOWN_ERROR, (["detach"], [])),
    "a source that was not requested": ({"w": build(), "v": build()},
                                        {"collect_names_of_unrequested_sources": lambda: {"w", "u"}}, OWN_ERROR,
                                        (["detach"], [])),
    "an exit": ({"w": build()}, {"failed_call": ((1,), {"a": 2}, OWN_ERROR)}, SystemExit(2), (["detach"], [])),
}  # fmt: skip


@pytest.mark.parametrize(("page", "attributes", "error", "causes"), ERRORS.values(), ids=ERRORS)
def test_what_is_kept_of_a_program_that_ended_with_an_error(page, attributes, error, causes) -> None:
    block = build_block(page, explain_failed_gradient_or_compiled_step=explain_call, **attributes)
    block.finish_recording_and_explain(error)
    assert list_causes(block) == causes
    assert ("w" in block.page) is ("w" in page and causes[0] != [] and "v" not in page)


def test_an_error_in_an_explanation_is_a_warning_and_silent_without_gradients() -> None:
    for error, steps in ((ValueError("oops"), 0), (RuntimeError("oops"), 1)):
        with pytest.warns(RuntimeWarning, match=f"could not be explained: {type(error).__name__}: oops"):
            build_block(error, steps=steps).finish_recording_and_explain(None)
    build_block(RuntimeError("No step has been recorded yet."), steps=0).finish_recording_and_explain(None)

    def fail(*call):
        raise KeyError("own")

    block = build_block({}, explain_failed_gradient_or_compiled_step=fail, failed_call=((), {}, OWN_ERROR))
    with pytest.warns(RuntimeWarning, match="The error could not be explained: KeyError"):
        block.finish_recording_and_explain(OWN_ERROR)


@pytest.mark.parametrize(("attributes", "page", "has_gradients", "missed"), [
    ({}, {}, False, False), ({"gradient_count": 1}, {}, True, True), ({"steps": 1}, {}, True, True),
    ({"steps": 1}, {"w": build("connected")}, True, False), ({"sweeps": [1]}, {}, True, True),
    ({"latest": SimpleNamespace(sweeps=[1]), "sweeps": []}, {}, True, True),
    ({"latest": SimpleNamespace(sweeps=[]), "sweeps": [1]}, {}, False, False),
])  # fmt: skip
def test_a_block_knows_whether_the_program_computed_gradients(attributes, page, has_gradients, missed) -> None:
    block = build_block(page, **attributes)
    block.page = ModelPage(page)
    assert (block.has_gradients, block.missed_all_gradients, block.has_problems) == (has_gradients, missed, missed)


@pytest.mark.parametrize(("options", "notified"), [({}, 0), ({"every": 2}, 1)])
def test_the_first_page_with_a_problem_is_told_while_the_program_runs(monkeypatch, options, notified) -> None:
    pages, recordings = [], []

    def record(**given):
        recordings.append(FakeRecording(page={"w": build("connected")}, on_recorded=None, options=given, steps=1))
        return recordings[-1]

    monkeypatch.setattr(program, "import_module", lambda name: SimpleNamespace(record=record))
    with FrameworkBlock("torch", options, pages.append) as block:
        (recording,) = recordings
        assert recording.options == options and block.recording is recording
        for page in ({"w": build("connected")}, {"w": build()}, {"w": build()}):
            recording.page = page
            if recording.on_recorded is not None:
                recording.on_recorded()
        block.finish_recording_and_explain(None)
    assert len(pages) == notified and recording.exits == 2


def test_only_blocks_with_gradients_are_reported_or_the_first(tmp_path) -> None:
    path = tmp_path / "train.py"
    path.write_text("raise ValueError(5)", encoding="utf-8")

    class Block(SimpleNamespace):
        def __enter__(self):
            self.log.append("enter")

        def __exit__(self, *error):
            self.log.append("exit")

        def finish_recording_and_explain(self, error):
            self.log.append(str(error))

    blocks = [Block(has_gradients=has_gradients, log=[]) for has_gradients in (False, True, True)]
    result = run_program(RunnableProgram(path, ()), blocks)
    assert result.blocks == blocks[1:] and str(result.error) == "5"
    assert all(block.log == ["enter", "5", "exit"] for block in blocks)
    assert run_program(RunnableProgram(path, (), None, "a = 1"), blocks[:1]) == ([blocks[0]], None)


# -- reports ---------------------------------------------------------------------------------------


def test_a_problem_is_written_with_its_patch_only_if_that_was_offered() -> None:
    answer = build(patch="y = x", patch_line=7, fix="Mend it. Line 7 should be `y = x`.")
    answer.others = [build("data", 4, message="Another happened."), build("data", 5, message="detach happened.")]
    group = build_problem_group(answer, ["w"], "No gradient for w (1 of 2).")
    assert (group.fix, group.further, group.patch, group.patch_line) == ("Mend it.", ["Another happened."], "y = x", 7)
    told = "Line 7 should be `y = x`."
    tested = group._replace(is_patch_offered=True, trial="Tested: it works.")
    assert told not in str(group) and told in str(tested) and "  Tested: it works." in str(tested).splitlines()
    assert str(group).splitlines()[0] == "No gradient for w (1 of 2)." and "  Also: Another happened." in str(group)
    assert not str(group._replace(heading="")).startswith("\n")
    assert "Line 3 should be `y = x`." in str(tested._replace(patch_line=None))
    assert build_problem_group(build(), []).fix == "Mend it."


def test_the_problems_of_a_page_are_listed_worst_first() -> None:
    page = ModelPage({"a": build("dead_relu"), "b": build(), "c": build("connected"), "d": build()})
    groups = list_problem_groups(page)
    assert [(group.names, group.cause) for group in groups] == [(["b", "d"], "detach"), (["a"], "dead_relu")]
    assert all(group.heading.endswith("of 4).") for group in groups)


def test_a_report_tells_the_error_alone_or_everything_else() -> None:
    raised, wrong, other = (build_problem_group(build(cause), []) for cause in ("refused", "detach", "data"))
    report = RunReport(ModelPage(), anomaly="A loss is NaN.", anomaly_problems=[other], problems=[wrong],
                       remarks=["b is frozen."], summary="Observed: 2 steps.", passes=3, steps=2)  # fmt: skip
    assert str(report) == f"A loss is NaN.\n\n{other}\n\n{wrong}\n\nb is frozen.\nObserved: 2 steps."
    report.raised, report.error = raised, ValueError("no")
    assert str(report) == f"{raised}\n\nObserved: 2 steps."
    data = report.to_json()
    expected = {"answers": [], "error": "ValueError: no", "anomaly": "A loss is NaN.", "summary": "Observed: 2 steps.",
                "passes": 3, "steps": 2}  # fmt: skip
    assert data.items() >= expected.items()
    assert [data["raised"]["cause"], data["problems"][0]["cause"], data["anomaly_problems"][0]["cause"]] == [
        "refused", "detach", "data"]  # fmt: skip
    empty = RunReport(ModelPage()).to_json()
    assert (empty["error"], empty["raised"], str(RunReport(ModelPage()))) == (None, None, "")


@pytest.mark.parametrize("fact", [
    {}, {"raised": 1}, {"anomaly": "NaN"}, {"problems": [1]}, {"missed_all_gradients": True}, {"is_cut_short": True},
    {"error": ValueError()},
])  # fmt: skip
def test_a_report_has_findings_if_anything_was_found_or_missed(fact) -> None:
    assert RunReport(ModelPage(), **fact).has_findings_or_unobserved_part is bool(fact)


@pytest.mark.parametrize(("error", "is_about"), [
    (TypeError("unsupported operand: 'NoneType' and 'float'"), True), (AttributeError("None has no"), True),
    (ValueError("None"), False), (TypeError("Nonexistent"), False), (None, False),
])  # fmt: skip
def test_an_error_is_about_none_by_its_class_and_its_words(error, is_about) -> None:
    assert is_about_none(error) is is_about


def test_sources_with_one_name_are_numbered_on_a_page() -> None:
    answers = [build("connected", name=name) for name in ("w", "b", "w", "w")]
    explanations = SourceExplanations(answers)
    assert list(explanations.page) == ["w", "b", "w (2)", "w (3)"]
    assert list(explanations.page.values()) == answers
    assert str(explanations) == str(explanations.page) and explanations._repr_html_() == explanations.page._repr_html_()


# -- steps, copies and saved states ----------------------------------------------------------------


def build_steps(every, pages, log=None):
    """Build explained steps whose recordings answer with the given pages, and the list of what was recorded."""
    steps, recorded = ExplainedSteps(every, log), []

    @contextmanager
    def record():
        page = pages.get(steps.steps)
        recorded.append(steps.steps)
        yield SimpleNamespace(explain=lambda model: page)
        recorded.append("closed")

    steps.record = record
    return steps, recorded


def test_every_nth_step_is_explained_and_a_problem_is_told_once() -> None:
    bad, good = ModelPage({"w": build()}), ModelPage({"w": build("connected")})
    logged = []
    steps, recorded = build_steps(2, {0: bad, 2: bad, 4: good}, lambda *call: logged.append(call))
    with pytest.warns(RuntimeWarning, match="Step 1:") as told:
        for _ in range(5):
            with steps.record_step(None):
                pass
    assert recorded == [0, "closed", 2, "closed", 4, "closed"] and len(told) == 1
    assert logged == [(1, bad), (3, bad), (5, good)] and (steps.page, steps.problems) == (good, [])


def test_a_step_that_fails_is_closed_and_not_counted() -> None:
    steps, recorded = build_steps(1, {})
    with pytest.raises(KeyError), steps.record_step(None):
        raise KeyError
    assert (steps.steps, recorded, steps._recording) == (0, [0, "closed"], None)
    with pytest.warns(RuntimeWarning, match="Step 1 could not be explained"), steps.record_step(None):
        pass
    assert steps.steps == 1


def test_what_is_not_given_has_its_documented_default() -> None:
    assert (ExplainedSteps().every, ModelPage().is_all_frozen, str(RunReport(ModelPage(), remarks=["a"]))) == (
        100, False, "a")  # fmt: skip
    effects = SideEffects()
    for effect in ("open('a.txt')", "open('b.txt')"):
        effects.report_effect_and_remember_first(effect)
    assert effects.first == "open('a.txt')"


def test_a_process_with_other_threads_cannot_be_copied(monkeypatch) -> None:
    monkeypatch.setattr(waiting_copies.sys, "platform", "linux")
    before = waiting_copies.describe_why_process_cannot_be_copied()
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    assert waiting_copies.describe_why_process_cannot_be_copied() == "other threads are running in the process"
    stop.set()
    thread.join()
    assert waiting_copies.describe_why_process_cannot_be_copied() == before
    monkeypatch.setattr(waiting_copies.sys, "platform", "darwin")
    assert "only on Linux" in waiting_copies.describe_why_process_cannot_be_copied()


GENERATOR, CACHE = np.random.default_rng(0), {"list": [1], "deep": [[2]]}


class Counter:
    """An object of the program."""

    def __init__(self):
        """Start at zero."""
        self.count, self.log = 0, []

    def step(self, values):
        """Change everything that can be reached."""
        self.count += 1
        self.log.append(self.count)
        values.append(np.random.rand() + GENERATOR.normal())
        CACHE["list"].append(2)
        CACHE["deep"][0].clear()
        CACHE["new"] = 3
        return values


def test_all_that_a_function_changes_is_restored() -> None:
    counter, values = Counter(), [nan]
    restore = save_state_and_build_restorer(counter.step, values)
    first = counter.step(values)[1:]
    restore()
    assert (counter.count, counter.log, len(values), CACHE) == (0, [], 1, {"list": [1], "deep": [[2]]})
    assert counter.step(values)[1:] == first
    restore()


# -- snapshots -------------------------------------------------------------------------------------


def build_snapshot():
    """Return the snapshot of a small recording, which may be changed."""
    recording = Recording("by hand")
    x = recording.add_leaf(3.0, name="x", site=("<replayed>", 1))
    y = recording.add_operation("mul", [x, x], 9.0)
    sweep = recording.add_backward_pass([y])
    sweep.set_adjoint(y, 1.0)
    sweep.send(y, x, 0, 3.0, 3.0)
    sweep.set_adjoint(x, 6.0)
    recording.close()
    return recording.snapshot()


def test_a_replay_has_the_sources_adjoints_and_values_of_its_snapshot() -> None:
    snapshot = build_snapshot()
    replay = Replay(snapshot)
    (sweep,) = replay.sweeps
    assert (sweep.target, sweep.sources) == ([1], snapshot["sweep"]["sources"])
    assert {row: float(adjoint.to_array()) for row, adjoint in sweep.adjoints.items()} == {0: 6.0, 1: 1.0}
    assert float(replay.rows[1].value.to_array()) == 9.0


WRONG = {
    "version": (lambda it: it.update(version=2), "version 2"),
    "missing rows": (lambda it: it.update(total=3), "2 rows of 3"),
    "rows from the middle": (lambda it: it.update(first=1), "needs all"),
    "a text that is no text": (lambda it: it["sources_text"].update({"a.py": 3}), "wrong type"),
    "a number": (lambda it: it["rows"][1].update(row=5), "row 1 is not a row"),
    "a truth value": (lambda it: it["rows"][1].update(output=True), "row 1 is not a row"),
    "a negative number": (lambda it: it["rows"][1].update(version=-1), "row 1 is not a row"),
    "an input that comes later": (lambda it: it["rows"][1].update(inputs=[1]), "row 1 is not a row"),
    "a call that comes later": (lambda it: it["rows"][0].update(call=1), "row 0 is not a row"),
    "another kind": (lambda it: it["rows"][0].update(kind="row"), "row 0 is not a row"),
    "a name that is no text": (lambda it: it["rows"][0].update(name=3), "row 0 is not a row"),
    "a scope that is no text": (lambda it: it["rows"][0].update(scope=[3]), "row 0 is not a row"),
    "a missing fact": (lambda it: it["rows"][0].pop("op"), "missing or has the wrong type"),
    "a pass to a missing row": (lambda it: it["sweep"].update(target=[9]), "refers to missing rows"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "told"), WRONG.values(), ids=WRONG)
def test_a_snapshot_that_is_none_is_refused(change, told) -> None:
    snapshot = build_snapshot()
    change(snapshot)
    with pytest.raises(ValueError, match=told):
        Replay(snapshot)
