"""What lessons 01, 02, 04 to 07, 11, 13 and 14 say in words and no cell computes, or computes and does not assert."""

import itertools
import re
from typing import Any

import nbformat
import numpy as np
import pytest
from test_exercise_programs import SOLUTIONS

import minitape as tf
from minitape.cli.lesson_files import find_lessons_folder
from minitape.course import Plot, load_penguins
from minitape.course.lesson_02 import sweep

ROWS = [("leaf", 3.0), ("leaf", 2.0), ("multiply", 0, 1), ("add", 2, 0), ("multiply", 3, 2)]
VALUES = [3.0, 2.0, 6.0, 9.0, 54.0]


def read_code_cells(lesson: str) -> dict[str, str]:
    return {cell.id: cell.source for cell in nbformat.read(find_lessons_folder() / lesson, as_version=4).cells}


def test_the_columns_of_a_run_forwards_and_of_a_sweep_are_those_of_the_table():
    a, b = tf.Variable(3.0), tf.Variable(2.0)
    with tf.autodiff.ForwardAccumulator(a, tf.constant(1.0)) as run:
        p = a * b
        q = p + a
        y = q * p
    forwards = [1.0, 0.0, *(float(run.jvp(value)) for value in (p, q, y))]
    table = [
        [cell.strip() for cell in line.split("|")[2:5]]
        for line in read_code_cells("02_inside_the_tape.ipynb")["why-backwards"].splitlines()
        if line.startswith("| ") and "`" in line[:8]
    ]
    expected = zip(VALUES, forwards, sweep(ROWS, VALUES), strict=True)
    assert [[float(cell) for cell in line] for line in table] == [list(line) for line in expected]


def test_the_sweep_of_the_lesson_gives_what_a_wrong_order_and_a_plain_equals_give():
    assert sweep(ROWS, VALUES) == sweep(ROWS, VALUES, order=[4, 3, 2, 1, 0]) == [36.0, 45.0, 15.0, 6.0, 1.0]
    assert sweep(ROWS, VALUES, order=[4, 2, 3, 1, 0])[0] == 24.0
    assert sweep(ROWS, VALUES, replaced=True) == [12.0, 18.0, 6.0, 6.0, 1.0]


def test_the_run_of_exercise_6_draws_the_slope_of_y_which_is_0_at_minus_a_half():
    names: dict[str, Any] = {"tf": tf, "np": np, "Plot": Plot, "rows": ROWS}
    cells = read_code_cells("02_inside_the_tape.ipynb").values()
    for start in ("def values_of", "def height"):
        exec(next(cell for cell in cells if cell.startswith(start)).partition("\n\n\n")[0], names)
    exec(SOLUTIONS["02.6"], names)
    exec(next(cell for cell in cells if cell.startswith("def speed_of_y")), names)
    places = np.array(names["places"])
    speeds = np.array([names["speed_of_y"](b) for b in places])
    heights = np.array([names["height"](b) for b in places])
    assert len(places) == 161 and np.allclose(speeds, 18.0 * places + 9.0)
    assert heights.min() == heights[speeds == 0.0][0] and places[speeds == 0.0] == [-0.5]
    assert heights.max() <= 180 and speeds.min() >= -70


@pytest.fixture(scope="module")
def valley() -> dict[str, Any]:
    """The names of lesson 05 where it stands at a gradient of (3, 4)."""
    names: dict[str, Any] = {"tf": tf, "np": np, "load_penguins": load_penguins, "reveal": lambda *said: None}
    for cell in ("penguins-2", "direction-answer"):
        exec(read_code_cells("05_persistent.ipynb")[cell], names)
    return names


