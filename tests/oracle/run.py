"""A pass table per area, and the misses: the working tool beside `test_oracle.py`.

    python tests/oracle/run.py [--module minitape] [--area tape,math] [-k NAME] [-q] [--json FILE]
    python tests/oracle/run.py --explain

One process; each case gets a fresh namespace, fresh seeds and a time limit.
With `--explain` nothing is compared with TensorFlow: `explain` is asked after every gradient, and has to agree with it.
"""

import argparse
import functools
import importlib
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from corpus import Case, areas, goldens, load
from observe import compare, observe


def check(tf, case: Case, want: dict | None, seconds: float) -> list[str]:
    """Runs a case and gives the lines in which it differs from its golden."""
    if want is None or want["code"] != case.digest:
        return ["no golden for this code: run make_goldens.py with TensorFlow"]
    got = json.loads(json.dumps(observe(tf, case, seconds)))
    return compare(case, got, want)


def asking(tf) -> list[str]:
    """From now on `explain` is asked after every gradient; what it says against the gradient comes into the list."""
    gradient, found = tf.GradientTape.gradient, []

    @functools.wraps(gradient)
    def asked(tape, target, sources, *args, **kwargs):
        result = gradient(tape, target, sources, *args, **kwargs)
        nones = list(tape.last.nones)
        try:
            answers = tf.nest.flatten(tape.explain(target, sources))
        except BaseException as error:  # too slow, say
            found.append(f"explain raised {error!r}")
            raise
        if [not answer.connected for answer in answers] != nones:
            found.append(f"None: {nones}, said: {[answer.cause for answer in answers]}")
        found.extend(answer.message for answer in answers if "explain failed" in answer.message)
        found.extend(f"no way to fix it: {answer}" for answer in answers if not (answer.connected or answer.fix))
        return result

    tf.GradientTape.gradient = asked
    return found


def explained(tf, case: Case, found: list[str], seconds: float) -> list[str]:
    """Runs a case; in what `explain` disagreed with its gradients, see `asking`."""
    found.clear()
    observe(tf, case, seconds)
    return [*found]


def show(case: Case, misses: list[str], quiet: bool) -> None:
    """Prints a failing case: code, got, wanted."""
    print(f"--- {case.area}/{case.name}")
    if not quiet:
        print("\n".join("    " + line for line in case.code.rstrip().split("\n")))
    print("\n".join(("  " + miss)[: 1500 if not quiet else 220] for miss in misses))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", default="minitape")
    parser.add_argument("--area", default="", help="areas, comma separated; default all")
    parser.add_argument("-k", default="", help="only cases whose area/name contains this")
    parser.add_argument("-q", "--quiet", action="store_true", help="no code, short misses")
    parser.add_argument("--table", action="store_true", help="the table only")
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds per case")
    parser.add_argument("--json", default="", help="write misses to this file")
    parser.add_argument("--names", action="store_true", help="names of failing cases, as known.txt wants them")
    parser.add_argument("--explain", action="store_true", help="ask explain after every gradient instead of comparing")
    args = parser.parse_args()
    tf = importlib.import_module(args.module)
    found = asking(tf) if args.explain else []
    table, failed = [], {}
    for area in args.area.split(",") if args.area else areas():
        want, start, passed = goldens(area), time.time(), 0
        cases = [case for case in load(area) if args.k in f"{area}/{case.name}"]
        for case in cases:
            if args.explain:
                misses = explained(tf, case, found, args.timeout)
            else:
                misses = check(tf, case, want.get(case.name), args.timeout)
            passed += not misses
            if misses:
                failed[f"{area}/{case.name}"] = misses
                if args.names:
                    print(f"{area}/{case.name}")
                elif not args.table:
                    show(case, misses, args.quiet)
        if cases:
            table.append((area, passed, len(cases), time.time() - start))
    if args.names:
        return 1 if failed else 0
    print(f"\n{'area':<18} {'pass':>5} {'of':>5} {'%':>6} {'s':>6}")
    for area, passed, count, seconds in [
        *table,
        ("total", sum(r[1] for r in table), sum(r[2] for r in table), sum(r[3] for r in table)),
    ]:
        flag = "   <-- under 85 %" if passed < 0.85 * count else ""
        print(f"{area:<18} {passed:>5} {count:>5} {100 * passed / max(count, 1):>6.1f} {seconds:>6.1f}{flag}")
    if args.json:
        Path(args.json).write_text(json.dumps(failed, indent=1), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
