"""The static picture in a column of a paper: what each edge carries, and how much room the picture takes."""

import re
from itertools import combinations, pairwise, product

import pytest

import minitape as tf
from minitape.bridges.recording import Recording
from minitape.picture.drawing import Picture
from minitape.picture.edge_labels import compute_plate
from minitape.picture.figure import ESCAPE_PORT, Figure
from minitape.picture.svg_elements import CUT_COLOR, NODE_HEIGHT, SCISSORS
from minitape.picture.value_display import format_magnitude

from .test_figures import contains, loop, network, read_painted

SHARE_COLOR = "#b34700"


def read_twice():
    """Values that are read again on a later line, as u and x are."""
    x = tf.Variable(1.2, name="x")
    with tf.GradientTape() as tape:
        u = x * x
        y = u * tf.sin(u) + tf.exp(x) * x
    tape.gradient(y, x)
    return tape, y, x


def neuron():
    w, b, x, t = tf.Variable(0.5, name="w"), tf.Variable(-0.2, name="b"), tf.constant(1.5), tf.constant(1.0)
    with tf.GradientTape() as tape:
        loss = (tf.sigmoid(w * x + b) - t) ** 2
    tape.gradient(loss, [w, b])
    return tape, loss, [w, b]


def inner_and_outer():
    a = tf.Variable(2.0, name="a")
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.sin(a) * a * a
        slope = inner.gradient(y, a)
    outer.gradient(slope, a)
    return outer, slope, a


def choice():
    p = tf.Variable([0.0, 1.0, 4.0], name="p")
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.where(p > 0.0, tf.math.log(p), 0.0) * p)
    tape.gradient(loss, p)
    return tape, loss, p


def towers():
    towers = [tf.Variable([float(k), 1.0], name=f"w{k}") for k in range(6)]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.concat([tf.sin(w) for w in towers], 0) ** 2)
    tape.gradient(loss, towers)
    return tape, loss, towers


PROGRAMS = [read_twice, neuron, inner_and_outer, network]


def read_numbers(text):
    """The number of a share: its value, or the magnitude of an array."""
    return abs(float(re.sub(r"each |[±\[\]]", "", text)))


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_narrow_figure_has_the_share_of_every_edge(program):
    """Also of the edges that are drawn as a name, because their input is on another line."""
    snapshot = tf.snapshot(*program())
    svg = Picture(snapshot, 85).svg
    found = re.findall(rf'<text [^>]*text-anchor="middle" fill="{SHARE_COLOR}">([^<]*)<', svg)
    edges = [edge for step in snapshot["sweep"]["steps"] for edge in step["edges"]]
    exact = sorted(read_numbers(format_magnitude(edge["product"], 15)) for edge in edges)
    assert sorted(map(read_numbers, found)) == pytest.approx(exact, rel=0.02)


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_number_of_a_narrow_figure_hides_its_edge(program):
    painted = read_painted(Picture(tf.snapshot(*program()), 85).svg)
    plates = [box for tag, box, fill in painted if tag == "rect" and fill == "#ffffff"][1:]
    edges = [points for tag, points, _ in painted if tag == "path" and points]
    assert edges
    for points in edges:
        seen = [point for point in points if not any(contains(plate, [point, point]) for plate in plates)]
        length = max(max(ends) - min(ends) for ends in zip(*points, strict=True))
        assert len(seen) / len(points) * length >= 15 or length < 15  # The edge at a name is only an arrow.


@pytest.mark.parametrize("program", [neuron, read_twice])
def test_edges_of_a_narrow_figure_run_down_the_page_where_all_columns_have_room(program):
    """So that no edge is cut into lines and drawn as a name, which a reader would have to look for."""
    snapshot = tf.snapshot(*program())
    figure = Figure(snapshot, 85)
    for index, node in enumerate(figure.nodes):
        for port, (start, _) in enumerate(node.inputs):
            points = figure.curves[start, index, port]
            assert figure.nodes[start].y + NODE_HEIGHT <= points[0][1] < points[-1][1] <= node.y, points
        entries = [figure.curves[start, index, port][-1][0] for port, (start, _) in enumerate(node.inputs)]
        sides = [figure.curves[start, index, port][-2][0] for port, (start, _) in enumerate(node.inputs)]
        assert entries == sorted(entries) and sides == sorted(sides), "edges cross in front of their node"
    assert figure.width <= figure.max_width