def test_the_loss_grows_fastest_along_the_gradient_and_stays_at_a_right_angle(valley, capsys):
    """The angles that the lesson names, among those of its slider, for a step of 0.005."""
    base, slope, loss_of = valley["base"], valley["slope"], valley["loss_of"]
    with tf.GradientTape() as tape:
        loss = loss_of(base, slope)
    d_base, d_slope = (float(part) for part in tape.gradient(loss, [base, slope]))
    assert (round(d_base, 2), round(d_slope, 2)) == (3.0, 4.0)
    raised = {}
    for angle in range(8, 368, 15):
        u, v = 0.005 * np.cos(np.radians(angle)), 0.005 * np.sin(np.radians(angle))
        raised[angle] = float(loss_of(base + u, slope + v) - loss)
    assert max(raised, key=raised.get) == 53 and min(raised, key=raised.get) == 233
    assert f"{raised[53]:.3f}" == "0.025"
    assert sorted(sorted(raised, key=lambda angle: abs(raised[angle]))[:2]) == [143, 323]
    assert abs(raised[143]) < 0.0005


def test_a_row_counts_as_twenty_bytes_and_a_large_array_as_what_it_takes():
    x = tf.Variable(tf.zeros([1000, 1000]))
    with tf.GradientTape() as tape:
        tf.reduce_sum(x + 1.0)
    snapshot = tf.snapshot(tape)
    assert snapshot["tapes"][0]["bytes"] == 20 * len(snapshot["rows"]) + 4_000_000


def test_one_long_tape_needs_100_megabytes_and_five_short_ones_36():
    names: dict[str, Any] = {"tf": tf, "Plot": Plot, "x": tf.Variable(tf.ones([1000, 1000]))}
    cells = read_code_cells("05_persistent.ipynb")
    exec(next(cell for cell in cells.values() if cell.startswith("def held")).partition("\n\n\n")[0], names)
    exec(cells["sines-in-memory"], names)
    assert round(max(names["one_tape"])) == 100
    assert round(max(weight for _, weight in names["five_tapes"])) == 36


