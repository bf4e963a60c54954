"""``recording.explain`` in Chinese: each sentence of an answer, what fixes it, and a model's page are translated."""

import re

import pytest

from minitape.bridges import model_page
from minitape.common.texts import VARIABLES

from .cases import broken
from .frameworks import every_case
from .test_suspects import CASES as SUSPECTS
from .test_suspects import WRONG, asked

pytestmark = pytest.mark.filterwarnings("ignore")  # what the frameworks themselves say in these programs
# words of a sentence; code is between quotes, or has a sign between its words
ENGLISH = re.compile(r"\b[a-z]{2,}(?: [a-z]+){2,}\b|\b(?:the|is|not|was|of|its|an|or) [a-z]+", re.IGNORECASE)
CODE = re.compile(r"`[^`]*`|\w*[.\[(]\S*|\[[^\]]* for [^\]]*\]")
OF_JAX = "它说："  # after it comes the error of JAX itself


@pytest.fixture(autouse=True)
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLES[0], "zh")


def english_in(answer: object) -> list[str]:
    lines = [line for line in str(answer).splitlines() if not re.match(r"  \S+，代码第 \d+ 行：", line)]
    said = (CODE.sub("", re.sub("`[^`]*`", "", line.partition(OF_JAX)[0])) for line in lines)
    return [words for line in said for words in ENGLISH.findall(line)]


@pytest.mark.parametrize(("framework", "name"), every_case())
def test_answers_are_chinese(framework, name):
    _, text = framework.cases[name]
    _, _, why = framework.recorded(broken(text), f"<{name}>")
    assert re.search("[\u4e00-\u9fff]", why.message) and re.search("[\u4e00-\u9fff]", why.fix)
    assert english_in(why) == [], str(why)


@pytest.mark.parametrize(("framework", "name"), WRONG)
def test_pages_are_chinese(framework, name):
    page = asked(framework, broken(SUSPECTS[framework][name][1]), name)
    assert re.search("有梯度：|没有梯度：", str(page)) and english_in(page) == [], str(page)
    assert model_page.ModelPage().__str__() == "代码块里没有用到任何参数。"
