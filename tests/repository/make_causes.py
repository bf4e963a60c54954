"""Write the pages about causes from the causes' records, their texts and the tests' programs.

python tests/repository/make_causes.py          writes docs/causes.md, docs/causes/ and their Chinese forms
python tests/repository/make_causes.py torch    first runs the programs of PyTorch, which has to be installed (or of
                                                tensorflow, jax or tape) and stores what minitape prints about them,
                                                and pictures of them for pages without a program on a tape
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
sys.path.insert(0, str(REPOSITORY))

from minitape.common.translation import load_translations  # noqa: E402
from minitape.explain.causes import CAUSES  # noqa: E402
from minitape.explain.causes.cause import FRAMEWORKS, KINDS, PAGES_FOLDER, Cause  # noqa: E402
from tests.explain.cause_sections import CauseText, read_cause_texts  # noqa: E402
from tests.explain.page_programs import (  # noqa: E402
    PageProgram,
    get_picture_path,
    load_page_programs,
    read_outputs,
    write_outputs,
    write_pictures,
)

DOCS = REPOSITORY / "docs"
SUFFIXES = {"en": ".md", "zh": ".zh.md"}
TITLES = {"tape": "minitape", "torch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX"}
FIELD_NAMES = {"x": "x", "w": "w", "line": "", "values": "", "functions": "", "used": "", "watched": ""}
NOTE = "<!-- Written by tests/repository/make_causes.py from records and docs/cause_texts.md; do not edit. -->"


class Words(NamedTuple):
    """The words of the pages in a language.

    Attributes:
        tape: The heading for minitape's own tape.
        twin: The link to the same page in the other language.
        list_head: The text before the list of causes.
        intro: The first sentence of a page, with the fields cause, frameworks, kind and meaning.
        errors: The sentence before the error messages that lead to a page.
        raises: The sentence before the error that the framework raises, with the field framework.
        prints: The sentence before what minitape prints, with the field question.
        run_prints: The same for a cause that only a whole run shows.
        picture: What a picture shows, with the field framework.
        fix: The sentence before the fix.
        reports: What minitape reports about a cause without a program, with the fields framework, message and fix.
        tape_reports: The same for minitape's own tape.
        why: The heading of the reason.
        intended: The heading of the last section.
        all_causes: The link to the list of causes.
        by_error: The heading of the list of error messages.
        error_columns: The columns of that list.
        cause_columns: The columns of the list of causes.
        comma: What separates names.
        last_comma: What comes before the last one of several names.
    """

    tape: str
    twin: str
    list_head: str
    intro: str
    errors: str
    raises: str
    prints: str
    run_prints: str
    picture: str
    fix: str
    reports: str
    tape_reports: str
    why: str
    intended: str
    all_causes: str
    by_error: str
    error_columns: str
    cause_columns: str
    comma: str
    last_comma: str


WORDS = {
    "en": Words(
        tape="minitape's tape",
        twin="中文",
        list_head="""\
# The causes

Each answer from [`explain`](explain.md) names one of these causes. The page about a cause shows a program with this
problem, what minitape prints about it, the reason, and the change that fixes it. `minitape explain --cause detach`
prints such a page in the terminal. You can also pass your framework's error message instead of the name.""",
        intro="minitape reports `{cause}` for {frameworks} programs. Its kind is `{kind}`: {meaning}.",
        errors="Error messages that lead here:",
        raises="{framework} itself raises:",
        prints="`{question}` reports:",
        run_prints="`minitape explain program.py` watches the run and reports:",
        picture="The recording of the {framework} program",
        fix="The fix:",
        reports="In {framework}, minitape reports: {message} {fix}",
        tape_reports="minitape reports: {message} {fix}",
        why="Why it happens",
        intended="When it is intended",
        all_causes="[All causes](../causes.md) · [How to ask](../explain.md)",
        by_error="By error message",
        error_columns="| message | causes |\n|---|---|",
        cause_columns="| cause | what happened | reported in |\n|---|---|---|",
        comma=", ",
        last_comma=" and ",
    ),
    "zh": Words(
        tape="minitape 的磁带",
        twin="English",
        list_head="""\
# 原因一览

[`explain`](explain.zh.md) 的每个解释，开头都是下面某个原因的名字。每种原因各有一页，\
用一个出错的程序说明 minitape 会打印什么、为什么会这样、应该怎么改。\
在终端里输入 `minitape explain --cause detach`，就能看到这样的一页；`--cause` 后面不写名字，写框架的错误信息也行。""",
        intro="在 {frameworks} 的程序里，minitape 会报告 `{cause}`。它属于 `{kind}` 这一类：{meaning}。",
        errors="如果看到的是下面的错误信息，原因也可能在这一页：",
        raises="{framework} 自己报的错误是：",
        prints="`{question}` 给出的解释：",
        run_prints="`minitape explain program.py` 运行完程序以后报告：",
        picture="这个 {framework} 程序的记录",
        fix="改法：",
        reports="在 {framework} 里，minitape 报告：{message}{fix}",
        tape_reports="minitape 报告：{message}{fix}",
        why="为什么会这样",
        intended="什么时候是有意的",
        all_causes="[原因一览](../causes.zh.md) · [怎样问](../explain.zh.md)",
        by_error="按错误信息查",
        error_columns="| 错误信息 | 原因 |\n|---|---|",
        cause_columns="| 原因 | 发生了什么 | 在哪里报告 |\n|---|---|---|",
        comma="、",
        last_comma=" 和 ",
    ),
}
KINDS_IN_CHINESE = {
    "connected": "没有问题",
    "not_tracked": "没有给这个源保留梯度",
    "wrong_dtype": "值不是浮点数",
    "cut": "梯度在某次调用里有意挡住了",
    "paused": "这一行运行时没有记录",
    "outside": "这一行在记录之外运行",
    "through_state": "值存进变量以后又读了出来",
    "left": "值离开了框架",
    "other_object": "用到的是另一个对象，而不是源",
    "no_derivative": "有个运算传不回梯度",
    "unknown": "梯度丢在一次只记成一行的调用里",
    "unused": "目标不依赖源",
    "zero": "梯度是零",
    "nonfinite": "梯度是 NaN 或无穷大",
    "error": "框架不肯求梯度，程序没有去求，或者求了又丢掉",
    "suspect": "梯度是有的，却不对",
}
QUESTIONS = {
    "torch": "recording.explain(loss, w)",
    "tensorflow": "recording.explain(y, w)",
    "jax": "recording.explain(w)",
}


