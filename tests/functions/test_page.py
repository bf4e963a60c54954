"""The examples in docs/functions.md run, and the files and names in it exist."""

import doctest
import re
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")


def test_the_examples_of_the_page():
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(blocks, {}, "functions.md", None, 0)
    assert len(test.examples) > 20
    found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL).run(test)
    assert not found.failed


def test_the_files_and_names_of_the_page():
    folder = ROOT / "minitape" / "functions"
    files = set(re.findall(r"`(\w+\.py)`", PAGE))
    assert (
        {path.name for path in folder.glob("*.py")}
        >= files
        >= {"first_run.py", "row_program.py", "concrete_function.py", "effect_rows.py"}
    )
    for name, file in re.findall(r"`(\w+)` in `(\w+\.py)`", PAGE):
        assert re.search(rf"^(class|def) {name}\b", (folder / file).read_text(encoding="utf-8"), re.MULTILINE), name


def test_the_lines_of_the_page_of_names():
    space = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "names.md").read_text("utf-8"), re.DOTALL):
        exec(block, space)
        for line in block.splitlines():
            if (parts := line.split("  # "))[1:] and not line.startswith(" "):
                np.testing.assert_allclose(np.asarray(eval(parts[0], space)), eval(parts[1]), 1e-5, 1e-6, err_msg=line)
