"""When the checks of PyTorch programs suspect a mistake, on runs that are built by hand."""

import linecache
from types import SimpleNamespace

import numpy as np
import pytest

from tests.explain.hand_built_runs import build_rows, build_run

torch = pytest.importorskip("torch")

from minitape.bridges.torch import misused_operations, suspects, wrong_axes  # noqa: E402
from minitape.bridges.torch.parameter_history import ParameterHistory  # noqa: E402


def build(*descriptions, **facts):
    """Build a run of a program that called no module."""
    recording = SimpleNamespace(log=SimpleNamespace(history=ParameterHistory()))
    return build_run(build_rows(*descriptions), op_names=suspects.OPERATION_NAMES, **{"recording": recording} | facts)


def with_text(text):
    file = f"torch decisions {abs(hash(text))}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return file


def collect_findings():
    """Return accounts, with the arguments of all findings that are recorded in them."""
    noted = []
    accounts = SimpleNamespace(record_finding=lambda *finding, **fields: noted.append((*finding, fields)))
    return accounts, noted


def summarize(suspicions):
    return [(suspicion.cause, suspicion.variant, suspicion.row) for suspicion in suspicions]


# -- losses ----------------------------------------------------------------------------------------

PREDICTION = ("leaf", [], {"value": [0.2, 0.4]})


def with_targets(loss, targets, activation="sigmoid", prediction=PREDICTION):
    """Describe a run in which a loss compares an activation with targets."""
    return [prediction, (activation, [0], {"value": [0.2, 0.4]}), ("constant", [], {"value": targets}), (loss, [1, 2])]


RANGES = {
    "labels of 0 and 1": (with_targets("binary_cross_entropy", [0.0, 1.0]), []),
    "noisy labels": (with_targets("binary_cross_entropy", [-0.3, 1.3]), []),
    "labels of -1 and 1": (with_targets("binary_cross_entropy", [-1.0, 1.0]), [("loss_input", "targets", 3)]),
    "labels of 1 and 2": (with_targets("binary_cross_entropy_with_logits", [1.0, 2.0]), [("loss_input", "targets", 3)]),
    "unknown labels": ([PREDICTION, ("sigmoid", [0]), ("constant", []), ("binary_cross_entropy", [1, 2])], []),
    "probabilities": (with_targets("nll_loss", [0.0, 1.0], "softmax"), [("loss_input", "softmax", 1)]),
    "their logarithm": ([PREDICTION, ("log", [0], {"value": [-0.2, 0.0]}), ("nll_loss", [1, 1])], []),
    "the logarithm of more than one": ([PREDICTION, ("log", [0], {"value": [-0.2, 0.3]}), ("nll_loss", [1, 1])],
                                       [("loss_input", "nll_loss", 2)]),
    "a logarithm that is rounded": ([PREDICTION, ("log", [0], {"value": [-0.2, 0.04]}), ("kl_div", [1, 1])], []),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "expected"), RANGES.values(), ids=RANGES)
def test_a_loss_gets_values_outside_the_range_that_it_expects(descriptions, expected) -> None:
    assert summarize(suspects.check_range_of_loss_inputs_and_targets(build(*descriptions))) == expected


UNREACHED = {
    "a relu and positive targets": (with_targets("mse_loss", [0.0, 5.0], "relu"), False),
    "a relu and negative targets": (with_targets("mse_loss", [-4.0, 5.0], "relu"), True),
    "a relu and a little noise": (with_targets("mse_loss", [-0.1, 5.0], "relu"), False),
    "a tanh": (with_targets("l1_loss", [-3.0, 3.0], "tanh"), True),
    "a tanh that can": (with_targets("l1_loss", [-1.0, 1.0], "tanh"), False),
    "a softmax": (with_targets("mse_loss", [0.0, 7.0], "softmax"), True),
    "no activation": (with_targets("mse_loss", [-4.0, 5.0], "linear"), False),
    "targets that are all equal": (with_targets("mse_loss", [-4.0, -4.0], "relu"), False),
    "logits after a relu": (with_targets("binary_cross_entropy_with_logits", [0.0, 1.0], "relu"), True),
    "logits": (with_targets("binary_cross_entropy_with_logits", [0.0, 1.0], "tanh"), False),
    "the target first": ([PREDICTION, ("relu", [0], {"value": [0.2, 0.4]}), ("constant", [], {"value": [-4.0, 5.0]}),
                          ("mse_loss", [2, 1])], True),
    "a trained target": ([PREDICTION, ("relu", [0]), ("leaf", [], {"value": [-4.0, 5.0]}), ("mse_loss", [1, 2])],
                         False),
    "a reshaped prediction": ([PREDICTION, ("relu", [0]), ("view", [1]), ("constant", [], {"value": [-4.0, 5.0]}),
                               ("mse_loss", [2, 3])], True),
    "a single input": ([PREDICTION, ("relu", [0]), ("mse_loss", [1])], False),
}  # fmt: skip


