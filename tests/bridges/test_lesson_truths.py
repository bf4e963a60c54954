"""What the lessons say holds in TensorFlow: the answers to predictions, and the solutions of exercises.

The programs of a lesson run twice, with minitape and with TensorFlow, and reveal the same answers. A cell that needs
something that TensorFlow lacks, such as a picture, is left out.
"""

import contextlib
import io
import linecache
import re
from typing import Any

import numpy as np
import pytest

import minitape
import minitape.course
from minitape.course.answer_comparison import compare_answers
from minitape.course.course_texts import list_built_in_lessons
from minitape.course.exercise import collect_exercises
from minitape.course.unknown_functions import TracedNumber, UnknownFunction
from tests.lesson_source import read_lesson_source

tensorflow = pytest.importorskip("tensorflow")

LESSONS = sorted(list_built_in_lessons() - {"12", "13", "14"})
"""The lessons whose predictions are asked of both systems. Lessons 12 and 14 ask about other tapes."""
TRAINING = "13"  # TensorFlow takes 45 s for its trainings.
MIN_SHARE = 0.6
"""At least this share of all predictions is revealed in TensorFlow. The others ask about minitape's rows."""
ABOUT_MINITAPE = {"10.p11"}
"""Questions about minitape by name: TensorFlow needs one recording, as the reply to that choice says."""
OWN_NAMES = {
    name: lambda *_, **__: None
    for name in ("predict", "check", "again", "progress", "TapeView", "Exercise", "add_exercise")
}


