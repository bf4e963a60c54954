"""Callbacks record some steps of a loop that a library owns, tell what is wrong once, and leave no trace."""

import warnings
from contextlib import contextmanager

import pytest

from minitape.bridges.callbacks import ExplainedSteps
from minitape.bridges.model_page import GradientStatistics, ModelPage
from minitape.explain.explanation import Explanation


def build_page_with_cause(cause):
    answer = Explanation(cause, f"It is {cause}.", "")
    answer.name, answer.numbers = "w", GradientStatistics(2.0, 0.5, None)
    return ModelPage({"w": answer})


class Bridge:
    """A bridge that counts its blocks, and answers with the pages that it was given."""

    def __init__(self, *pages):
        self.pages, self.opened, self.open = list(pages), 0, 0

    @contextmanager
    def record(self):
        self.opened, self.open = self.opened + 1, self.open + 1
        try:
            yield self
        finally:
            self.open -= 1

    def explain(self, model):
        found = self.pages.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


def build_explained_steps(bridge, every):
    return type("Steps", (ExplainedSteps,), {"record": staticmethod(bridge.record)})(every)


def run_steps(steps, count):
    for _ in range(count):
        with steps.record_step("model"):
            pass


def test_each_nth_step_is_recorded_and_news_are_told_once():
    bridge = Bridge(
        build_page_with_cause("connected"),
        build_page_with_cause("detach"),
        build_page_with_cause("detach"),
        build_page_with_cause("broadcast"),
    )
    steps = build_explained_steps(bridge, every=3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run_steps(steps, 12)
    assert bridge.opened == 4
    assert [str(one.message).splitlines()[0] for one in told] == ["Step 4:", "Step 10:"]
    assert [answer.cause for answer in steps.problems] == ["broadcast"]


def test_a_step_that_fails_and_a_question_that_fails_leave_nothing_open():
    bridge = Bridge(KeyError("lost"), build_page_with_cause("connected"))
    steps = build_explained_steps(bridge, every=1)
    with pytest.raises(ZeroDivisionError), steps.record_step("model"):
        raise ZeroDivisionError
    assert not bridge.open
    with pytest.warns(RuntimeWarning, match="KeyError: 'lost'"):
        run_steps(steps, 1)
    steps.begin_step_and_record_if_due()  # its end never comes
    run_steps(steps, 1)
    assert not bridge.open and steps.page["w"].cause == "connected"
    with pytest.raises(ValueError, match="every=0 is not a number of steps"):
        build_explained_steps(bridge, every=0)


def test_a_log_that_fails_hides_no_finding():
    steps = build_explained_steps(Bridge(build_page_with_cause("detach")), every=1)
    steps._on_page = lambda step, page: page["no such name"]
    with pytest.warns(RuntimeWarning) as told:
        run_steps(steps, 1)
    assert [str(one.message).split(":")[0] for one in told] == ["Step 1", "Step 1 could not be explained"]


def test_a_log_is_called_with_each_recorded_step_and_its_page():
    logged = []
    steps = type(
        "Steps", (ExplainedSteps,), {"record": staticmethod(Bridge(build_page_with_cause("connected")).record)}
    )(every=2, log=lambda step, page: logged.append((step, page["w"].cause)))
    run_steps(steps, 2)
    assert logged == [(1, "connected")]


# -- with the libraries ----------------------------------------------------------------------------


def table(truth, predicted):
    return (truth[:, 0] - predicted) ** 2


def in_numpy(truth, predicted):
    return truth * (predicted > 0.5)


def test_keras_compiled_fit():
    np, keras = pytest.importorskip("numpy"), pytest.importorskip("keras")
    pytest.importorskip("tensorflow")
    from minitape.bridges.keras import Explain

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(24, 4)).astype("float32"), rng.normal(size=(24, 1)).astype("float32")
    model = keras.Sequential([keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(1)])
    model.compile("sgd", table)
    logged = []
    explain = Explain(every=4, log=lambda step, page: logged.append(step))
    with pytest.warns(RuntimeWarning, match="broadcast") as told:
        model.fit(x, y, batch_size=4, epochs=2, verbose=0, callbacks=[explain])
    assert len(told) == 1
    kernel = explain.page["model.layers[0].kernel"]
    assert (kernel.cause, kernel.line) == ("broadcast", table.__code__.co_firstlineno + 1)
    assert len(logged) == 3
    model.compile("sgd", "mse")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model.fit(x, y, batch_size=4, verbose=0, callbacks=[explain])
    assert not explain.problems
    plain = model.train_function
    model.fit(x, y, batch_size=4, verbose=0, callbacks=[explain])
    assert model.train_function is plain
    model.compile("sgd", in_numpy)
    with pytest.raises(ValueError, match="No gradients"):
        model.fit(x, y, batch_size=4, verbose=0, callbacks=[explain])
    assert model.train_function.__module__.startswith("keras.")