def test_a_long_chain_or_a_wide_one_continues_on_the_next_line():
    x = tf.Variable(0.5, name="x")
    with tf.GradientTape() as tape:
        y = x
        for function in (tf.sin, tf.exp, tf.tanh, tf.cos, tf.sinh, tf.atan, tf.square, tf.sigmoid):
            y = function(y)
    assert not Figure(tf.snapshot(tape, y, x), 85).is_turned
    assert not Figure(tf.snapshot(*towers()), 85).is_turned
    assert not Figure(tf.snapshot(*choice()), 85).is_turned


def find_rounding(letters):
    """Half of a number's last digit, by which rounding may change it."""
    mantissa, _, exponent = letters.partition("e")
    return 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def test_the_shares_of_a_narrow_figure_add_up_to_the_adjoint():
    """Also where they nearly cancel, as in Newton's square root: 0.001595 - 0.001359 = 0.0002359."""
    c = tf.Variable(9.0, name="c")
    with tf.GradientTape() as tape:
        root = c / 2.0
        for _ in range(3):
            root = 0.5 * (root + c / root)
    tape.gradient(root, c)
    snapshot = tf.snapshot(tape, root, c)
    svg = Picture(snapshot, 85).svg
    shares = re.findall(rf'text-anchor="middle" fill="{SHARE_COLOR}">([^<]*)<', svg)
    exact = {edge["product"]["data"] for step in snapshot["sweep"]["steps"] for edge in step["edges"]}
    for letters in shares:
        error = min(abs(float(letters) - number) for number in exact)
        assert error <= 1.001 * find_rounding(letters)
        assert error <= 0.005 * abs(float(letters))  # Three digits, or the rest are zeros.
    sums = {}
    for step in snapshot["sweep"]["steps"]:
        for edge in step["edges"]:
            number = edge["product"]["data"]
            letters = min(shares, key=lambda one, number=number: abs(float(one) - number))
            total, error = sums.get(edge["input"], (0.0, 0.0))
            sums[edge["input"]] = total + float(letters), error + find_rounding(letters)
            assert abs(sums[edge["input"]][0] - edge["sum"]["data"]) <= 1.001 * sums[edge["input"]][1]


def deep():
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="tanh") for _ in range(40)])
    x = tf.ones([3, 4])
    model(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2) * 1e-3
    tape.gradient(loss, model.trainable_variables)
    return tape, loss, model.trainable_variables


@pytest.mark.parametrize(("program", "fold"), [(deep, "layers"), (choice, None), (towers, None)])
def test_numbers_and_names_of_a_narrow_figure_meet_nothing(program, fold):
    """Not the edge of the picture, a node, or each other; and one name has at most two numbers, for its two reads."""
    svg = tf.draw(*program(), width=85, fold=fold).svg
    numbers = re.findall(
        rf'<text x="(-?[\d.]+)" y="([\d.]+)"[^>]*text-anchor="middle" fill="{SHARE_COLOR}">([^<]*)<', svg
    )
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="120" height="52"', svg)
    assert numbers
    for x, y, letters in numbers:
        left, right = float(x) - 3.31 * len(letters), float(x) + 3.31 * len(letters)
        assert left >= 0
        for box_x, box_y in boxes:
            is_beside = right <= float(box_x) or left >= float(box_x) + 120
            assert is_beside or not float(box_y) < float(y) - 4 < float(box_y) + 52
    names = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*height="16" rx="8"', svg)
    tops = sorted((float(x), float(y)) for x, y in names)
    for (_, above), (_, below) in pairwise(tops):
        assert not 0 < below - above < 16
    if program is towers:
        ((middle, top),) = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>6 rows<', svg)
        assert not [x for x, y, _ in numbers if abs(float(x) - float(middle)) < 30 and abs(float(y) - float(top)) < 20]


