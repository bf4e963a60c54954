"""The command that compares answers before and after a change."""

import json

from . import answers
from .test_programs import CASES


def test_a_changed_answer_is_printed_and_counted(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(answers, "CASES", CASES[:3])
    monkeypatch.setattr(answers, "FRAMEWORKS", [])
    file = tmp_path / "before.json"
    monkeypatch.setattr("sys.argv", ["answers", str(file)])
    answers.main()
    before = json.loads(file.read_text(encoding="utf-8"))
    assert [name.split()[1] for name in before if name.endswith(" 0")] == [case.name for case in CASES[:3]]
    name = next(iter(before))
    line = before[name]["line"]
    before[name]["line"] = 99
    file.write_text(json.dumps(before), encoding="utf-8")
    monkeypatch.setattr("sys.argv", ["answers", str(file), "--compare"])
    answers.main()
    assert capsys.readouterr().out == f"{name}, line:\n  - 99\n  + {line}\n{len(before)} answers, {{'line': 1}}\n"