@pytest.mark.parametrize(("descriptions", "is_unreached"), UNREACHED.values(), ids=UNREACHED)
def test_an_activation_cannot_reach_its_targets(descriptions, is_unreached) -> None:
    found = list(misused_operations.check_targets_outside_activation_range(build(*descriptions)))
    assert summarize(found) == ([("loss_input", "unreached", 1)] if is_unreached else [])


def test_the_targets_that_an_activation_cannot_reach_are_counted() -> None:
    (suspicion,) = misused_operations.check_targets_outside_activation_range(
        build(*with_targets("mse_loss", [-4.0, 0.0, 5.0], "relu"))
    )
    assert suspicion.fields == {"what": "relu", "n": 1, "all": 3, "one": -4.0, "two": 5.0}


LOGITS, LABELS = ("leaf", [], {"shape": (4, 4)}), ("constant", [], {"shape": (4,)})


def with_index(source="log_softmax", labels=(4,), result=(4, 4), last="mean", last_shape=()):
    return [LOGITS, (source, [0], {"shape": (4, 3)}), ("constant", [], {"shape": labels}),
            ("getitem", [1, 2], {"shape": result}), ("neg", [3], {"shape": result}),
            (last, [4], {"shape": last_shape})]  # fmt: skip


@pytest.mark.parametrize(("descriptions", "is_mistake"), [
    (with_index(), True), (with_index("softmax"), True), (with_index("linear"), False),
    (with_index(result=(4,)), False), (with_index(labels=(4, 1)), False), (with_index(last="max"), False),
    (with_index(last="sum", last_shape=(4,)), False), (with_index(labels=(2,), result=(4, 2)), False),
])  # fmt: skip
def test_log_probabilities_are_indexed_with_the_labels_of_all_samples(descriptions, is_mistake) -> None:
    found = summarize(misused_operations.check_log_probs_indexed_with_all_labels(build(*descriptions)))
    assert found == ([("broadcast", "labels", 3)] if is_mistake else [])


# -- axes ------------------------------------------------------------------------------------------

SEQUENCE = np.arange(30.0).reshape(5, 2, 3)


def with_selection(maker="multi_head_attention_forward", selected=SEQUENCE[:, -1], op="getitem", between=(), **facts):
    """Describe a layer with the shape (time, batch, features), and a selection from its result."""
    layer = (maker, [0], {"value": SEQUENCE, **facts})
    state = ("state", [0], {"shape": (1, 2, 3)})
    rows = [("leaf", [], {"shape": (5, 2, 3)}), layer, state]
    last = 1
    for between_op, shape in between:
        rows.append((between_op, [last], {"shape": shape}))
        last = len(rows) - 1
    return [*rows, (op, [last], {"value": selected})]


SELECTED = {
    "an example": (with_selection(), True),
    "a time step": (with_selection(selected=SEQUENCE[-1]), False),
    "the mean over examples": (with_selection(op="mean", selected=SEQUENCE.mean(1)), True),
    "another operation": (with_selection(op="matmul"), False),
    "behind a dropout": (with_selection(between=[("dropout", (5, 2, 3))]), True),
    "behind a transposition": (with_selection(between=[("transpose", (2, 5, 3))]), False),
    "the last example of an lstm": (with_selection("lstm"), True),
    "another example of an lstm": (with_selection("lstm", SEQUENCE[:, 0]), False),
    "another example of an attention": (with_selection(selected=SEQUENCE[:, 0]), True),
    "another result of the layer": (with_selection(output=1), False),
    "a layer that isn't recurrent": (with_selection("conv1d"), False),
}


