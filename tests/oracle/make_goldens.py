"""Write `goldens/FOLDER.jsonl`, the results of real TensorFlow for every case, with one line per area.

    python make_goldens.py [AREA ...]         run with a Python that has TensorFlow
    python make_goldens.py --check [AREA ...] run again and print the differences

Cases with a NameError, SyntaxError or AttributeError are listed, because such errors are usually mistakes in the case.
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

from corpus import GOLDENS_FOLDER, get_goldens, list_areas, load_cases, read_goldens  # noqa: E402
from observe import compare_records, observe_case  # noqa: E402

SLIP_ERRORS = ("NameError", "SyntaxError", "IndentationError", "AttributeError", "CaseTimeout")


def write_goldens(area: str, records: dict) -> None:
    """Replace the records of an area in the file of its folder.

    Args:
        area: The area, such as "tape/persistent".
        records: The record of each case, by name.
    """
    folder = area.partition("/")[0]
    records_by_area = read_goldens(folder) | {area: records}
    lines = [
        json.dumps([name, records_by_area[name]], ensure_ascii=False)
        for name in sorted(records_by_area)
        if name in list_areas()
    ]
    (GOLDENS_FOLDER / f"{folder}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    read_goldens.cache_clear()


def find_error_of_the_case(record: dict) -> str:
    """Return the first error in a record that looks like a mistake in the case itself, or ""."""
    errors = [value["error"] for value in record.get("values", []) if isinstance(value, dict) and "error" in value]
    errors += [record["error"]] if "error" in record else []
    return next((name for (name,) in errors if name in SLIP_ERRORS), "")


def main() -> int:
    """Run TensorFlow on the areas named on the command line, and write or check their goldens.

    Returns:
        The exit status: 1 if the check finds differences.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("areas", nargs="*")
    parser.add_argument("--check", action="store_true", help="compare with the stored goldens, write nothing")
    args = parser.parse_args()
    import tensorflow as tf

    difference_count = 0
    for area in args.areas or list_areas():
        start, records = time.time(), {}
        for case in load_cases(area):
            record = observe_case(tf, case, seconds=60)
            records[case.name] = {"code": case.digest, **record}
            if find_error_of_the_case(record):
                print(f"  look at {area}/{case.name}: {find_error_of_the_case(record)}"[:300])
        if args.check:
            expected = get_goldens(area)
            for case in load_cases(area):
                actual = json.loads(json.dumps(records[case.name]))
                misses = compare_records(case, actual, expected.get(case.name, {}))
                difference_count += bool(misses)
                print("\n".join(f"{area}/{case.name}: {miss}" for miss in misses), end="\n" if misses else "")
        else:
            write_goldens(area, records)
        print(f"{area}: {len(records)} cases, {time.time() - start:.1f} s")
    return 1 if difference_count else 0


if __name__ == "__main__":
    sys.exit(main())
