"""Run the fuzzers and print what came of it: ``python tests/helpers/fuzzing --examples 20000``."""

import argparse
import platform
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from fuzzing.fuzzers import FUZZERS, run  # noqa: E402
from fuzzing.outcomes import CLEAR, FINDING, FINE  # noqa: E402

PACKAGES = ("scikit-learn", "lightgbm", "numpy", "pandas", "polars", "skops", "hypothesis")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20_000, help="of the quick fuzzers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(FUZZERS), help="may be given again")
    parser.add_argument("--output", type=Path, help="a Markdown file for the table")
    options = parser.parse_args()
    rows, findings = [], []
    for name in options.only or FUZZERS:
        fuzzer, start = FUZZERS[name], time.process_time()

        def advance(tally, name=name):
            if tally.n_tried % 500 == 0:
                print(f"{name}: {tally.n_tried} {dict(tally.counts)}", file=sys.stderr, flush=True)

        n_examples = max(1, round(fuzzer.share * options.examples))
        tally = run(fuzzer, n_examples, options.seed, advance)
        counts = [tally.n_tried, tally.n_tried - tally.counts[CLEAR] - tally.counts[FINDING]]
        counts += [tally.counts[CLEAR], tally.counts[FINDING]]
        rows.append((fuzzer.title, *counts, f"{time.process_time() - start:.0f}"))
        findings += [f"{name}: {text}" for text in tally.findings.values()]
        text = report(rows, findings, options)
        if options.output is not None:
            options.output.write_text(text, encoding="utf-8")
    print(text)
    return 1 if findings else 0


def report(rows, findings, options) -> str:
    """Return the table and what it was made with."""
    words = [f"--examples {options.examples}", f"--seed {options.seed}"]
    words += [f"--only {name}" for name in options.only or ()]
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    lines = [
        "# What the fuzzers tried",
        "",
        f"`python tests/helpers/fuzzing {' '.join(words)}`, {datetime.now(UTC):%Y-%m-%d}; Python "
        f"{platform.python_version()}, {versions}.",
        "",
        f"*{FINE.capitalize()}*: it worked, and what came out is sound. *{CLEAR.capitalize()}*: "
        "a ValueError or TypeError that names what is wrong, of a fit before any member is fitted; "
        "of a full disk an OSError that names the file. Anything else is a finding.",
        "",
        "| fuzzer | tried | fine | clear error | finding | CPU seconds |",
        "|---|---:|---:|---:|---:|---:|",
        *("| " + " | ".join(map(str, row)) + " |" for row in rows),
    ]
    if findings:
        lines += ["", "## Findings", "", *(f"```\n{text}\n```" for text in findings)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