@pytest.mark.parametrize(("descriptions", "is_mistake"), SELECTED.values(), ids=SELECTED)
def test_an_example_is_selected_in_place_of_a_time_step(descriptions, is_mistake) -> None:
    found = summarize(wrong_axes.check_example_selected_as_time_step(build(*descriptions)))
    assert found == ([("wrong_axis", "sequence", len(descriptions) - 1)] if is_mistake else [])


def test_a_program_that_selects_each_example_in_turn_means_it() -> None:
    descriptions = [*with_selection(), ("getitem", [1], {"value": SEQUENCE[:, 0]})]
    assert not list(wrong_axes.check_example_selected_as_time_step(build(*descriptions)))


def test_a_layer_with_the_batch_on_its_first_axis_has_its_time_steps_on_the_second() -> None:
    descriptions = with_selection("lstm")
    descriptions[2] = ("state", [0], {"shape": (1, 5, 3)})
    assert not list(wrong_axes.check_example_selected_as_time_step(build(*descriptions)))


def with_view(shape, new_shape, op="view", viewed="conv2d", reader=("relu", None), value=None, **facts):
    facts_of_view = {"shape": new_shape} if value is None else {"value": value}
    return [("leaf", [], {"shape": shape}), (viewed, [0], {"shape": shape, **facts}), (op, [1], facts_of_view),
            (reader[0], [2], {"shape": reader[1] or new_shape})]  # fmt: skip


VIEWED = {
    "swapped sizes": (with_view((2, 3, 4), (2, 4, 3)), "view"),
    "swapped sizes in a reshape": (with_view((2, 3, 4), (3, 2, 4), op="reshape"), "view"),
    "a transposition": (with_view((2, 3, 4), (2, 4, 3), op="transpose"), None),
    "a flat matrix": (with_view((2, 3, 4), (2, 12)), None),
    "swapped sizes of a matrix": (with_view((2, 3), (3, 2)), None),
    "an additional axis of one": (with_view((2, 3, 4), (2, 3, 1, 4)), None),
    "equal elements": (with_view((2, 3, 4), (2, 4, 3), value=np.ones((2, 4, 3))), None),
    "unequal elements": (with_view((2, 3, 4), (2, 4, 3), value=np.arange(24.0).reshape(2, 4, 3)), "view"),
    "a shift that leaves out one element": (with_view((2, 3, 4), (2, 4, 3), reader=("getitem", (2, 4, 2))), None),
    "a selection that leaves out two": (with_view((2, 3, 4), (2, 4, 3), reader=("getitem", (2, 4, 1))), "view"),
    "a final state": (with_view((2, 5, 3), (5, 6), viewed="lstm", output=1), "state"),
    "a final state by layers": (with_view((2, 5, 3), (2, 15), viewed="lstm", output=1), None),
    "a final state of as many layers as examples": (with_view((5, 5, 3), (5, 15), viewed="lstm", output=1), None),
}


@pytest.mark.parametrize(("descriptions", "variant"), VIEWED.values(), ids=VIEWED)
def test_a_view_cannot_swap_axes(descriptions, variant) -> None:
    found = summarize(wrong_axes.check_views_that_mix_axes(build(*descriptions)))
    assert found == ([] if variant is None else [("wrong_axis", variant, 3)])


def test_a_view_whose_readers_have_no_adjoint_is_left_alone() -> None:
    assert not list(wrong_axes.check_views_that_mix_axes(build(*with_view((2, 3, 4), (2, 4, 3)), adjoints={})))


def test_a_view_is_left_alone_if_only_another_operation_has_an_adjoint() -> None:
    descriptions = [*with_view((2, 3, 4), (2, 4, 3)), ("sum", [1])]
    assert not list(
        wrong_axes.check_views_that_mix_axes(build(*descriptions, adjoints={1: np.ones((2, 3, 4)), 4: 1.0}))
    )


OVER_EXAMPLES = np.array([[0.9, 0.8, 0.3], [0.1, 0.2, 0.7]])
DISTRIBUTIONS = {
    "over examples": ("softmax", OVER_EXAMPLES, "nll_loss", True),
    "the logarithm over examples": ("log_softmax", np.log(OVER_EXAMPLES), "nll_loss", True),
    "over classes": ("softmax", OVER_EXAMPLES.T, "nll_loss", False),
    "over both": ("softmax", np.full((2, 2), 0.5), "nll_loss", False),
    "one example": ("softmax", np.ones((1, 3)), "nll_loss", False),
    "no softmax": ("linear", OVER_EXAMPLES, "nll_loss", False),
    "a matrix of weights": ("softmax", OVER_EXAMPLES, "matmul", False),
    "a batch of matrices": ("softmax", np.stack([OVER_EXAMPLES, 1 - OVER_EXAMPLES]), "bmm", True),
    "a batch of matrices over rows": ("softmax", np.stack([OVER_EXAMPLES] * 2), "bmm", False),
    "another use": ("softmax", OVER_EXAMPLES, "mul", False),
}


