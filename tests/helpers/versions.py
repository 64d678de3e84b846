"""Run the core of the suite with every supported scikit-learn, each in a venv of its own.

``python tests/helpers/versions.py`` makes the venvs on first use, under ``.venvs``, and prints a
table. The last run takes no private name of scikit-learn.
"""

import argparse
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: The oldest versions that the metadata allow, together; and of later ones what pip takes.
#: scikit-learn before 1.9 reads the names of polars' columns by a protocol that polars 2 dropped.
ENVIRONMENTS = {
    "1.6": [
        *("scikit-learn==1.6.*", "numpy==1.26.*", "scipy==1.11.*", "pandas==2.2.*"),
        *("imbalanced-learn==0.13.*", "pyarrow<20", "polars==1.*"),
    ],
    "1.7": ["scikit-learn==1.7.*", "pandas==2.3.*", "polars==1.*"],
    "1.8": ["scikit-learn==1.8.*", "polars==1.*"],
    "1.9": ["scikit-learn==1.9.*"],
    "newest": ["--pre", "scikit-learn"],
}
_SHOWN = ("numpy", "scipy", "pandas", "polars", "lightgbm")

#: What touches scikit-learn most: its own checks, the growth of members, tables, the main ensemble.
CORE = ["tests/test_common.py", "tests/growth", "tests/tables"]
CORE += [
    f"tests/ensemble/test_{name}.py" for name in ("mesa", "frames", "messages", "weight_units")
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=list(ENVIRONMENTS))
    parser.add_argument("--folder", type=Path, default=ROOT / ".venvs", help="of the venvs")
    parser.add_argument("--output", type=Path, help="a Markdown file for the table")
    parser.add_argument("tests", nargs="*", help="what to run in the place of the core")
    options = parser.parse_args()
    rows = []
    for name in options.only or ENVIRONMENTS:
        python = make_environment(options.folder / name, ENVIRONMENTS[name])
        # The public twins of private names are tried with the last version that is known to work.
        for public in (False, True) if name == "1.9" else (False,):
            rows.append(run(name, python, public, options.tests or CORE))
            text = table(rows, options.tests or CORE)
            if options.output is not None:
                options.output.write_text(text, encoding="utf-8")
    print(text)
    return int(any(row[-1] for row in rows))


def make_environment(folder: Path, pins: list[str]) -> Path:
    """Return the interpreter of a venv with these packages; it is made once."""
    python = folder / "bin" / "python"
    if not (folder / ".made").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *pins, "-e", f"{ROOT}[test]", "-e", f"{ROOT}/bench"], check=True)
        (folder / ".made").touch()
    return python


def run(name: str, python: Path, public: bool, tests: list[str]) -> tuple:
    """Run tests; return a row of the table."""
    environment = {**os.environ, "METASAMPLER_PUBLIC_SKLEARN": "1" if public else "0"}
    command = [str(python), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *tests]
    # Newer packages beside an older scikit-learn warn of it: that is theirs to mend.
    command += ["-W", "default::DeprecationWarning", "-W", "default::FutureWarning"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    print(done.stdout[-6000:], done.stderr[-2000:], file=sys.stderr, flush=True)
    last = re.findall(r"^.*\d+ (?:passed|failed|error).*$", done.stdout, re.M)
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", last[-1] if last else "")}
    code = "import importlib.metadata as m, sys; print(*(m.version(n) for n in sys.argv[1:]))"
    asked = [str(python), "-c", code, "scikit-learn", *_SHOWN]
    shown = subprocess.check_output(asked, text=True).split()
    first = f"{shown[0]}, public names only" if public else shown[0]
    others = ", ".join(f"{n} {v}" for n, v in zip(_SHOWN, shown[1:], strict=True))
    failed = counts.get("failed", 0) + counts.get("errors", 0) + counts.get("error", 0)
    failed = failed or (1 if done.returncode else 0)
    numbers = [counts.get(word, 0) for word in ("passed", "skipped", "xfailed")]
    return (first, others, *numbers, failed)


def table(rows: list[tuple], tests: list[str]) -> str:
    """Return the rows in Markdown."""
    lines = [
        "# Versions of scikit-learn",
        "",
        f"`python tests/helpers/versions.py`, {datetime.now(UTC):%Y-%m-%d}, Python "
        f"{sys.version.split()[0]}: `pytest {' '.join(tests)}`. *Public names only* takes nothing "
        "private of scikit-learn (`METASAMPLER_PUBLIC_SKLEARN=1`): the twins of "
        "`metasampler._sklearn_public`, and trees through their own `fit`.",
        "",
        "| scikit-learn | with | passed | skipped | waived | failed |",
        "|---|---|---:|---:|---:|---:|",
        *("| " + " | ".join(map(str, row)) + " |" for row in rows),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