@pytest.fixture(scope="module", name="measured")
def load_measurements() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The birds of lesson 04 in numbers, their masses in kilograms, and which of them are Adelies."""
    penguins = load_penguins()
    rulers = ("bill_length_mm", 44, 5), ("bill_depth_mm", 17, 2), ("flipper_length_mm", 200, 14)
    birds = np.stack([(penguins[name] - middle) / spread for name, middle, spread in rulers], axis=1)
    return birds.astype(float), penguins["body_mass_g"] / 1000.0, penguins["species"] == "Adelie"


def test_somebody_who_always_says_4_2_kilograms_is_off_by_676_grams(measured):
    _, kilograms, _ = measured
    assert round(1000 * np.mean(np.abs(4.2 - kilograms))) == 676


def test_training_with_rounded_weights_finds_the_best_of_625_scales():
    """The scale of lesson 06 that stores whole numbers, with the solution of exercise 4."""
    names: dict[str, Any] = {}
    cells = read_code_cells("06_stopping_gradients.ipynb")
    for source in ("import numpy", "penguins = load_penguins()"):
        exec(next(cell for cell in cells.values() if cell.startswith(source)), names)
    exec(SOLUTIONS["06.4"], names)
    exec(cells["rounded-scale"], names)
    scales = itertools.product(range(-2, 3), repeat=4)
    features, kilograms = names["features"](names["birds"]).numpy(), names["kg"].numpy()
    off = {scale: np.mean(np.abs(4.2 + features @ np.array(scale)[:, np.newaxis] - kilograms)) for scale in scales}
    assert len(off) == 625
    assert min(off, key=off.get) == (-1, 0, 0, 1) == tuple(names["best"])
    assert round(1000 * min(off.values())) == names["off"] == 326
    assert round(1000 * off[tuple(np.round(names["OLD"]).ravel())]) == 918


def test_by_true_mass_the_best_border_leaves_out_19_adelies_and_on_the_scale_only_2():
    names: dict[str, Any] = {}
    cells = read_code_cells("06_stopping_gradients.ipynb").values()
    for source in ("import numpy", "penguins = load_penguins()", "size, bias ="):
        exec(next(cell for cell in cells if cell.startswith(source)), names)
    adelie = names["adelie"].numpy()[:, 0] > 0.5
    left_out = []
    for masses in (names["kg"].numpy()[:, 0], names["mass"](names["birds"]).numpy()[:, 0]):
        border = max(masses, key=lambda border, masses=masses: np.sum((masses < border) == adelie))
        left_out.append((np.sum((masses < border) == adelie), np.sum(masses[adelie] >= border), np.sum(adelie)))
    assert left_out == [(256, 19, 151), (276, 2, 151)]


def test_the_notes_of_a_training_slip_from_276_to_267_birds_while_its_loss_falls():
    names: dict[str, Any] = {"Plot": Plot}
    cells = read_code_cells("06_stopping_gradients.ipynb")
    for start in ("import numpy", "penguins = load_penguins()", "size, bias ="):
        exec(next(cell for cell in cells.values() if cell.startswith(start)), names)
    exec(SOLUTIONS["06.6"], names)
    losses, solution = [], names["with_note"]
    names["with_note"] = lambda f, note, a, b: losses.append(float(f(a, b))) or solution(f, note, a, b)
    exec(cells["own-notes"], names)
    said = names["said"]
    assert [step for step, right in enumerate(said) if right == max(said)] == list(range(1, 21))
    assert (len(said), max(said), said[-1]) == (300, 276, 267)
    assert all(later < earlier for earlier, later in itertools.pairwise(losses))


def compute_features(birds, weights, biases):
    return np.tanh(birds @ weights + biases[:, np.newaxis])


def train_scales(birds, kilograms, steps=3000, rate=0.2):
    """Train 24 networks like that of lesson 04 to weigh the birds, all at once."""
    starts = [np.random.default_rng(seed) for seed in range(24)]
    weights, heads = (
        np.stack(arrays)
        for arrays in zip(*[(r.normal(0, 0.5, (3, 4)), r.normal(0, 0.5, 4)) for r in starts], strict=True)
    )
    biases = np.zeros((24, 4))
    for _ in range(steps):
        found = compute_features(birds, weights, biases)
        error = 2 * (4.2 + np.einsum("nbf,nf->nb", found, heads) - kilograms) / len(kilograms)
        to_features = error[..., np.newaxis] * heads[:, np.newaxis] * (1 - found**2)
        heads = heads - rate * np.einsum("nbf,nb->nf", found, error)
        weights = weights - rate * birds.T @ to_features
        biases = biases - rate * to_features.sum(axis=1)
    return weights, biases, heads


def train_species_heads(birds, adelie, weights, biases, trunk_rate):
    """Take the 300 steps of lesson 04; return the trunks, and how many birds each network then names right."""
    ten, new = slice(0, None, 37), np.zeros((24, 4))
    for _ in range(300):
        found = compute_features(birds[ten], weights, biases)
        score = 1 / (1 + np.exp(-np.einsum("nbf,nf->nb", found, new)))
        error = 2 * (score - adelie[ten]) * score * (1 - score) / 10
        to_features = error[..., np.newaxis] * new[:, np.newaxis] * (1 - found**2)
        new = new - np.einsum("nbf,nb->nf", found, error)
        weights = weights - trunk_rate * birds[ten].T @ to_features
        biases = biases - trunk_rate * to_features.sum(axis=1)
    named = np.einsum("nbf,nf->nb", compute_features(birds, weights, biases), new) > 0
    return weights, biases, np.sum(named == adelie, axis=1)


@pytest.mark.long
def test_24_other_networks_forget_14_to_539_grams_and_frozen_half_of_them_name_fewer_birds(measured):
    birds, kilograms, adelie = measured
    weights, biases, heads = train_scales(birds, kilograms)

    def measure_grams_off(weights, biases):
        said = 4.2 + np.einsum("nbf,nf->nb", compute_features(birds, weights, biases), heads)
        return 1000 * np.mean(np.abs(said - kilograms), axis=1)

    moved_weights, moved_biases, named_right = train_species_heads(birds, adelie, weights, biases, trunk_rate=1.0)
    forgotten = measure_grams_off(moved_weights, moved_biases) - measure_grams_off(weights, biases)
    assert (round(forgotten.min()), round(forgotten.max())) == (14, 539)
    *_, named_right_by_frozen = train_species_heads(birds, adelie, weights, biases, trunk_rate=0.0)
    assert np.sum(named_right_by_frozen < named_right) == 12


GENTOO = ('== "Adelie"', '== "Gentoo"')
CHINSTRAP = ('== "Adelie"', '== "Chinstrap"')
OWN_TRICKS = {
    "as it stands": ([], ["second head doesn't know", "the scale is off by 568", "right for 331 birds"]),
    "another question": ([GENTOO], ["the scale is off by 287", "right for "]),
    "frozen": ([("learn(third_loss)", "SOLUTION")], ["second head doesn't know"]),
    "the solution": ([GENTOO, ("learn(third_loss)", "SOLUTION")], []),
    "Chinstraps": ([CHINSTRAP, ("learn(third_loss)", "SOLUTION")], []),
    "nothing learned": ([GENTOO, ("learn(third_loss)", "pass")], ["and the same answer for all is right for 219"]),
}
"""What a learner may change in lesson 4 to teach the network a trick, and what is still missing then."""


@pytest.mark.parametrize("trick", OWN_TRICKS)
def test_a_trick_of_ones_own_is_measured_with_the_two_older_tricks(trick, capsys):
    names: dict[str, Any] = {}
    cells = read_code_cells("04_what_is_watched.ipynb")
    sources = list(cells.values())
    for start in ("import numpy", "penguins = load", "def load", "def learn", "ten = list"):
        exec(next(cell for cell in sources if cell.startswith(start)), names)
    names["W"], names["b"] = names["load"](trainable=False)
    names["learn"](names["species_loss"])
    own = next(cell for cell in sources if cell.startswith("W, b = load()  # somebody"))
    text = next(cell for cell in sources if "One of many" in cell)
    changes, missing = OWN_TRICKS[trick]
    for old, new in changes:
        own = own.replace(old, new.replace("SOLUTION", text.split("```python\n")[1].partition("```")[0]))
    capsys.readouterr()
    exec(own, names)
    exec(cells["own-network"], names)
    lines = capsys.readouterr().out.splitlines()
    said = [line for line in lines if line.startswith("not yet")]
    assert len(said) == len(missing) and all(words in line for words, line in zip(missing, said, strict=True)), lines
    told = {
        "the solution": "right for 340 birds, and the same answer for all is right for 219",
        "Chinstraps": "right for 301 birds, and the same answer for all is right for 274",
    }
    assert told.get(trick, "") in "\n".join(lines)


def test_the_best_rate_takes_the_spring_to_the_bottom_in_one_step():
    names: dict[str, Any] = {"tf": tf}
    cells = read_code_cells("07_several_and_nested_tapes.ipynb")
    exec(next(cell for cell in cells.values() if cell.startswith("def derivative")), names)
    exec(SOLUTIONS["07.6"], names)
    exec(cells["spring-rate"], names)
    assert float(1.0 / names["rate"]) == pytest.approx(15.0)
    assert (round(float(names["lands"]), 2), round(names["slope_there"], 3)) == (1.99, 0.0)


def test_the_product_of_a_thousand_numbers_is_a_row_of_the_hessian(capsys):
    names: dict[str, Any] = {"tf": tf, "point": tf.ones([1000], tf.float64), "is_right": lambda *answer: True}
    names["direction"] = tf.one_hot(500, 1000, dtype=tf.float64)
    cells = list(read_code_cells("07_several_and_nested_tapes.ipynb").values())
    exec(next(cell for cell in cells if cell.startswith("def many_bananas")), names)
    exec(SOLUTIONS["07.7"], names)
    exec(next(cell for cell in cells if cell.startswith('if is_right("07.7"')), names)
    assert capsys.readouterr().out.split(":")[1].strip(" []\n").split() == ["0.", "-400.", "1002.", "-400.", "0."]


def test_three_products_find_the_limit_of_the_rate_for_two_numbers(capsys):
    names: dict[str, Any] = {"tf": tf, "is_right": lambda *answer: True}
    names["mass"], names["length"] = tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([2.1, 3.9, 6.2, 7.8])
    cells = read_code_cells("07_several_and_nested_tapes.ipynb")
    cell = next(cell for cell in cells.values() if cell.startswith("def full_loss"))
    exec(cell.partition("before = ")[0], names)
    exec(SOLUTIONS["07.7"], names)
    exec(cells["sharpest-bend"], names)
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "round 3: it bends by 16.70, and the limit is 0.1198"
    assert 2.0 / np.linalg.eigvalsh([[15.0, 5.0], [5.0, 2.0]]).max() == pytest.approx(0.1198, abs=5e-5)
    start = names["measure_descent"](0.0)
    assert names["measure_descent"](0.119) < start < names["measure_descent"](0.1205)


def test_ten_untrained_networks_get_27_to_171_of_the_moons_points_right():
    names: dict[str, Any] = {"tf": tf, "np": np}
    for source in read_code_cells("13_capstone.ipynb").values():
        if source.startswith(("def two_moons(", "HIDDEN = 16")):
            exec(source, names)
    answers = [names["forward"](names["new_network"](seed), names["x"]) for seed in range(1, 11)]
    right = [round(200 * names["accuracy_of"](answer, names["t"])) for answer in answers]
    assert right[0] == min(right) == 27 and max(right) == 171


def test_eight_switches_get_74_and_with_a_rule_88_percent_of_the_points_right(capsys):
    cells = list(read_code_cells("11_your_own_operations.ipynb").values())
    training = next(place for place, source in enumerate(cells) if "def train(bend):" in source)
    told: list[Any] = []
    names: dict[str, Any] = {"tf": tf, "np": np, "Plot": Plot, "predict": lambda *asked: None}
    names["reveal"] = lambda name, truth: told.append((name, truth))
    exec(SOLUTIONS["11.6"], names)
    for source in cells[training : training + 3]:
        exec(source, names)
    assert told == [("11.p8", 0.75)]
    assert "0.74 right without a rule, 0.88 with yours" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "slope", "slope_of_threefold"), [("A", 2, 6), ("B", 4, 4), ("C", 4, 12), ("D", 4, 12)]
)
def test_of_four_operations_two_have_the_right_gradient_in_every_program(name, slope, slope_of_threefold):
    """The programs of exercise 11.5, at x = 2, where the true slopes are 4 and 12."""
    [program] = re.findall(
        r"```python\n(def A\(x\):.*?)```", "".join(read_code_cells("11_your_own_operations.ipynb").values()), re.DOTALL
    )
    names: dict[str, Any] = {"tf": tf, "np": np}
    exec(program, names)
    x = tf.Variable(2.0)
    for factor, expected in ((1.0, slope), (3.0, slope_of_threefold)):
        with tf.GradientTape() as tape:
            y = factor * names[name](x)
        assert tape.gradient(y, x).numpy() == expected


def test_a_tape_of_many_points_weighs_80_bytes_for_each_and_most_are_of_the_tanh():
    names: dict[str, Any] = {"tf": tf, "np": np}
    cells = read_code_cells("13_capstone.ipynb").values()
    exec(next(cell for cell in cells if cell.startswith("def two_moons")), names)
    exec(next(cell for cell in cells if cell.startswith("HIDDEN")), names)
    network = names["new_network"]()
    weights = []
    for number in (20_000, 200_000):
        points, labels = map(tf.constant, names["two_moons"](number))
        with tf.GradientTape(persistent=True) as tape:
            names["loss_of"](names["forward"](network, points), labels)
        snapshot = tf.snapshot(tape)
        weights.append(snapshot["tapes"][0]["bytes"])
        assert len(snapshot["rows"]) == 17
    kept = {row["op"] for row in snapshot["rows"] if row["shape"] == [200_000, 16] and not row["released"]}
    assert kept == {"tanh"}
    assert weights[1] - weights[0] == 80 * 180_000


def test_a_softmax_of_chances_keeps_the_loss_above_0_55():
    chances = np.array([1.0, 0.0, 0.0])  # the best that a softmax over three classes can do
    powers = np.exp(chances)
    assert round(float(-np.log(powers[0] / powers.sum())), 2) == 0.55