def test_a_crossed_name_stays_inside_of_a_narrow_figure():
    states = [tf.Variable(float(k), name=f"state_{k}") for k in range(3)]
    with tf.GradientTape() as tape:
        first = states[0] * states[1]
        second = tf.sin(first) * states[2]
        y = tf.stop_gradient(first) * tf.stop_gradient(states[0]) + tf.stop_gradient(second) * states[1]
    tape.gradient(y, states)
    svg = tf.draw(tape, width=85).svg
    names = [float(x) for x in re.findall(r'<rect x="(-?[\d.]+)"[^>]*height="16" rx="8"', svg)]
    assert names and min(names) >= 4
    assert "#a8447f" in svg  # There are crosses.


@pytest.mark.parametrize(("program", "width"), [(loop, 85), (loop, 120), (loop, 170), (network, 85)])
def test_a_narrow_figure_fits_on_a_page(program, width):
    svg = tf.draw(*program(), width=width).svg
    height = float(re.search(r'height="([\d.]+)mm"', svg)[1])
    assert height < 240
    assert "rows</text>" in svg or program is network


def test_the_blocks_of_a_model_that_repeat_are_one_box_in_a_column():
    recording = Recording("by hand")
    h = recording.add_leaf(1.0, name="tokens")
    for block in range(12):
        for layer in ("first", "second"):
            scope = ("model", f"blocks.{block}", layer)
            weight = recording.add_leaf(1.0, name=f"blocks.{block}.{layer}.weight", kind="variable")
            h = recording.add_operation("multiply", [h, weight], 1.0, scope=scope)
            h = recording.add_operation("tanh" if layer == "first" else "sin", [h], 1.0, scope=scope)
    recording.add_operation("square", [h], 1.0, name="loss")
    recording.close()
    drawn = tf.draw(recording, width=85, fold="layers")
    names = [node.row["name"] for node in drawn.figure.nodes]
    turn = [f"blocks.{{}}.{layer}" for layer in ("first", "second")]
    blocks = {block: [name.format(block) for name in turn] for block in (0, 1, 10, 11)}
    assert names == ["tokens", *blocks[0], *blocks[1], "…", *blocks[10], *blocks[11], "loss"]
    assert ">8 × (" in drawn.svg
    height = float(re.search(r'height="([\d.]+)mm"', drawn.svg)[1])
    assert height < 150  # millimeters, about half a page


def record_rnn():
    """Return a loop of 75 turns, in whose first turn one more leaf is recorded."""
    w, b = tf.Variable(0.95, name="w"), tf.Variable(0.02, name="b")
    with tf.GradientTape() as tape:
        h = tf.constant(0.3)
        for _ in range(75):
            h = tf.tanh(w * h + b) * 1.01
        loss = (h - 1.0) ** 2
    tape.gradient(loss, [w, b])
    return tape


def record_loop(turns, then):
    w = tf.Variable(0.9, name="w")
    with tf.GradientTape() as tape:
        h = tf.constant(1.0)
        for _ in range(turns):
            h = tf.tanh(w * h)
        loss = h * h + then * w
    tape.gradient(loss, w)
    return tape