def run_cells(lesson: str, tf: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run the cells of a lesson with minitape or TensorFlow: what they reveal, and the names that they define."""
    answers: dict[str, Any] = {}

    def reveal(name: str, truth: Any, *_: Any) -> None:
        answers[name] = truth

    names = {name: getattr(minitape.course, name) for name in minitape.course.__all__}
    names |= {**OWN_NAMES, "tf": tf, "np": np, "reveal": reveal}
    for number, cell in enumerate(read_lesson_source(lesson).cells):
        if cell.kind == "code":
            file_name = f"<lesson {lesson}, cell {number}>"
            source = re.sub(
                r"^(?:import minitape as tf|from minitape.* import .*)$", "", cell.source, flags=re.MULTILINE
            )
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                # AutoGraph rewrites only functions whose source it finds.
                linecache.cache[file_name] = (len(source), None, source.splitlines(keepends=True), file_name)
                exec(compile(source, file_name, "exec"), names)
    return answers, names


class LessonRuns(dict):
    """What the lessons reveal and define in both systems, run when it is asked for."""

    def __missing__(self, lesson: str) -> Any:
        np.random.seed(1)
        self[lesson] = [run_cells(lesson, tf) for tf in (minitape, tensorflow)]
        return self[lesson]


@pytest.fixture(scope="module")
def runs():
    return LessonRuns()


@pytest.mark.parametrize("lesson", [*LESSONS, pytest.param(TRAINING, marks=pytest.mark.longest)])
def test_predictions_have_the_same_answers(lesson, runs):
    (own, _), (theirs, _) = runs[lesson]
    different = {
        name: (own[name], theirs[name])
        for name in (own.keys() & theirs.keys()) - ABOUT_MINITAPE
        if not compare_answers(theirs[name], own[name], 1e-4, 1e-6).is_right
    }
    assert different == {}


def test_the_systems_differ_as_the_lesson_says(runs):
    """Lesson 10 says which branches of a traced `if` Python visits, and which throws share a recording."""
    (_, own_names), (_, their_names) = runs["10"]
    both = ["upper", "lower"]
    assert (own_names["visits_so_far"], their_names["visits_so_far"]) == ([["upper"], both], [both, both])
    counts = [names["sawtooth"].experimental_get_tracing_count() for names in (own_names, their_names)]
    assert counts == [4, 1]
    own_slope, their_slope = (names["slope_of"](names["sawtooth"], 0.4)[1] for names in (own_names, their_names))
    assert own_slope < 0 and np.isclose(own_slope, their_slope), "both are the slope of one tooth"


@pytest.mark.parametrize(
    ("effect", "visits"), [("pass", (1, 1)), ("tf.print()", (4, 1)), ("box.assign_add(1.0)", (4, 1))]
)
def test_a_loop_that_prints_or_assigns_is_visited_once_for_each_iteration_and_once_before(effect, visits, capfd):
    """What lesson 10 says about the body of a traced `tf.while_loop` with three iterations."""
    found = []
    for tf in (minitape, tensorflow):
        seen: list[Any] = []
        box = tf.Variable(0.0)

        def body(k, tf=tf, seen=seen, box=box):
            seen.append(k)
            exec(effect, {"tf": tf, "box": box})
            return [k + 1]

        tf.function(lambda tf=tf, body=body: tf.while_loop(lambda k: k < 3, body, [0]))()
        found.append(len(seen))
    assert tuple(found) == visits


def test_the_aim_of_lesson_10_hits_four_targets_with_four_recordings(runs):
    for _, names in runs["10"]:
        exec(read_lesson_source("10").solutions["10.6"], names)
        names["visits"].clear()
        found = [names["aim"](names["throw"], target) for target in names["targets"]]
        assert len(names["visits"]) == len(names["targets"]) == 4
        lands = [float(names["throw"](angle)) for angle in found]
        assert np.allclose(lands, names["targets"], atol=1e-4)


def test_most_predictions_are_asked_of_both(runs):
    asked = [name for lesson in LESSONS for name in read_lesson_source(lesson).explanations]
    pairs = [runs[lesson] for lesson in LESSONS]
    revealed = [name for (own, _), (theirs, _) in pairs for name in own.keys() & theirs.keys()]
    assert len(revealed) >= MIN_SHARE * len(asked), sorted(set(asked) - set(revealed))


def list_exercise_cells(lesson: str) -> list[str]:
    return [cell.source for cell in read_lesson_source(lesson).cells if "exercise" in cell.marks]


def takes_unknown_function(case: tuple[Any, ...]) -> bool:
    return any(isinstance(argument, UnknownFunction) and not isinstance(argument, TracedNumber) for argument in case)


SOLVED = [
    exercise
    for lesson in (*LESSONS, "14")
    for exercise in collect_exercises(lesson).values()
    if exercise.cases and exercise.view is None and any(map(takes_unknown_function, exercise.cases))
]


@pytest.mark.parametrize("exercise", SOLVED, ids=[exercise.name for exercise in SOLVED])
def test_the_solution_is_right_in_tensorflow(exercise, runs, request):
    names = dict(runs[exercise.lesson][1][1])
    # An unknown function takes numbers only, and what TensorFlow traces has none.
    request.addfinalizer(lambda: tensorflow.config.run_functions_eagerly(False))
    tensorflow.config.run_functions_eagerly(True)
    exec(read_lesson_source(exercise.lesson).solutions[exercise.name], names)
    calls = re.findall(rf'check\(\s*"{exercise.name}", (\w+)\)', "\n".join(list_exercise_cells(exercise.lesson)))
    solution = names[calls[0]]
    for case in exercise.cases:
        assert compare_answers(solution(*case), exercise.expect(*case), 1e-4, 1e-4).is_right, case


def test_a_frozen_keras_layer_leaves_the_list_but_a_tape_still_watches_it():
    """What lesson 4 says about ``layer.trainable``."""
    layer = tensorflow.keras.layers.Dense(2)
    layer.build((1, 3))
    layer.trainable = False
    with tensorflow.GradientTape() as tape:
        y = tensorflow.reduce_sum(layer(tensorflow.ones((1, 3))))
    assert layer.trainable_variables == []
    assert len(tape.watched_variables()) == 2
    assert all(gradient is not None for gradient in tape.gradient(y, tape.watched_variables()))


def test_an_update_in_a_graph_runs_only_if_the_session_is_asked_for_it():
    def fit(change):
        with tensorflow.Graph().as_default():
            x = tensorflow.compat.v1.placeholder(tensorflow.float32)
            w = tensorflow.Variable(0.5)
            loss = (w * x - 1.0) ** 2

            def write_step():
                return w.assign_sub(0.1 * tensorflow.gradients(loss, w)[0])

            step = write_step()
            fetched = {"": loss, "A": step, "B": [loss, step], "C": loss, "D": w}[change]
            with tensorflow.compat.v1.Session() as session:
                session.run(tensorflow.compat.v1.global_variables_initializer())
                for _ in range(10):
                    if change == "C":
                        write_step()
                    session.run(fetched, feed_dict={x: 1.0})
                return session.run(w)

    assert fit("") == 0.5
    learns = {change: bool(fit(change) != 0.5) for change in "ABCD"}
    assert learns == collect_exercises("appendix")["appendix.10"].expect


def test_a_part_of_a_variable_takes_one_number_for_all_its_places():
    n = tensorflow.Variable([4, 2])
    n[:].assign(7)
    assert n.numpy().tolist() == [7, 7]