@pytest.mark.parametrize(("op", "values", "use", "is_mistake"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_a_softmax_runs_over_the_examples(op, values, use, is_mistake) -> None:
    other = ("constant", [], {"shape": values.shape})
    run = build(("leaf", [], {"shape": values.shape}), (op, [0], {"value": values}), other, (use, [1, 2]))
    assert summarize(wrong_axes.check_softmax_over_examples(run)) == (
        [("wrong_axis", "softmax", 1)] if is_mistake else []
    )


# -- states, samples and targets -------------------------------------------------------------------


def with_detached_states(count, cause="detach", is_used=False, reached=True):
    """Describe a loop whose state is detached in each step; only the last step has an adjoint."""
    rows, state = [("leaf", [])], 0
    for _ in range(count):
        rows.append(("tanh", [state, 0], {"site": ("train.py", 3)}))
        rows.append(("detach", [len(rows) - 1], {"site": ("train.py", 4), "cause": cause, "tracked": False}))
        state = len(rows) - 1
    rows.append(("tanh", [state, 0], {"site": ("train.py", 3) if reached else ("train.py", 9)}))
    adjoints = {len(rows) - 1: 1.0} | ({1: 1.0, 3: 1.0, 5: 1.0} if is_used else {})
    return build(*rows, adjoints=adjoints, sources_with_gradient={7: "w"})


@pytest.mark.parametrize(("run", "is_lost"), [
    (with_detached_states(3), True), (with_detached_states(2), False), (with_detached_states(3, "no_grad"), False),
    (with_detached_states(3, "data"), True), (with_detached_states(3, is_used=True), False),
    (with_detached_states(3, reached=False), False),
])  # fmt: skip
def test_a_state_is_detached_in_each_step_of_a_loop(run, is_lost) -> None:
    found = list(suspects.check_state_detached_in_each_loop_step(run))
    assert [(it.cause, it.variant, it.site[1]) for it in found] == ([("in_part", "steps", 4)] if is_lost else [])
    assert all(suspicion.source_keys == {7} and suspicion.fields["n"] == 3 for suspicion in found)


VECTOR = {"shape": (4,)}
REWARDS = ("constant", [], VECTOR)


def with_target(target_op="add", terms=(1, 2), loss="mse_loss", other_leaf=0):
    """Describe a loss that compares a prediction with rewards plus another prediction."""
    return [("leaf", [], VECTOR), ("linear", [0], VECTOR), REWARDS, (target_op, list(terms), VECTOR),
            ("leaf", [], VECTOR), ("linear", [other_leaf], VECTOR), (loss, [5, 3])]  # fmt: skip


@pytest.mark.parametrize(("descriptions", "is_remarked"), [
    (with_target(), True), (with_target("sub"), True), (with_target("matmul"), False),
    (with_target(terms=(1, 1)), False), (with_target(other_leaf=4), False), (with_target(loss="sub"), True),
    (with_target(loss="matmul"), False), (with_target(loss="mul"), False),
])  # fmt: skip
def test_a_target_is_computed_from_the_same_weights_as_the_prediction(descriptions, is_remarked) -> None:
    noted = []
    accounts = SimpleNamespace(record_finding=lambda *finding, is_remark: noted.append((*finding, is_remark)))
    suspects.record_bootstrapped_targets_with_gradient(build(*descriptions), accounts)
    assert noted == ([("target_gradient", "", ("train.py", 4), True)] if is_remarked else [])


ACTOR = "lp = policy.log_prob(action)\nvalue = critic(state)\nadvantage = reward + value\nloss = lp * advantage\n"


@pytest.mark.parametrize(("text", "terms", "op", "is_remarked"), [
    (ACTOR, (4, 3), "add", True), (ACTOR, (3, 4), "sub", True), (ACTOR, (3, 3), "add", False),
    (ACTOR, (4, 3), "matmul", False), (ACTOR.replace("critic", "policy.log_prob"), (4, 3), "add", False),
    (ACTOR.replace("policy.log_prob", "policy.entropy"), (4, 3), "add", False),
    (ACTOR.replace("policy.log_prob(action)", "log(policy.log_prob(action))"), (4, 3), "add", False),
])  # fmt: skip
def test_an_advantage_passes_a_gradient_to_the_critic(text, terms, op, is_remarked) -> None:
    lines = [VECTOR | {"site": (with_text(text), line)} for line in range(1, 5)]
    run = build(("leaf", [], VECTOR), ("log", [0], lines[0]), ("leaf", [], VECTOR), ("linear", [2], lines[1]), REWARDS,
                (op, list(terms), lines[2]), ("mul", [1, 5], lines[3]))  # fmt: skip
    accounts, noted = collect_findings()
    suspects.record_bootstrapped_targets_with_gradient(run, accounts)
    assert [(*it[:2], it[2][1]) for it in noted] == ([("target_gradient", "advantage", 3)] if is_remarked else [])


def with_sample(text, op="normal", reader="mul", dtype="float32", tracked=True, cause="", shape=(4,), last=(4, 5)):
    """Describe a sample on line 1, its log-probability on line 2 and a loss that may read both on line 3."""
    lines = [{"site": (with_text(text), line), "shape": shape} for line in range(1, 4)]
    run = build(
        ("leaf", [], {"tracked": tracked}), (op, [0], lines[0] | {"dtype": dtype, "cause": cause, "tracked": False}),
        ("leaf", []), ("constant", [], {"shape": shape}), (reader, [1, 2], lines[1]), ("sin", [3], lines[2]),
        ("mul", list(last), lines[2]),
    )  # fmt: skip
    for row in run.rows:
        row.extra = SimpleNamespace(call_stack=[row.site], find_object=lambda: None)
    return run


SAMPLED = "action = torch.normal(mean, 1.0)\nscore = action * scale\nloss = score * reward\n"
SCORED = SAMPLED.replace("action * scale", "policy.log_prob(action)")
DRAWN = SAMPLED.replace("torch.normal(mean, 1.0)", "policy.sample()")
SAMPLES = {
    "a sample of normal": (with_sample(SAMPLED), "normal"),
    "a sample without a gradient": (with_sample(DRAWN, "sub", cause="no_grad"), ""),
    "no sample": (with_sample(SAMPLED, "sub", cause="no_grad"), None),
    "a sample that passes a gradient": (with_sample(DRAWN, "sub"), None),
    "an integer": (with_sample(SAMPLED, dtype="int64"), None),
    "a sample of bfloat16": (with_sample(SAMPLED, dtype="bfloat16"), "normal"),
    "a sample of fixed parameters": (with_sample(SAMPLED, tracked=False), None),
    "a sample that the loss doesn't read": (with_sample(SAMPLED, last=(5, 5)), None),
    "a sample that only its log-probability reads": (with_sample(SCORED), None),
    "a sample that the loss also reads": (with_sample(SCORED, last=(1, 5)), "normal"),
    "a sample under no_grad": (with_sample("with torch.no_grad(): " + DRAWN, "sub", cause="no_grad"), None),
}


@pytest.mark.parametrize(("run", "variant"), SAMPLES.values(), ids=SAMPLES)
def test_a_sample_blocks_gradients_and_changes_the_target(run, variant) -> None:
    found = list(suspects.check_samples_used_outside_log_prob(run))
    assert [(it.cause, it.variant, it.site[1]) for it in found] == (
        [] if variant is None else [("sampled", variant, 1)]
    )


def test_a_derivative_that_is_compared_with_data_is_no_bootstrapped_target() -> None:
    noted = []
    accounts = SimpleNamespace(record_finding=lambda *finding, is_remark: noted.append(finding))
    run = build(*with_target(loss="sub"))
    run.sweeps[0].function_name = "grad"
    run.sweeps.append(SimpleNamespace(function_name="backward", adjoints={}))
    suspects.record_bootstrapped_targets_with_gradient(run, accounts)
    assert not noted


@pytest.mark.parametrize(("norms", "steps", "names"), [
    ([1.0, 0.0], 3, ["stacked"]), ([1.0, 0.0], 2, []), ([0.0, 1.0], 3, []), ([0.0, 0.0], 3, []), ([1.0, 1.0], 3, []),
])  # fmt: skip
def test_the_last_layer_of_a_recurrent_network_has_no_effect(norms, steps, names) -> None:
    run = build(("leaf", []), ("leaf", []), ("lstm", [0, 1]))
    weights = [object(), object()]
    for row, weight in zip(run.rows, weights, strict=False):
        row.extra = SimpleNamespace(find_object=lambda weight=weight: weight)
    noted = []
    accounts = SimpleNamespace(
        accounts={id(it): SimpleNamespace(key=id(it), norms=[n, n, n]) for it, n in zip(weights, norms, strict=True)},
        taken_step_count=steps,
        record_finding=lambda cause, variant, site, keys, **fields: noted.append((variant, keys, fields)),
    )
    misused_operations.record_last_recurrent_layer_without_gradient(run, accounts)
    assert [variant for variant, _, _ in noted] == names
    assert all(keys == [id(weights[1])] and fields["n"] == 1 and fields["all"] == 2 for _, keys, fields in noted)


# -- operations that a program misuses -------------------------------------------------------------


def with_addition(text="x[i] += y\n", index=(0, 2, 0), dtype="int64", tracked=True):
    here = {"site": (with_text(text), 1), "tracked": tracked}
    facts = {"dtype": dtype} | ({} if index is None else {"value": index})
    return [("leaf", []), ("constant", [], facts), ("leaf", []), ("setitem", [0, 2, 1], here), ("sum", [3])]


@pytest.mark.parametrize(("descriptions", "lost"), [
    (with_addition(), [(1, 3)]), (with_addition(index=[0, 0, 0, 1]), [(2, 4)]), (with_addition(index=[0, 1, 2]), []),
    (with_addition("x[i] = y\n"), []), (with_addition(tracked=False), []), (with_addition(dtype="float32"), []),
    (with_addition(index=None), []),
])  # fmt: skip
def test_an_addition_in_place_loses_all_but_one_of_the_values_at_a_repeated_index(descriptions, lost) -> None:
    found = list(misused_operations.check_addition_at_repeated_indices(build(*descriptions)))
    assert [(it.cause, it.variant, it.row) for it in found] == [("in_part", "repeated", 3)] * len(lost)
    assert [(it.fields["n"], it.fields["all"]) for it in found] == lost


FILLED = "model.weight.data.zero_()\nnn.init.ones_(model.weight)\nw.fill_(0.5)\nstep()\n"
EQUAL_UNITS = {
    "equal rows": (torch.ones(3, 2), 3, FILLED, 2),
    "rows that differ by rounding": (torch.ones(3, 2) + torch.tensor([[0.0], [1e-7], [0.0]]), 3, FILLED, 2),
    "unequal rows": (torch.tensor([[1.0, 1.0], [1.0, 1.1]]), 3, FILLED, None),
    "rows that are equal at first": (torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 2.0]]), 3, FILLED, None),
    "unequal columns": (torch.tensor([[1.0, 2.0], [1.0, 2.0]]), 3, FILLED, 2),
    "two steps": (torch.ones(3, 2), 2, FILLED, None),
    "a single row": (torch.ones(1, 2), 3, FILLED, None),
    "a vector": (torch.ones(3), 3, FILLED, None),
    "no line that fills a weight": (torch.ones(3, 2), 3, "step()\n", None),
    "another line, as the history knows": (torch.ones(3, 2), 3, "step()\n", 9),
}


