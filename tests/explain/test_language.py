"""`explain` in the language of the lessons in the current folder: it says no other sentences."""

import re
from pathlib import Path

import pytest

import minitape as tf
from minitape.course.framework_programs import framework_program

from .programs import Case, explain_program, load_cases
from .test_programs import run_and_explain

CHINESE = Path(__file__).parents[2] / "notebooks" / "zh"
CASES = load_cases(Path(__file__).parent / "cases")[::12]
ENGLISH = re.compile(r"[a-z]{2,}(?: [a-z]+){2,}|\b(?:the|is|not|was|of|its) [a-z]+", re.IGNORECASE)


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHINESE)


def find_english_sentences(answer: object) -> list[str]:
    """The English sentences of an answer, but for the line of the program and what stands between quotes and in
    code.
    """
    lines = [line for line in str(answer).splitlines() if not re.match(r"  \S+，代码第 \d+ 行：", line)]
    return ENGLISH.findall(re.sub(r"`[^`]*`|\[[^\]]* for [^\]]*\]", "", "\n".join(lines)))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
@pytest.mark.usefixtures("chinese")
def test_answers_are_chinese(case: Case) -> None:
    for answer in run_and_explain(case, early=False)[1]:
        assert re.search("[\u4e00-\u9fff]", answer.message) and find_english_sentences(answer) == [], str(answer)


@pytest.mark.usefixtures("chinese")
def test_the_words_that_programs_read_stay() -> None:
    why = explain_program("y = tf.stop_gradient(x) * 2.0")
    assert (why.cause, why.kind, why.connected) == ("stop_gradient", "cut", False)
    assert why.message.startswith("tf.stop_gradient（") and why.message.endswith("）切断了从 x 到目标的路径。")
    assert "\n  改法：去掉 tf.stop_gradient" in str(why)


@pytest.mark.usefixtures("chinese")
def test_what_a_gradient_that_is_there_lacks() -> None:
    why = explain_program("with tape.stop_recording():\n    h = x * 2.0\ny = tf.reduce_sum(x * h)")
    assert (
        str(why).splitlines()[0]
        == "connected: 目标依赖 x，磁带记下了路径。旁边还有一条路径断了，梯度少了沿那条路径传来的部分。"
    )
    assert "  另外：" in str(why)


@pytest.mark.usefixtures("chinese")
def test_values_that_are_no_numbers() -> None:
    x = tf.Variable([0.0, 1.0])
    with tf.GradientTape() as tape:
        y = tf.sqrt(x)
    why = tape.explain(y, x)
    assert why.cause == "nan_backward" and why.message.startswith("x 的梯度不是有限数。sqrt（")
    assert why.fix.startswith("`tf.sqrt(x)` 在 `x` 等于零的地方斜率不是有限数，请给输入加上一个很小的数")


@pytest.mark.usefixtures("chinese")
def test_a_page_of_answers() -> None:
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = a * a
    page = str(tape.explain(y, [a, b]))
    assert page.startswith("b 没有梯度（2 个里有 1 个）。\n") and page.endswith("\n\na 有梯度（2 个里有 1 个）。")


@pytest.mark.usefixtures("chinese")
def test_a_note_on_an_error() -> None:
    with tf.GradientTape() as tape:
        pass
    with pytest.raises(AttributeError) as error:
        tape.gradient(1.0, 2.0)
    assert error.value.__notes__[0].startswith("普通的 float 不是张量")


@pytest.mark.parametrize("framework", ["torch", "tensorflow", "jax", "torch_losses"])
@pytest.mark.usefixtures("chinese")
def test_the_kept_answers_of_other_frameworks(framework: str) -> None:
    why = framework_program(framework).why
    assert re.search("[\u4e00-\u9fff]", why.message) and find_english_sentences(why) == [], str(why)
