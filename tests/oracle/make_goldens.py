"""Writes `goldens/FOLDER.jsonl`: what real TensorFlow does with every case, a line for each area.

    python make_goldens.py [AREA ...]         run with a Python that has TensorFlow
    python make_goldens.py --check [AREA ...] run again and say what differs

Cases with a NameError, SyntaxError or AttributeError are listed: they are usually slips in the case.
"""

import argparse
import json
import os
import sys
import time

for _key, _value in {
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_ENABLE_ONEDNN_OPTS": "0",
    "CUDA_VISIBLE_DEVICES": "-1",
    "KERAS_BACKEND": "tensorflow",
}.items():
    os.environ.setdefault(_key, _value)

from corpus import GOLDENS, areas, goldens, load, stored  # noqa: E402
from observe import compare, observe  # noqa: E402

SLIPS = ("NameError", "SyntaxError", "IndentationError", "AttributeError", "CaseTimeout")


def write(area: str, records: dict) -> None:
    """Puts the records of an area in the place of its old ones, in the file of its folder."""
    folder = area.partition("/")[0]
    known = stored(folder) | {area: records}
    lines = [json.dumps([name, known[name]], ensure_ascii=False) for name in sorted(known) if name in areas()]
    (GOLDENS / f"{folder}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    stored.cache_clear()


def slip(record: dict) -> str:
    """The first error in a record that looks like a mistake of the case itself, or ''."""
    errors = [value["error"] for value in record.get("values", []) if isinstance(value, dict) and "error" in value]
    errors += [record["error"]] if "error" in record else []
    return next((name for (name,) in errors if name in SLIPS), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*")
    parser.add_argument("--check", action="store_true", help="compare with the stored goldens, write nothing")
    args = parser.parse_args()
    import tensorflow as tf

    differences = 0
    for area in args.areas or areas():
        start, records = time.time(), {}
        for case in load(area):
            record = observe(tf, case, seconds=60)
            records[case.name] = {"code": case.digest, **record}
            if slip(record):
                print(f"  look at {area}/{case.name}: {slip(record)}"[:300])
        if args.check:
            want = goldens(area)
            for case in load(area):
                got = json.loads(json.dumps(records[case.name]))
                misses = compare(case, got, want.get(case.name, {}))
                differences += bool(misses)
                print("\n".join(f"{area}/{case.name}: {miss}" for miss in misses), end="\n" if misses else "")
        else:
            write(area, records)
        print(f"{area}: {len(records)} cases, {time.time() - start:.1f} s")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