@pytest.mark.parametrize(("weight", "step_count", "text", "line"), EQUAL_UNITS.values(), ids=EQUAL_UNITS)
def test_units_that_began_equal_stay_equal(weight, step_count, text, line) -> None:
    file = with_text(text)
    run = build(("leaf", []), ("linear", [0]), sources_with_gradient={7: weight})
    run.find_optimizer_steps = lambda source: [SimpleNamespace(site=(file, 4))] * step_count
    if line == 9:
        run.recording.log.history.constant_fill_sites[weight] = (file, 9)
    found = list(misused_operations.check_units_that_stay_equal(run))
    assert [(it.site, it.fields, it.source_keys) for it in found] == (
        [] if line is None else [((file, line), {"n": len(weight), "all": step_count}, [7])]
    )


def with_second_derivative(activation="relu", target_op="grad", second=(0.0, 0.0), tracked=True):
    """Describe a derivative of a derivative: the second result follows the rows that existed at its pass."""
    return [("leaf", [], {"value": [1.0, 2.0]}), (activation, [0], {"value": [1.0, 2.0], "tracked": tracked}),
            (target_op, [1], {"value": [1.0, 1.0]}), ("sum", [2], {"value": 2.0}),
            ("grad", [3], {"value": list(second)}), ("mul", [4], {"value": [0.0, 0.0]})]  # fmt: skip


