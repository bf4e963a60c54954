"""The picture of README's own program shows what the program asks about: the encoder, whose gradient is None."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

README = Path(__file__).parents[2] / "README.md"


def test_the_encoder_of_readme_is_in_its_picture(tmp_path):
    text = re.search(r"```python\n(import torch\n.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]  # type: ignore[index]
    file = tmp_path / "train.py"
    file.write_text(text + "import json\nprint(json.dumps(recording.snapshot()))\n", encoding="utf-8")
    told = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True).stdout
    snapshot = json.loads(told.splitlines()[-1])
    given = {source["name"]: source["gradient"] for source in snapshot["results"][0]["sources"]}
    assert list(given) == ["encoder.weight", "encoder.bias", "decoder.weight", "decoder.bias"]
    assert [name for name, gradient in given.items() if gradient is None] == ["encoder.weight", "encoder.bias"]
    (torn,) = snapshot["torn"]
    assert (torn["kind"], torn["text"], torn["line"]) == ("cut", "detach", 6)
    assert snapshot["alarms"][0]["title"].startswith("The gradient for encoder.weight, encoder.bias is None")
    named = {row["name"] for row in snapshot["rows"] if row["kind"] == "variable"}
    assert named == set(given)