@pytest.mark.parametrize(
    ("record", "box"),
    [
        (record_rnn, ["284 rows", "71 × (×, +, tanh, ×)"]),
        (lambda: record_loop(15, 5.0), ["22 rows", "11 × (×, tanh)"]),
        (lambda: record_loop(9, 1.0), ["10 rows", "5 × (×, tanh)"]),
    ],
)
def test_whole_turns_of_a_loop_are_left_out_and_counted(record, box):
    figure = Figure(tf.snapshot(record()), 85)
    assert [f"{figure.omitted_count} rows", figure.describe_omitted_rows()] == box
    before = [node.row["label"] for node in figure.nodes[: figure.gap_index] if node.row["kind"] == "operation"]
    assert before[: len(before) // 2] == before[len(before) // 2 :]  # Two whole turns.
    gap = figure.nodes[figure.gap_index]
    assert "w:0" in [figure.nodes[start].row["name"] for start, _ in gap.inputs]


def test_a_figure_of_a_long_tape_shows_its_sources_in_order_and_their_gradients():
    xs = [tf.Variable(0.1 * i, name=f"x{i}") for i in range(20)]
    with tf.GradientTape() as tape:
        total = tf.constant(0.0)
        for turn in range(20):
            for i, x in enumerate(xs):
                y = tf.sin(x) * (turn + 1.0)
                total = total + (tf.exp(-y * y) if i % 2 else y)
    gradients = tape.gradient(total, xs[:3])
    for width in (None, 85):
        picture = tf.draw(tape, width=width)
        figure = picture.figure
        names = [node.row["name"] for node in figure.nodes if node.row and node.row["kind"] == "variable"]
        assert {"x0:0", "x1:0", "x2:0"} <= set(names)
        assert picture.svg.split("</desc>")[1].count("∂total/∂x") == 3 and f"= {float(gradients[0])}" in picture.svg
        gap = figure.nodes[figure.gap_index]
        places = [(node.line, node.x) for node in figure.nodes]
        assert max(places[: figure.gap_index]) < (gap.line, gap.x) < min(places[figure.gap_index + 1 :])
        count, turns = figure.omitted_count, figure.describe_omitted_rows()
        assert count + sum(node.row is not None for node in figure.nodes) <= len(picture.snapshot["rows"])
        assert turns.endswith(" turns")


def test_states_of_a_variable_are_right_of_what_they_were_made_from():
    w = tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        u = w * 3.0
        w.assign(w - 0.5)
        v = w * u
        w.assign_add(1.0)
        loss = v + w
    tape.gradient(loss, w)
    for width in (None, 85):
        figure = Figure(tf.snapshot(tape), width)
        first, second, third = (node for node in figure.nodes if node.row["kind"] == "variable")
        value = next(node for node in figure.nodes if node.row["label"] in "-−")
        places = [(node.line, node.x) for node in (first, value, second, third)]
        assert places == sorted(set(places))
        assert figure.build_svg().count(f'stroke="{CUT_COLOR}" stroke-width="2.2"') == 1  # No gradient reaches w − 0.5.


def test_few_turns_are_left_out_where_a_figure_would_be_higher_than_a_page():
    def draw_blocks(count, operations):
        x = tf.Variable(0.5, name="x")
        with tf.GradientTape() as tape:
            y = x * 1.5
            for _ in range(count):
                for operation in operations:
                    y = operation(y)
        tape.gradient(y, x)
        return Figure(tf.snapshot(tape), 85)

    low = draw_blocks(4, [tf.sin, tf.exp, tf.tanh])
    assert low.gap_index < 0
    high = draw_blocks(4, [tf.sin, tf.exp, tf.tanh, tf.sigmoid, tf.cos, tf.nn.softplus, tf.atan, tf.nn.relu])
    assert high.omitted_turns == 2 and high.bottom / high.width * 85 < 220


def test_a_number_is_rounded_once_and_a_single_one_keeps_its_sign():
    """As in the live picture: 0.00435439 is 0.0044, and 1/64 is 0.01563."""
    single = {"text": "[-0.00435439]", "data": [-0.00435439]}
    assert [format_magnitude(single, letters) for letters in (7, 8, 15)] == ["-0.0044", "-0.00435", "[-0.004354]"]
    several = {"text": "", "data": [0.00435439, -0.001] * 5}
    assert [format_magnitude(several, letters) for letters in (7, 15)] == ["±0.0044", "±0.00435"]
    assert format_magnitude({"text": "", "data": [1 / 64] * 9}, 15) == "each 0.01563"
    assert format_magnitude({"text": "-0.03125", "data": -0.03125}, 7) == "-0.0313"


def test_a_name_at_a_short_edge_fits_between_two_columns():
    """A name that would lie over the node before it gives way to the number of its row."""
    logits, labels = tf.Variable([[1.0], [-2.0]], name="logits"), tf.constant([[1.0], [0.0]])
    with tf.GradientTape() as tape:
        scaled = logits * 2.0
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=scaled))
    tape.gradient(loss, logits)
    svg = tf.draw(tape, width=85).svg
    nodes = {
        (float(x), float(y)) for x, y in re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="120" height="52"', svg)
    }
    names = re.findall(r'<rect x="(-?[\d.]+)" y="([\d.]+)" width="([\d.]+)" height="16" rx="8"', svg)
    assert names and nodes
    for x, y, width in (map(float, name) for name in names):
        for node_x, node_y in nodes:
            is_beside = x + width <= node_x or node_x + 120 <= x
            assert is_beside or y + 16 <= node_y or node_y + 52 <= y