@pytest.mark.parametrize(("descriptions", "function", "row_count", "is_zero"), [
    (with_second_derivative(), "grad", 4, True), (with_second_derivative("abs"), "grad", 4, True),
    (with_second_derivative("tanh"), "grad", 4, False), (with_second_derivative(target_op="mul"), "grad", 4, False),
    (with_second_derivative(second=(0.0, 1.0)), "grad", 4, False), (with_second_derivative(), "backward", 4, False),
    (with_second_derivative(tracked=False), "grad", 4, False), (with_second_derivative(), "grad", 6, False),
    (with_second_derivative(second=(0.0, 1.0)), "grad", 5, True), (with_second_derivative(), "grad", 3, False),
])  # fmt: skip
def test_the_second_derivative_of_a_piecewise_linear_activation_is_zero(
    descriptions, function, row_count, is_zero
) -> None:
    run = build(*descriptions, sources_with_gradient={7: "w"})
    (sweep,) = run.sweeps
    sweep.function_name, sweep.row_count, sweep.target = function, row_count, [3]
    found = [(it.variant, it.site[1], it.fields) for it in misused_operations.check_zero_second_derivatives(run)]
    assert found == ([("second", 2, {"what": descriptions[1][0]})] if is_zero else [])


BATCH = ("constant", [], {"value": [1.0, 2.0]})
OTHER_BATCH = ("constant", [], {"value": [1.0, 3.0]})