PLACEHOLDERS = {
    "en": {"what": "operation", "from_": "number", "to": "number"},
    "zh": {"what": "某个运算", "from_": "某个数", "to": "某个数", "name": "某个变量"},
}
PLACEHOLDERS_OF_CAUSE = {
    ("layer_mode", "zh"): {"what": "某一层"},
    ("refused", "zh"): {"what": "某个函数"},
    ("swapped_average", "en"): {"what": "parameters", "name": "average"},
    ("swapped_average", "zh"): {"what": "参数", "name": "平均值"},
}


class Placeholder(str):
    """A word in place of the value of a field. The format of the field is ignored."""

    def __format__(self, format_spec: str) -> str:
        """Return the word itself."""
        return str(self)


class PlaceholdersByField(dict[str, str]):
    """Maps each field of a sentence to a word in italics, unless the field has its own name."""

    def __init__(self, names: dict[str, str], cause: Cause, language: str) -> None:
        """Keep the fields that have their own name, and the words for the others.

        Args:
            names: The fields that have their own name.
            cause: The cause that the sentence is about.
            language: The code of the language.
        """
        super().__init__(names)
        self.words = PLACEHOLDERS[language] | PLACEHOLDERS_OF_CAUSE.get((cause.name, language), {})

    def __missing__(self, field: str) -> str:
        """Return the word for a field in italics."""
        return Placeholder(f"*{self.words.get(field, field)}*")


def format_frameworks(cause: Cause, language: str) -> str:
    """Return the names of the frameworks in which a cause is reported."""
    words = WORDS[language]
    *names, last = [TITLES[name] for name in sorted(cause.frameworks, key=FRAMEWORKS.index)]
    return f"{words.comma.join(names)}{words.last_comma}{last}" if names else last


def describe_kind(kind: str, language: str) -> str:
    """Return the meaning of a kind."""
    return KINDS[kind].meaning if language == "en" else KINDS_IN_CHINESE[kind]


def format_output(program: PageProgram, output: dict[str, str], language: str) -> list[str]:
    """Return the paragraphs that say what a program raises and what minitape prints about it."""
    words = WORDS[language]
    if program.framework == "tape":
        return [f"```text\n{output[language]}\n```", "<!-- picture: tape -->"]
    parts = []
    if output["error"]:
        parts += [words.raises.format(framework=TITLES[program.framework]), f"```text\n{output['error']}\n```"]
    question = QUESTIONS[program.framework]
    if CAUSES[program.cause].kind == "suspect":
        question = "recording.explain()"
    sentence = words.run_prints if program.is_run else words.prints.format(question=question)
    parts += [sentence, f"```text\n{output[language]}\n```"]
    picture = get_picture_path(program.cause, program.framework, language)
    if picture.exists():
        title = words.picture.format(framework=TITLES[program.framework])
        parts.append(f"![{title}](../{picture.parent.name}/{picture.name})")
    return parts


def format_sentences(cause: Cause, framework: str, language: str) -> str:
    """Return what minitape reports in a framework for which the tests' programs have no page."""
    words = WORDS[language]
    text = next(text for (own, _), text in cause.text_by_variant.items() if own == framework)
    translations = load_translations("explain", language) if language != "en" else {}
    fields = PlaceholdersByField(FIELD_NAMES | {"functions": Placeholder(text.functions)}, cause, language)
    message, fix = (translations.get(part, part).format_map(fields) for part in (text.message, text.fix))
    template = words.tape_reports if framework == "tape" else words.reports
    return template.format(framework=TITLES[framework], message=message, fix=fix)


