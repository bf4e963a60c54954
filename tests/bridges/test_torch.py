"""The bridge to PyTorch: what is on screen is what autograd computed, and the program does not notice."""

import json
import warnings
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install 'minitape[torch]'")

from torch.overrides import TorchFunctionMode  # noqa: E402

import minitape as tf  # noqa: E402 - behind the check for PyTorch
from minitape.bridges import framework_patches, kept_values  # noqa: E402
from minitape.bridges import torch as bridge  # noqa: E402
from minitape.bridges.recording import map_layer_paths_to_descriptions  # noqa: E402
from minitape.bridges.torch import kept_tensors, row_log  # noqa: E402
from minitape.bridges.torch.kept_tensors import KeptTensors, TorchValue, to_numpy  # noqa: E402
from minitape.bridges.torch.ledger import tensor_accounts  # noqa: E402
from minitape.bridges.torch.ledger.tensor_accounts import compute_fingerprint, has_fingerprint  # noqa: E402
from minitape.picture.layer_folds import fold_layers  # noqa: E402
from minitape.picture.shown_values import to_value_fields  # noqa: E402

from .cases import SWEEP_OF_A_SQUARE  # noqa: E402
from .torch_programs import PROGRAMS  # noqa: E402

# CPU kernels that PyTorch warns of in programs that are right
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*nested tensor.*", "ignore:.*create_graph=True.*", "ignore:.torch.cpu.amp.autocast:FutureWarning"
)


def run_program(name):
    torch.manual_seed(7)
    return PROGRAMS[name]()


def are_bits_equal(a, b):
    """Equal to the last bit, NaN and the sign of zero included."""
    if a is None or b is None:
        return a is b
    a, b = torch.as_tensor(a).detach(), torch.as_tensor(b).detach()
    return a.dtype == b.dtype and a.shape == b.shape and to_numpy(a).tobytes() == to_numpy(b).tobytes()