@pytest.mark.parametrize(("batches", "read", "count"), [
    ([BATCH] * 3, (1, 2, 3), 3), ([BATCH] * 2, (1, 2), None), ([BATCH, BATCH, OTHER_BATCH], (1, 2, 3), None),
    ([BATCH] * 3, (), None), ([BATCH] * 4, (1, 2, 3, 4), 4),
])  # fmt: skip
def test_each_step_begins_its_data_loader_again(batches, read, count) -> None:
    run = build(("leaf", []), *batches, ("matmul", [0, *read]))
    indices = range(1, len(batches) + 1)
    run.recording.log.first_batches = {("train.py", 3): [[index] for index in indices]}
    accounts, noted = collect_findings()
    misused_operations.record_first_batch_used_in_every_step(run, accounts)
    assert noted == ([] if count is None else [("same_batch", "", ("train.py", 3), {"n": count})])


def test_a_batch_counts_without_the_part_that_no_target_reads() -> None:
    descriptions = [("leaf", []), *[BATCH, ("constant", [], {"value": [0.0]})] * 3, ("matmul", [0, 1, 3, 5])]
    descriptions[4] = ("constant", [], {"value": [9.0]})
    run = build(*descriptions)
    run.recording.log.first_batches = {("train.py", 3): [[1, 2], [3, 4], [5, 6]]}
    accounts, noted = collect_findings()
    misused_operations.record_first_batch_used_in_every_step(run, accounts)
    assert [finding[:2] for finding in noted] == [("same_batch", "")]


MODEL = "class Model(nn.Module):\n    def forward(self, x):\n        return {}\nmodel.eval()\n"
DROPOUTS = {
    "the function": ("F.dropout(x, 0.5)", "F.dropout"),
    "the function by its whole name": ("torch.nn.functional.dropout(x)", "torch.nn.functional.dropout"),
    "a layer that is made for the call": ("nn.Dropout(0.5)(x)", "nn.Dropout"),
    "the function, with the mode": ("F.dropout(x, 0.5, self.training)", None),
    "the function, with its third argument": ("F.dropout(x, 0.5, mode)", None),
    "a layer of the module": ("self.dropout(x)", None),
    "another layer that is made for the call": ("nn.Linear(2, 2)(x)", None),
}