@pytest.mark.filterwarnings("ignore:Your input ran out of data")
def test_keras_goes_on_after_an_epoch_of_data_that_do_not_say_their_length():
    np, keras = pytest.importorskip("numpy"), pytest.importorskip("keras")
    tf = pytest.importorskip("tensorflow")
    from minitape.bridges.keras import Explain

    rows = tf.data.Dataset.from_tensor_slices((np.ones((8, 3), "float32"), np.ones((8, 1), "float32"))).batch(2)
    data = rows.filter(lambda x, y: True)
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    logged = []
    explain = Explain(every=3, log=lambda step, page: logged.append(step))
    model.fit(data, epochs=3, shuffle=False, verbose=0, callbacks=[explain])
    assert explain.steps == 12 and logged == [1, 4, 7, 10]


def build_small_torch_data():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randn(32))
    return torch, torch.utils.data.DataLoader(data, 8)


def test_lightning():
    torch, data = build_small_torch_data()
    lightning = pytest.importorskip("lightning.pytorch")
    from minitape.bridges.lightning import Explain

    class Net(lightning.LightningModule):
        def __init__(self, squeezes):
            super().__init__()
            self.inner, self.outer, self.squeezes = torch.nn.Linear(4, 3), torch.nn.Linear(3, 1), squeezes

        def training_step(self, batch, number):
            x, y = batch
            predicted = self.outer(torch.tanh(self.inner(x)))
            return (predicted.squeeze(-1) - y if self.squeezes else predicted - y).pow(2).mean()

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    for squeezes, causes in ((True, set()), (False, {"broadcast"})):
        explain = Explain(every=3)
        trainer = lightning.Trainer(
            max_epochs=1, callbacks=[explain], logger=False, enable_checkpointing=False, enable_progress_bar=False,
            enable_model_summary=False, accelerator="cpu",
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trainer.fit(Net(squeezes), data)
        assert {answer.cause for answer in explain.problems} == causes
        assert set(explain.page) == {"inner.weight", "inner.bias", "outer.weight", "outer.bias"}
        assert explain.page["inner.weight"].numbers.norm > 0


def test_transformers(tmp_path):
    torch, _ = build_small_torch_data()
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from minitape.bridges.transformers import Explain

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.outer = torch.nn.Linear(4, 3), torch.nn.Linear(3, 1)

        def forward(self, x, labels):
            predicted = self.outer(torch.tanh(self.inner(x)).detach()).squeeze(-1)
            return {"loss": (predicted - labels).pow(2).mean(), "logits": predicted}

    explain = Explain(every=2)
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=3, report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True,
        gradient_accumulation_steps=2, per_device_train_batch_size=2,
    )  # fmt: skip
    rows = [{"x": torch.randn(4), "labels": torch.randn(())} for _ in range(8)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformers.Trainer(model=Net(), args=arguments, train_dataset=rows, callbacks=[explain]).train()
    assert {name: answer.cause for name, answer in explain.page.items()} == {
        "inner.weight": "detach", "inner.bias": "detach", "outer.weight": "connected", "outer.bias": "connected",
    }  # fmt: skip