class Retained(TorchFunctionMode):
    """What PyTorch's own ``retain_grad`` says of every result, in each backward pass."""

    def __init__(self):
        super().__init__()
        self.results, self.passes = [], []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if torch._C._are_functorch_transforms_active():
            return func(*args, **kwargs)
        backward = func in (torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad)
        for tensor in self.results if backward else ():
            tensor.grad = None
        out = func(*args, **kwargs)
        if backward:
            self.passes.append([(t, None if t.grad is None else t.grad.detach().clone()) for t in self.results])
        else:
            for tensor in out if isinstance(out, (tuple, list)) else [out]:
                if torch.is_grad_enabled() and isinstance(tensor, torch.Tensor) and tensor.grad_fn is not None:
                    tensor.retain_grad()
                    self.results.append(tensor)
        return out


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_changes_for_the_program(name):
    plain = run_program(name)
    with bridge.record() as recording:
        recorded = run_program(name)
    assert recording.internal_error is None
    assert all(are_bits_equal(a, b) for a, b in zip(plain, recorded, strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_adjoint_is_autograds_own(name):
    reference = Retained()
    with reference, bridge.record() as recording:
        run_program(name)
    assert recording.internal_error is None
    if name == "mesh_einsum_and_where" and torch.__version__ < "2.5":
        pytest.skip("this PyTorch hides backward() of a list from modes, and so from the reference")
    assert len(recording.sweeps) == len(reference.passes)
    compared = set()
    for sweep, retained in zip(recording.sweeps, reference.passes, strict=True):
        for tensor, grad in retained:
            rows = [row for row in recording.log.list_rows(tensor) if recording.rows[row].kind == "operation"]
            if rows and grad is not None:
                adjoint = sweep.adjoints[rows[-1]]
                assert are_bits_equal(adjoint.content, grad), recording.rows[rows[-1]].op
                assert adjoint.shown() == to_value_fields(to_numpy(grad))
                compared.add(rows[-1])
        for call, edges in sweep.edges.items():
            assert recording.rows[call].kind == "operation"
            for row, port, _, _ in edges:
                assert recording.rows[call].inputs[port] == row
        for row, adjoint in sweep.adjoints.items():  # the last sum is the adjoint itself
            sums = [edge[3] for edges in sweep.edges.values() for edge in edges if edge[0] == row]
            is_last_sum = any(are_bits_equal(total.content, adjoint.content) for total in sums)
            assert not sums or is_last_sum or name == "hooks_of_the_program"
    swept = {row for sweep in recording.sweeps for row in sweep.adjoints if recording.rows[row].kind == "operation"}
    unseen = {row for row in swept - compared if recording.rows[row].op in ("Square", "grad", "CopySlices")}
    alive_rows = {row for row in swept - compared - unseen if recording.rows[row].extra.tensor_ref() is not None}
    changed = {before for before, _ in recording.log.in_place_changes}
    assert alive_rows <= changed, [recording.rows[row].op for row in alive_rows - changed]
    assert compared


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_of_leaves_are_those_that_the_program_gets(name):
    with bridge.record() as recording:
        run_program(name)
    snapshot = recording.snapshot()
    json.dumps(snapshot, allow_nan=False)
    rows = snapshot["rows"]
    assert [row["row"] for row in rows] == list(range(len(rows)))
    assert all(i < row["row"] for row in rows for i in row["inputs"])
    for row in rows:
        entry = recording.rows[row["row"]]
        assert row["file"] == PROGRAMS[name].__code__.co_filename, row
        assert row["dtype"] == entry.dtype and row["value"] is not None
    assert any(gradient is not None for gradient in snapshot["sweep"]["gradients"])


def test_rows_have_their_lines_names_and_modules():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList([torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x * 2

    net, first = Net(), test_rows_have_their_lines_names_and_modules.__code__.co_firstlineno
    with bridge.record() as recording:
        loss = net(torch.ones(1, 2)).sum()
        loss.backward()
    rows = [(r["name"] or r["op"], r["line"] - first, r["scope"]) for r in recording.snapshot()["rows"]]
    assert rows == [
        ("leaf", 13, []), ("layers.0.weight", 8, []), ("layers.0.bias", 8, []), ("linear", 8, ["net", "layers.0"]),
        ("layers.1.weight", 8, []), ("layers.1.bias", 8, []), ("linear", 8, ["net", "layers.1"]), ("mul", 9, ["net"]),
        ("loss", 13, []),
    ]  # fmt: skip


def test_modules_of_the_same_class_have_their_own_names():
    enc, others = torch.nn.Linear(2, 3), {"dec": torch.nn.Linear(3, 1)}
    with bridge.record() as recording:
        for _ in range(2):
            others["dec"](enc(torch.ones(1, 2)))
        torch.nn.Tanh()(torch.nn.Tanh()(torch.ones(2)))
    scopes = [row["scope"] for row in recording.snapshot()["rows"] if row["kind"] == "operation"]
    assert scopes[:4] == [["enc"], ["Linear"]] * 2  # An element of a dictionary is no variable.
    assert scopes[4] == ["Tanh"] and scopes[5] != ["Tanh"]  # The program has no names for these two.


def test_elements_have_their_index_as_label():
    x = torch.ones(2, 3, requires_grad=True)
    with bridge.record() as recording:
        y = x[0, 1] * x[1][2] + x[:, 1:].sum() + x[x > 0].sum() + x[..., None, ::2].sum()
    labels = [row["label"] for row in recording.snapshot()["rows"] if row["op"] == "getitem"]
    assert labels == ["[0, 1]", "[1]", "[2]", "[:, 1:]", "[…]", "[…, None, ::2]"] and y.requires_grad


def test_results_with_the_same_name_are_numbered():
    def run(w):
        h = torch.ones(())
        for _ in range(3):
            h = torch.tanh(w * h)
        p = w * w * h  # Two products: one has no name, and a recording doesn't know which.
        return p, h

    with bridge.record() as recording:
        run(torch.tensor(0.5, requires_grad=True))
    names = [(row["op"], row["name"]) for row in tf.snapshot(recording)["rows"] if row["kind"] == "operation"]
    assert [name for op, name in names if op == "tanh"] == ["h₁", "h₂", "h₃"]
    assert {name for op, name in names if op == "mul"} == {None}


def test_each_layer_of_a_model_is_one_row_of_a_folded_picture():
    net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Sequential(torch.nn.Linear(3, 1)))
    x = torch.ones(4, 2, requires_grad=True)
    with bridge.record() as recording:
        loss = net(x).sum()
        loss.backward()
    snapshot = recording.snapshot()
    folded = fold_layers(snapshot, map_layer_paths_to_descriptions(net))
    first, relu, last, total = [row for row in folded["rows"] if row["kind"] == "operation"]
    assert (first["name"], first["label"]) == ("layer 0", "Linear, 9 parameters")
    assert (last["name"], last["label"], last["scope"]) == ("2.0", "Linear, 4 parameters", ["net", "2"])
    assert (relu["inputs"], last["inputs"]) == ([first["row"]], [relu["row"]])
    sent = {edge["input"]: edge["product"]["data"] for step in folded["sweep"]["steps"] for edge in step["edges"]}
    assert sent[0] == x.grad.tolist() and total["name"] == "loss"


def test_a_step_has_what_each_input_is_given():
    x = torch.tensor(3.0, requires_grad=True)
    with bridge.record() as recording:
        y = x * x
        y.backward()
    assert tf.snapshot(recording, y)["sweep"] == SWEEP_OF_A_SQUARE


def test_a_step_has_the_adjoints_of_all_results_of_its_call():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with bridge.record() as recording:
        first, _, third = x.chunk(3)
        (first * 5.0 + third * 7.0).sum().backward()
    snapshot = recording.snapshot()
    results = [row["row"] for row in snapshot["rows"] if row["op"] == "chunk"]
    (step,) = (step for step in snapshot["sweep"]["steps"] if step["row"] in results)
    adjoints = [(one["row"], one["adjoint"]["data"]) for one in (step, *step["others"])]
    assert adjoints == [*zip(results, ([5.0], [0.0], [7.0]), strict=True)]  # The target does not depend on the second.


def test_of_several_backward_passes_the_target_chooses_one():
    w = torch.tensor(2.0, requires_grad=True)
    with bridge.record() as recording:
        one, two = w * 3, w * w
        one.backward()
        two.backward()
    assert recording.snapshot()["sweep"]["gradients"][0]["data"] == 4.0
    assert recording.snapshot(one)["sweep"]["gradients"][0]["data"] == 3.0
    assert recording.snapshot(w)["sweep"] is None


def test_a_value_stays_as_it_was_when_the_tensor_changes():
    x = torch.zeros(100, 100)
    with bridge.record() as recording:
        y = x + 1
        before = recording.find_row(y)
        y.mul_(5)
        y.data.fill_(7)
    assert recording.rows[before].value.shown()["stats"]["max"] == 1.0
    assert recording.rows[before + 1].value.shown()["stats"]["max"] == 5.0


def test_a_value_that_changed_unseen_is_not_shown():
    x = torch.zeros(100, 100)
    with bridge.record() as recording:
        y = x + 1
    y.add_(1)
    assert recording.snapshot()["rows"][-1]["value"] is None
    assert recording.snapshot()["rows"][-1]["released"] is True


def test_memory_is_bounded_by_summaries(monkeypatch):
    monkeypatch.setattr(kept_values, "BYTE_LIMIT", 10 * 40_000)
    keeper = KeptTensors()
    values = [keeper.keep_value(torch.full((100, 100), float(k))) for k in range(40)]
    assert sum(value.content is not None for value in values) <= 10
    keeper.copy_summaries_of_large_tensors_to_host()
    assert [value.shown()["stats"]["min"] for value in values] == list(range(40))
    assert values[0].compute_zero_and_finite_flags() == (True, True) and values[1].compute_zero_and_finite_flags() == (
        False,
        True,
    )


def test_rows_are_bounded(monkeypatch):
    monkeypatch.setattr(row_log, "ROW_LIMIT", 10)
    x = torch.tensor(1.0, requires_grad=True)
    with bridge.record() as recording:
        y = x
        for _ in range(30):
            y = y * 2
        y.backward()
    assert len(recording.rows) == 10 and recording.left_out == 21
    assert x.grad == 2.0**30


def test_pytorch_is_as_it_was_after_an_exception():
    from torch.nn.modules import module as modules
    from torch.optim import optimizer as optimizers

    apply, w = torch.autograd.Function.__dict__["apply"], torch.nn.Parameter(torch.ones(3))
    hooks = modules._global_forward_hooks, modules._global_forward_pre_hooks, optimizers._global_optimizer_pre_hooks
    before = [dict(h) for h in hooks]
    with pytest.raises(ZeroDivisionError), bridge.record():
        (w * w).sum().backward()
        1 / 0  # noqa: B018 - the exception
    assert torch.autograd.Function.__dict__["apply"] is apply
    assert [dict(h) for h in hooks] == before
    assert w._backward_hooks is None
    assert torch.overrides._get_current_function_mode_stack() == []
    y = w * 2
    assert y._backward_hooks is None


def test_a_mistake_of_the_bridge_ends_the_recording_and_not_the_program(monkeypatch):
    def broken(*_):
        raise KeyError("mistake")

    monkeypatch.setattr(row_log.TorchLog, "record_operation", broken)
    x = torch.tensor(2.0, requires_grad=True)
    with (
        pytest.warns(RuntimeWarning, match="The recording ended early: KeyError: 'mistake'"),
        bridge.record() as recording,
    ):
        (x * x).backward()
    assert x.grad == 4.0
    assert isinstance(recording.internal_error, KeyError)


def test_nested_recordings_both_see_the_program():
    x = torch.tensor(2.0, requires_grad=True)
    with bridge.record() as outer:
        y = x * 3
        with bridge.record() as inner:
            y.exp().backward()
    assert [e.op for e in inner.rows] == ["leaf", "Mul", "exp"]
    assert [e.op for e in outer.rows] == ["leaf", "mul", "exp"]
    assert len(outer.sweeps) == len(inner.sweeps) == 1


def test_the_pictures_take_a_recording(tmp_path):
    from minitape_widgets import TapeView
    from minitape_widgets.live_updates import flush_view

    with bridge.record() as recording:
        early = TapeView(recording)
        run_program("cnn_with_batch_norm")
    picture, view = tf.draw(recording), TapeView(recording)
    assert repr(view) == f"TapeView({len(recording.rows)} rows, 1 tape)"
    flush_view(early)
    assert repr(early) == repr(view)
    assert "conv2d" in picture.svg
    view.save(tmp_path / "page.html")
    assert "conv2d" in Path(tmp_path / "page.html").read_text()
    assert view._build_snapshot()["sweep"]["steps"] == recording.snapshot()["sweep"]["steps"]
    for one in (early, view):
        one.close()


def test_values_of_all_kinds_are_shown():
    assert TorchValue(torch.tensor([1.0, 2.0], dtype=torch.bfloat16)).shown()["data"] == [1.0, 2.0]
    assert TorchValue(torch.tensor(1 + 2j)).shown()["text"] == "(1+2j)"
    assert TorchValue(torch.eye(2).to_sparse()).shown()["data"] == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match="meta"):
        to_numpy(torch.empty(2, device="meta"))


def test_a_version_that_is_too_old_is_refused(monkeypatch):
    import importlib

    with monkeypatch.context() as old:
        old.setattr(torch, "__version__", "2.1.0")
        with pytest.raises(ImportError, match=r"needs PyTorch 2.4 or newer, but 2.1.0 is installed"):
            importlib.reload(bridge)
    with warnings.catch_warnings():
        importlib.reload(bridge)


def test_a_compiled_function_computes_the_same():
    function = torch.compile(lambda x: (x.sin() * 2).sum(), backend="eager")
    x = torch.randn(3, requires_grad=True)
    with bridge.record() as recording:
        y = function(x)
        y.backward()
    assert recording.internal_error is None
    assert are_bits_equal(y, (x.sin() * 2).sum()) and are_bits_equal(x.grad, 2 * x.cos())


@pytest.mark.filterwarnings(
    "ignore:Using .torch.compile.module.. when there are global hooks", "ignore:.torch.jit.trace:DeprecationWarning"
)
def test_compiled_and_traced_modules_compute_the_same():
    net, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    with bridge.record() as recording:
        compiled = torch.compile(net, backend="eager")(x)
        traced = torch.jit.trace(net, x)(x)
    assert recording.internal_error is None
    assert are_bits_equal(compiled, net(x)) and are_bits_equal(traced, net(x))


def test_an_adjoint_is_what_is_left_after_hooks_of_the_program():
    w = torch.tensor(1.0, requires_grad=True)
    with bridge.record() as recording:
        y = w * 2
        y.register_hook(lambda g: g * 5)
        w.register_hook(lambda g: g + 1)
        y.backward()
    assert w.grad == 11.0
    assert [recording.sweeps[0].adjoints[recording.find_row(t)].shown()["data"] for t in (y, w)] == [5.0, 11.0]


@pytest.mark.parametrize("by", ["grad", "backward"])
def test_a_result_whose_gradient_is_requested_has_an_adjoint(by):
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    with bridge.record() as recording:
        h = w * 3
        first, _ = torch.split(h * h, 1)
        loss = first.sum()
        if by == "grad":
            (gradient,) = torch.autograd.grad(loss, [h])
        else:
            h.retain_grad()
            loss.backward(inputs=[h])
            gradient = h.grad
    (sweep,) = recording.sweeps
    assert sweep.adjoints[recording.list_rows(h)[0]].shown()["data"] == gradient.tolist() == [6.0, 0.0]
    assert recording.find_row(w) not in sweep.adjoints
    assert not h._backward_hooks


@pytest.mark.parametrize("clear", ["optimizer", "module", "each"])
def test_gradients_set_to_none_are_recorded_alike_in_any_spelling(clear):
    net = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(net.parameters())
    net(torch.ones(2)).sum().backward()
    with bridge.record() as recording:
        net(torch.ones(2)).sum().backward()
        if clear == "each":
            for parameter in net.parameters():
                parameter.grad = None
        else:
            {"optimizer": optimizer, "module": net}[clear].zero_grad()
        after = net.weight * 2
    clearings = [recording.log.grad_clearings.get(parameter) for parameter in net.parameters()]
    assert [clearing.sweep_count for clearing in clearings] == [1, 1]
    assert {clearing.site[0] for clearing in clearings} == {__file__}
    assert net.weight.grad is None and recording.find_row(after) is not None  # the block goes on recording


@pytest.mark.parametrize(
    "tensor",
    [
        torch.randn(1025),
        torch.randn(40, 60)[:, ::2],
        torch.randn(7)[1:],
        torch.randn(3, 700).t(),
        torch.randn(5).half(),
        torch.randn(600, dtype=torch.complex64),
        torch.randn(3, dtype=torch.complex128),
        torch.randint(0, 9, (11,), dtype=torch.int8),
    ],
    ids=lambda tensor: f"{tensor.dtype}-{tuple(tensor.shape)}",
)
def test_a_fingerprint_changes_with_each_element(tensor):
    before = compute_fingerprint(tensor)
    assert has_fingerprint(tensor.clone(memory_format=torch.contiguous_format), before)
    for position in range(0, tensor.numel(), 97):
        changed = tensor.clone(memory_format=torch.contiguous_format)
        changed.view(-1)[position] += 1
        assert not has_fingerprint(changed, before)
    assert not has_fingerprint(tensor.neg(), before)


@pytest.mark.parametrize("byte_limit", [10**6, 10**5], ids=["kept", "released"])
def test_a_recording_reads_a_fingerprint_only_if_a_question_needs_it(monkeypatch, byte_limit):
    monkeypatch.setattr(kept_values, "BYTE_LIMIT", byte_limit)
    read = []
    for module in (kept_tensors, tensor_accounts):
        monkeypatch.setattr(
            module, "compute_fingerprint", lambda tensor: (read.append(tensor.shape), compute_fingerprint(tensor))[1]
        )
    w, x = torch.nn.Parameter(torch.randn(100, 90)), torch.randn(5, 100)
    with bridge.record() as recording:
        for _ in range(3):
            (x @ w).sum().backward()
    account = recording.log.run_watch.find_or_open_account(w)
    is_released = account.first_copy.content is None
    assert is_released == (byte_limit == 10**5)
    assert read == [(100, 90)] * is_released
    assert account.is_unchanged_since_first_gradient()
    w.data[0, 0] += 1
    assert not account.is_unchanged_since_first_gradient()


def test_a_function_kept_from_a_block_works_in_later_blocks(monkeypatch):
    with bridge.record():
        kept = torch.autograd.grad  # the wrapper, which later blocks use again
    original = torch.autograd.grad
    x = torch.tensor(2.0, requires_grad=True)
    for replacement in (original, kept, lambda *args, **kwargs: kept(*args, **kwargs), original):
        monkeypatch.setattr(torch.autograd, "grad", replacement)
        for _ in range(2):
            assert kept(x * x, [x]) == (4.0,)
            with bridge.record() as recording, bridge.record() as inner:
                assert torch.autograd.grad(x * x, [x]) == kept(x * x, [x]) == (4.0,)
            assert torch.autograd.grad is replacement
            assert len(recording.sweeps) == len(inner.sweeps) == 2
    assert all(wrapper.under[2:] == [None, None] for wrapper in framework_patches._idle_wrappers.values())


def test_a_picture_can_ask_why():
    from minitape_widgets import TapeView

    w = torch.ones(2, requires_grad=True)
    with bridge.record() as recording:
        loss = w.detach().sum()
    view, told = TapeView(recording), []
    view.send = lambda content, buffers=None: told.append(content)
    view._send_explanation({"target": recording.find_row(loss), "source": recording.find_row(w), "ask": 1})
    view.close()
    assert [t["text"].partition(" (")[0] for t in told if t["kind"] == "explained"] == ["detach"]


def test_the_calculations_inside_an_optimizer_step_are_not_recorded():
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = torch.optim.Adam([w], foreach=False)
    with bridge.record() as recording:
        (w * w).sum().backward()
        row_count = len(recording)
        optimizer.step()
    assert len(recording) == row_count


def test_a_picture_shows_the_step_of_an_optimizer_in_the_block():
    """The weight that the last backward pass used, and what the optimizer made of it."""
    w = torch.tensor(3.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1)
    with bridge.record() as recording:
        for _ in range(2):
            optimizer.zero_grad()
            (w * w).backward()
            optimizer.step()
    (source,) = tf.snapshot(recording)["results"][0]["sources"]
    assert source["assigned"] == 1 and source["now"]["data"] == float(w.detach())
    with bridge.record() as recording:
        (w * w).backward()
    (source,) = tf.snapshot(recording)["results"][0]["sources"]
    assert (source["now"], source["assigned"]) == (None, 0)


def test_a_picture_shows_no_update_of_a_parameter_that_the_optimizer_skipped():
    encoder, decoder = torch.nn.Linear(4, 2), torch.nn.Linear(2, 1)
    layers = torch.nn.ModuleList([encoder, decoder])
    optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
    with bridge.record() as recording:
        loss = layers[1](layers[0](torch.ones(3, 4)).detach()).pow(2).mean()
        loss.backward()
        optimizer.step()
    (result,) = tf.snapshot(recording)["results"]
    is_updated = {source["name"]: source["now"] is not None for source in result["sources"]}
    assert is_updated == {"encoder.weight": False, "encoder.bias": False, "decoder.weight": True, "decoder.bias": True}
    svg = tf.draw(recording, fold="layers").svg
    assert ">decoder<" in svg and ">decoder²<" in svg and "Linear" not in svg  # the layer, not only its class


def shrink(x):
    a = x * x
    b = torch.sin(
        a,
    )
    c = rotate(b * 2.0)  # b * 2.0 is not c.
    return a * c


def rotate(x):
    return torch.cos(x)


def test_a_picture_names_what_a_function_assigns_once_and_nothing_else():
    """The functions have returned, so no variable holds these tensors any longer."""

    def list_names(count: int) -> list[str | None]:
        x = torch.tensor(2.0, requires_grad=True)
        with bridge.record() as recording:
            sum(shrink(x) for _ in range(count)).backward()
        return [row["name"] for row in tf.snapshot(recording)["rows"]]

    assert list_names(1)[1:6] == ["a", "b", None, None, None]
    assert "a" not in list_names(2)


def test_the_strip_says_why_the_gradient_of_a_later_source_is_nan():
    scale = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = torch.tensor([4.0, 0.0, -1.0], requires_grad=True)
    with bridge.record() as recording:
        loss = (scale * 2).sum() + torch.where(x > 0, torch.sqrt(x), torch.zeros(3)).sum()
        loss.backward()
    why = recording.explain(loss, x)
    (alarm,) = recording.snapshot()["alarms"]
    assert why.cause == "nan_backward" and alarm["text"] == f"{why.message} {why.fix}"


def test_two_equal_operations_of_one_line_are_told_apart():
    x = torch.tensor(0.5, requires_grad=True)
    with bridge.record() as recording:
        y = x
        for _ in range(4):
            y = torch.tanh(torch.tanh(y))
        y.backward()
    sites = [row["site"] for row in recording.snapshot()["rows"] if row["op"] == "tanh"]
    assert len({*sites}) == 2 and sites == sites[:2] * 4