def test_a_small_figure_is_in_the_middle_of_its_column():
    x = tf.Variable(3.0, name="x")
    with tf.GradientTape() as tape:
        y = x * tf.sin(x)
    tape.gradient(y, x)
    svg = tf.draw(tape, width=85).svg
    left, width = (float(number) for number in re.search(r'viewBox="(\S+) 0 (\S+) ', svg).groups())
    figure = tf.draw(tape, width=85).figure
    assert left < -20
    assert -left == pytest.approx(left + width - figure.width, abs=0.1)


def leak():
    x, m = tf.Variable(2.0, name="x"), tf.Variable(4.0, name="m")
    with tf.GradientTape() as tape:
        a = tf.stop_gradient(x * 3.0)
        b = tf.exp(a) * a
        c = tf.constant(m.numpy() * 2.0)
        loss = b + c
    tape.gradient(loss, [x, m])
    return tape


@pytest.mark.parametrize("width", [None, 85])
def test_the_arrow_of_a_value_that_came_back_runs_round_nodes_and_names_its_cause(width):
    picture = tf.draw(leak(), width=width)
    svg = picture.svg
    assert re.search(r">stop, line \d+<", svg) and re.search(r">numpy\(\), line \d+<", svg)
    assert re.search(r"✕ stop, line \d+", picture.source) and re.search(r"✕ numpy\(\), line \d+", picture.source)
    escape = next(torn for torn in picture.snapshot["torn"] if torn["kind"] == "left")
    start, end = (picture.figure.node_by_row[escape[key]] for key in ("from", "to"))
    assert picture.figure.nodes[end].inputs == [(start, ESCAPE_PORT)]
    assert SCISSORS in svg or (start, end, 0) not in picture.figure.curves


@pytest.mark.parametrize("width", [None, 85])
def test_omitted_rows_send_back_a_sum(width):
    picture = tf.draw(record_loop(40, 5.0), width=width)
    svg = picture.svg
    assert ">Σ<" in svg
    gap = [line for line in picture.source.splitlines() if line.endswith("]") and "-> gap" in line]
    assert gap and all("dir=back" in line for line in gap if "Σ" in line) and any("Σ" in line for line in gap)


def test_a_description_has_the_gradients_and_where_a_none_comes_from():
    alt = tf.draw(leak()).alt
    assert "∂loss/∂x = None" in alt and re.search(r"The gradient for .+ is None: see row \d+, line \d+", alt)
    tape, loss, weights = network()
    alt = tf.draw(tape, loss, weights).alt
    assert not re.search(r"\[\[[^;]*$", alt.split("; ∂")[0]) and "± " not in alt


def record_layers(names, framework="torch"):
    """Record a sum of parameters with the given names, and a backward pass with the framework's usual call."""
    recording = Recording(framework)
    total = recording.add_leaf([1.0, 2.0], name="x", kind="constant", tracked=False)
    weights = [recording.add_leaf([1.0, 1.0], name=name, kind="variable") for name in names]
    for weight in weights:
        total = recording.add_operation("add", [total, weight], [2.0, 3.0], label="+")
    loss = recording.add_operation("sum", [total], 5.0, label="Σ", name="loss")
    sweep = recording.add_backward_pass([loss])
    for row in range(loss, -1, -1):
        sweep.set_adjoint(row, [1.0, 1.0])
    recording.close()
    return recording


def test_names_of_parameters_are_written_in_the_same_way_and_are_not_cut():
    names = ["encoder.weight", "encoder.bias", "norm.weight", "norm.bias"]
    svg = tf.draw(record_layers(names), width=85).svg
    titles = re.findall(r'font-weight="600" fill="#1f2328">([^<]+)</text><text [^>]+>([^<]+)<', svg)
    assert [f"{layer}.{name}" for name, layer in titles if name in ("weight", "bias")] == names
    assert "…" not in svg.split("</desc>")[1]


def test_parts_of_a_tree_have_their_whole_path():
    """Four nodes called …['w'] or …['b'] would not tell which layer they belong to."""
    names = [f"params['l{layer}']['{part}']" for layer in (1, 2) for part in "wb"]
    svg = tf.draw(record_layers(names), width=85).svg.split("</desc>")[1]
    for name in (name.replace("'", "&#x27;") for name in names):
        title = name.removeprefix("params[&#x27;").replace("&#x27;][", "[")  # The node has …l1['w'].
        assert f"∂loss/∂{name}<" in svg and f">…{title}<" in svg
    assert "backward:" not in svg