def build_cause_page(
    cause: Cause, text: CauseText, errors: list[str], programs: dict[str, PageProgram], language: str
) -> str:
    """Return the page about a cause.

    Args:
        cause: The record of the cause.
        text: The hand-written text in the language of the page.
        errors: The error messages that lead to the page.
        programs: The programs of the page by framework.
        language: The code of the language.
    """
    words, outputs = WORDS[language], read_outputs()
    other_suffix = SUFFIXES["zh" if language == "en" else "en"]
    meaning = describe_kind(cause.kind, language)
    intro = words.intro.format(
        cause=cause.name,
        frameworks=format_frameworks(cause, language),
        kind=cause.kind,
        meaning=meaning[:1].lower() + meaning[1:] if language == "en" else meaning,
    )
    parts = [
        f"# {cause.name}{': ' if language == 'en' else '：'}{text.title}",
        f"[{words.twin}]({cause.name}{other_suffix})",
        NOTE,
        intro,
    ]
    if errors:
        parts += [words.errors, "```text\n" + "\n".join(errors) + "\n```"]
    for framework in cause.frameworks:
        parts.append(f"## {words.tape if framework == 'tape' else TITLES[framework]}")
        if framework not in programs:
            parts.append(format_sentences(cause, framework, language))
            continue
        program = programs[framework]
        if program.has_output:
            shown = format_output(program, outputs[framework][cause.name], language)
        else:
            shown = [format_sentences(cause, framework, language)]
        parts += [f"```python\n{program.code}```", *shown, words.fix, f"```diff\n{program.diff}\n```"]
    parts += [f"## {words.why}", text.reason, f"## {words.intended}", text.intended, words.all_causes]
    return "\n\n".join(parts) + "\n"


def build_list_page(language: str) -> str:
    """Return the page that lists all causes by kind, and by error message."""
    words, suffix, texts = WORDS[language], SUFFIXES[language], read_cause_texts(language)
    first_line, _, rest = words.list_head.partition("\n\n")
    other_suffix = SUFFIXES["zh" if language == "en" else "en"]
    parts = [first_line, f"[{words.twin}](causes{other_suffix})", NOTE, rest]
    for kind in KINDS:
        causes = [cause for cause in CAUSES.values() if cause.kind == kind and cause.name in texts]
        if not causes:
            continue
        rows = [
            f"| [`{cause.name}`]({PAGES_FOLDER}/{cause.name}{suffix}) | {texts[cause.name].title} | "
            f"{format_frameworks(cause, language)} |"
            for cause in causes
        ]
        parts += [f"## {describe_kind(kind, language)} (`{kind}`)", "\n".join([words.cause_columns, *rows])]
    rows = [
        f"| `{error}` | {words.comma.join(f'[`{name}`]({PAGES_FOLDER}/{name}{suffix})' for name in names)} |"
        for error, names in map_errors_to_causes().items()
    ]
    return "\n\n".join([*parts, f"## {words.by_error}", "\n".join([words.error_columns, *rows])]) + "\n"


def map_errors_to_causes() -> dict[str, list[str]]:
    """Return the causes to which each error message leads."""
    causes_by_error: dict[str, list[str]] = {}
    for name, text in read_cause_texts("en").items():
        for error in text.errors:
            causes_by_error.setdefault(error, []).append(name)
    return dict(sorted(causes_by_error.items()))


def build_pages() -> dict[str, str]:
    """Return the text of each page by its path in `docs`."""
    programs, english_texts = load_page_programs(), read_cause_texts("en")
    pages = {f"{PAGES_FOLDER}/errors.json": json.dumps(map_errors_to_causes(), indent=1) + "\n"}
    for language, suffix in SUFFIXES.items():
        pages[f"causes{suffix}"] = build_list_page(language)
        for name, text in read_cause_texts(language).items():
            page = build_cause_page(CAUSES[name], text, english_texts[name].errors, programs.get(name, {}), language)
            pages[f"{PAGES_FOLDER}/{name}{suffix}"] = page
    return pages


def write_pages() -> None:
    """Write all pages, and remove those of causes that no longer exist."""
    folder, pages = DOCS / PAGES_FOLDER, build_pages()
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if f"{PAGES_FOLDER}/{path.name}" not in pages:
            path.unlink()
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for framework_name in sys.argv[1:]:
        if framework_name not in FRAMEWORKS:
            sys.exit(f"{framework_name} is not one of {', '.join(FRAMEWORKS)}")
        write_outputs(framework_name)
        if framework_name != "tape":
            write_pictures(framework_name)
    write_pages()