@pytest.mark.parametrize(("call", "name"), DROPOUTS.values(), ids=DROPOUTS)
def test_a_dropout_stays_active_after_eval(call, name) -> None:
    run = build(("leaf", []), ("dropout", [0], {"site": (with_text(MODEL.format(call)), 3), "scope": ["model"]}))
    accounts, noted = collect_findings()
    misused_operations.record_dropout_that_ignores_eval(run, accounts)
    assert [(*finding[:2], finding[3]) for finding in noted] == (
        [] if name is None else [("layer_mode", "always", {"is_remark": True, "what": name})]
    )


@pytest.mark.parametrize(("text", "scope"), [
    (MODEL.format("F.dropout(x)"), []), (MODEL.format("F.dropout(x)").replace("model.eval()", "model.train()"), ["m"]),
])  # fmt: skip
def test_a_dropout_outside_modules_or_without_eval_is_meant_to_be_active(text, scope) -> None:
    run = build(("leaf", []), ("dropout", [0], {"site": (with_text(text), 3), "scope": scope}))
    accounts, noted = collect_findings()
    misused_operations.record_dropout_that_ignores_eval(run, accounts)
    assert noted == []


UPDATE = {"cause": "no_grad"}


@pytest.mark.parametrize(("descriptions", "facts", "is_lost"), [
    ([("sub", [0, 2], UPDATE)], {}, True), ([("add", [0, 2], UPDATE)], {}, True),
    ([("mul", [0, 2], UPDATE)], {}, False),
    ([("sub", [0, 2])], {}, False), ([("sub", [0, 2], UPDATE), ("sin", [3])], {}, False),
    ([("sub", [2, 0], UPDATE)], {}, False), ([("sub", [0, 0], UPDATE)], {}, False),
    ([("sub", [0, 2], UPDATE)], {"passes": 2}, False), ([("sub", [0, 2], UPDATE)], {"numbers": [1]}, False),
    ([("sub", [0, 2], UPDATE)], {"is_unchanged": False}, False), ([("sub", [0, 2], UPDATE)], {"known": False}, False),
])  # fmt: skip
def test_the_result_of_an_update_by_hand_is_lost(descriptions, facts, is_lost) -> None:
    run = build(("leaf", []), ("gradient", [], {"cause": "create_graph"}), ("mul", [1, 1]), *descriptions)
    weight = object()
    for row in run.rows:
        row.extra = SimpleNamespace(find_object=lambda row=row: weight if row.index == 0 else None)
    accounts, noted = collect_findings()
    account = SimpleNamespace(key=id(weight), optimizer_numbers=facts.get("numbers", []),
                              is_unchanged_since_first_gradient=lambda: facts.get("is_unchanged", True))  # fmt: skip
    accounts.accounts = {id(weight): account} if facts.get("known", True) else {}
    accounts.passes = facts.get("passes", 3)
    misused_operations.record_manual_updates_never_applied(run, accounts)
    expected = ("not_applied", "lost", ("train.py", 4), [id(weight)], {"n": 3})
    assert noted == ([expected] if is_lost else [])


# -- the lines of an optimizer ---------------------------------------------------------------------

TRAINING = """model = make()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
schedule = StepLR(optimizer, 5)
other = MultiStepLR(optimizer, [1])
for step in range(9):
    optimizer.step()
    schedule.step()
    step()
    unknown.step()
"""


@pytest.mark.parametrize(("line", "creation"), [(6, 2), (7, 3), (8, 8), (9, 9)])
def test_the_line_that_created_an_optimizer_is_found_from_its_step(line, creation) -> None:
    file = with_text(TRAINING)
    assert suspects.find_optimizer_creation_or_step_site((file, line)) == (file, creation)


RATE = TRAINING.replace("for step", "for group in optimizer.param_groups:\n    group['lr'] = 0.0\nfor step")


@pytest.mark.parametrize(("text", "excluded", "line"), [
    (TRAINING, (), 3), (TRAINING, (3,), 4), (TRAINING, (3, 4), 2), (RATE, (3, 4), 6), (RATE, (), 3),
])  # fmt: skip
def test_the_line_that_sets_a_learning_rate_or_creates_its_schedule_is_found(text, excluded, line) -> None:
    file = with_text(text)
    step = next(number for number, it in enumerate(text.splitlines(), 1) if "optimizer.step()" in it)
    found = suspects.find_learning_rate_or_schedule_site((file, step), [(file, it) for it in excluded])
    assert found == (file, line)
