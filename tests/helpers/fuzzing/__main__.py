"""Run the fuzzers and print what came of it: ``python tests/helpers/fuzzing --examples 20000``.

A run is made of pieces, each in a process of its own: what ends the interpreter is a finding like
any other. With ``--output`` the row of each piece is kept, and ``--resume`` goes on where a run of
the same length and seed has stopped.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from kept_rows import commit, keep_row, read_rows, write_page  # noqa: E402

from fuzzing.fuzzers import FUZZERS, run  # noqa: E402
from fuzzing.outcomes import CLEAR, FINDING, FINE, in_words  # noqa: E402

PACKAGES = (
    *("scikit-learn", "lightgbm", "numpy", "pandas", "polars", "pyarrow", "typer"),
    "hypothesis",
)

#: Attempts of a piece, and seconds after which it is taken to hang.
PIECE, TOO_LONG = 200, 3600


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20_000, help="of all fuzzers together")
    parser.add_argument("--each", type=int, help="of each fuzzer, in place of a share of all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", choices=list(FUZZERS), help="may be given again")
    parser.add_argument("--output", type=Path, help="a Markdown file; rows are kept beside it")
    parser.add_argument("--resume", action="store_true", help="leave out pieces that are there")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no piece after")
    parser.add_argument("--piece", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.piece is not None:
        return do_piece(*json.loads(options.piece))
    store = options.output.with_suffix(".jsonl") if options.output is not None else None
    rows = [] if store is None else read_rows(store)
    asked = {"examples": options.each or options.examples, "seed": options.seed}
    asked |= {"each": True} if options.each else {}
    known = {(r["fuzzer"], r["piece"]) for r in rows if {k: r.get(k) for k in asked} == asked}
    start, fresh, left = time.monotonic(), [], 0
    if store is not None and not options.resume:
        chosen = options.only or FUZZERS
        kept = [row for row in rows if row["fuzzer"] not in chosen]
        store.write_text("".join(json.dumps(row) + "\n" for row in kept), encoding="utf-8")
    for name, piece, n_examples in pieces(
        options.only or FUZZERS, options.each or options.examples, each=bool(options.each)
    ):
        if options.resume and (name, piece) in known:
            continue
        if time.monotonic() - start > options.seconds:
            left += 1
            continue
        row = run_piece(name, piece, n_examples, options.seed) | asked
        fresh.append(row)
        print(f"{name} {piece}: {row['counts']}", file=sys.stderr, flush=True)
        if store is not None:
            rows = keep_row(store, row, by=("fuzzer", "piece"))
    text = page(rows or fresh)
    if store is not None:
        write_page(options.output, text)
    print(text)
    if left:
        print(f"{left} pieces are left: --resume goes on.", file=sys.stderr)
    return int(any(row["findings"] for row in fresh))


def pieces(names, n_examples: int, *, each: bool):
    """Yield fuzzer, number of the piece, and attempts of it."""
    for name in names:
        rest = n_examples if each else max(1, round(FUZZERS[name].share * n_examples))
        for piece in range(-(-rest // PIECE)):
            yield name, piece, min(PIECE, rest - piece * PIECE)


def run_piece(name: str, piece: int, n_examples: int, seed: int) -> dict:
    """Run a piece in a process of its own; return its row."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "case"
        arguments = json.dumps([name, n_examples, seed * 1000 + piece, str(trace)])
        try:
            done = subprocess.run(
                [sys.executable, "-X", "faulthandler", __file__, "--piece", arguments],
                stdout=subprocess.PIPE,
                text=True,
                timeout=TOO_LONG,
                check=False,
            )
            ended = f"the process ended with {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            ended = f"no end after {TOO_LONG} seconds"
        case = trace.read_text(encoding="utf-8") if trace.exists() else ""
    if ended:
        result = {"counts": {FINDING: 1}, "findings": [f"{ended}\n  case: {case}"], "cpu": None}
    else:
        result = json.loads(done.stdout.splitlines()[-1])
    return {
        "fuzzer": name,
        "piece": piece,
        **result,
        "command": "python tests/helpers/fuzzing",
        "commit": commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "versions": {"python": platform.python_version()} | {n: version(n) for n in PACKAGES},
    }


def do_piece(name: str, n_examples: int, seed: int, trace: str) -> int:
    """Attempt the cases of a piece, and print what came of it as JSON."""
    with open(trace, "wb", buffering=0) as file:

        def note(case):
            # What is being tried, for the case that it ends this process.
            file.seek(0)
            file.truncate()
            file.write(in_words(case).encode("utf-8", "backslashreplace"))

        start = time.process_time()
        tally = run(FUZZERS[name], n_examples, seed, note)
    seconds = round(time.process_time() - start, 1)
    result = {"counts": tally.counts, "findings": [*tally.findings.values()], "cpu": seconds}
    print(f"\n{json.dumps(result)}")
    return 0


def page(rows: list[dict]) -> str:
    """Return the counts in Markdown, and how they were made."""
    commands = sorted({_options(row) for row in rows})
    versions = {f"{name} {v}": None for row in rows for name, v in row["versions"].items()}
    lines = [
        "# What the fuzzers tried",
        "",
        f"`make fuzz`: {', '.join(f'`python tests/helpers/fuzzing {c}`' for c in commands)}; "
        f"{', '.join(sorted({row['date'] for row in rows}))}, commit "
        f"{', '.join(sorted({row['commit'] for row in rows}))}; {', '.join(versions)}.",
        "",
        f"*{FINE.capitalize()}*: it worked, and the result is sound. *{CLEAR.capitalize()}*: "
        "a ValueError or TypeError says what is wrong, and a fit raises it before it fits any "
        "member. With a full disk it is an OSError that names the file. A command prints a message "
        "and no traceback. An interrupt is reported, and everything is as before. Everything "
        "else is a *finding*, including a crash of the interpreter.",
        "",
        "| fuzzer | tried | fine | clear error | finding | CPU seconds |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    total: Counter = Counter()
    for name, fuzzer in FUZZERS.items():
        own = [row for row in rows if row["fuzzer"] == name]
        if not own:
            continue
        counts: Counter = Counter()
        for row in own:
            own_counts = Counter(row["counts"])
            counts["tried"] += own_counts.total()
            counts["clear"] += own_counts[CLEAR]
            counts["finding"] += own_counts[FINDING]
            counts["cpu"] += row["cpu"] or 0
        counts["fine"] = counts["tried"] - counts["clear"] - counts["finding"]
        total += counts
        lines.append(_line(fuzzer.title, counts))
    lines.append(_line("**all**", total))
    findings = [f"{row['fuzzer']}: {text}" for row in rows for text in row["findings"]]
    if findings:
        lines += ["", "## Findings", "", *(f"```\n{text}\n```" for text in findings)]
    lines += ["", "`make test` tries a hundred of each."]
    return "\n".join(lines) + "\n"


def _options(row: dict) -> str:
    """Return the options of the run that a row is of."""
    if row.get("each"):
        return f"--only {row['fuzzer']} --each {row['examples']} --seed {row['seed']}"
    return f"--examples {row['examples']} --seed {row['seed']}"


def _line(title: str, counts: Counter) -> str:
    cells = [f"{counts[name]:,}" for name in ("tried", "fine", "clear", "finding")]
    return f"| {title} | {' | '.join(cells)} | {counts['cpu']:,.0f} |"


if __name__ == "__main__":
    sys.exit(main())