def test_results_have_the_room_that_their_numbers_leave():
    names = [f"layers.{layer}.self_attn.in_proj_{part}" for layer in (0, 1) for part in ("weight", "bias")]
    svg = tf.draw(record_layers(names), width=85).svg.split("</desc>")[1]
    assert all(f"∂loss/∂{name}<" in svg for name in names)


def test_a_number_on_an_edge_is_not_on_that_of_a_reference():
    recording = Recording("torch")
    value = [1.0, 2.0]
    x, w, b = (recording.add_leaf(value, name=name, kind="variable") for name in "xwb")
    norm = recording.add_operation("layer_norm", [x, w, b], value)
    active = recording.add_operation("tanh", [recording.add_operation("relu", [norm], value)], value)
    total = recording.add_operation("add", [x, active], value, label="+")
    second = recording.add_operation("layer_norm", [total, w, b], value)
    loss = recording.add_operation("mean", [second], 0.0, name="loss")
    sweep = recording.add_backward_pass([loss])
    for row in range(loss, norm - 1, -1):
        sweep.set_adjoint(row, [0.0119, -0.0119])
        for port, input_row in enumerate(recording.rows[row].inputs):
            share = [0.0506 - port / 100, 0.0119]
            sweep.send(row, input_row, port, share, share)
            sweep.set_adjoint(input_row, share)
    recording.close()
    svg = tf.draw(recording, width=85).svg
    numbers = re.findall(
        rf'<text x="(-?[\d.]+)" y="([\d.]+)"[^>]*text-anchor="middle" fill="{SHARE_COLOR}">([^<]*)<', svg
    )
    plates = [compute_plate((float(x), float(y)), text) for x, y, text in numbers]
    for (left, top, right, bottom), (other_left, other_top, other_right, other_bottom) in combinations(plates, 2):
        is_beside = right <= other_left + 4 or other_right <= left + 4
        assert is_beside or bottom <= other_top + 5 or other_bottom <= top + 5


def test_a_figure_of_an_accumulator_has_the_tangents():
    x = tf.Variable(1.1)
    with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
        y = tf.cos(x * x)
    assert f"→ {accumulator.jvp(y):.4g}<" in tf.draw(accumulator, width=85).svg
    assert "→ 2.2<" in tf.draw(accumulator).svg


def recurrent(units):
    """A loop whose turns have six operations, or more with several units."""
    weights = [tf.Variable([[0.1 * (k + 1), -0.2], [0.3, 0.4]], name=f"W{k}") for k in range(units + 1)]
    h = tf.constant([[0.5, 1.0]])
    with tf.GradientTape() as tape:
        for _ in range(25):
            x = tf.ones((1, 2)) * 0.5
            for weight in weights[1:]:
                x = tf.sin(x @ weight + 1.0)
            h = tf.tanh(h @ weights[0] + x)
        loss = tf.reduce_sum(h**2)
    tape.gradient(loss, weights)
    return tf.snapshot(tape)


@pytest.mark.parametrize(("width", "units", "kept"), [(None, 1, 2), (None, 4, 1), (85, 1, 1)])
def test_two_turns_of_a_loop_remain_at_each_end_unless_they_are_long(width, units, kept):
    assert Figure(recurrent(units), width).omitted_turns == 25 - 2 * kept


@pytest.mark.parametrize("units", [1, 3])
def test_the_number_of_references_and_the_sum_of_a_gap_do_not_meet(units):
    """Both belong to the box of the omitted rows, which also reads the row just before it."""
    painted = read_painted(Figure(recurrent(units), None).build_svg())
    texts = [(corners, text) for tag, corners, text in painted if tag == "text"]
    sums = [corners for corners, text in texts if text == "Σ"]
    counts = [corners for corners, text in texts if text.endswith(" rows")]
    assert counts and sums
    for ((left, top), (right, bottom)), ((sum_left, sum_top), (sum_right, sum_bottom)) in product(counts, sums):
        assert min(right, sum_right) <= max(left, sum_left) or min(bottom, sum_bottom) <= max(top, sum_top)
