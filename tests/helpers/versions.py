"""Run the core of the suite with every supported scikit-learn, each in a venv of its own.

``python tests/helpers/versions.py`` makes the venvs on first use, under ``.venvs``, and prints a
table. With ``--only`` one version is run, and its row takes the place of the one that ``--output``
holds: the table can be made in pieces.
"""

import argparse
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from kept_rows import ROOT, commit, keep_row, write_page

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
#: sklearn-compat, which imbalanced-learn needs, allows no scikit-learn that is newer than itself.
REGARDLESS = {"newest": ["--pre", "--upgrade", "--no-deps", "scikit-learn"]}
_SHOWN = ("scikit-learn", "numpy", "scipy", "pandas", "polars", "lightgbm")

#: What touches scikit-learn most: its own checks, the stand-ins for its private names, the growth
#: of members, tables, files of models, meta-training, the main ensemble.
CORE = ["tests/test_common.py", "tests/test_sklearn_compat.py"]
CORE += ["tests/growth", "tests/tables", "tests/persistence", "tests/meta"]
CORE += [
    f"tests/ensemble/test_{name}.py" for name in ("mesa", "frames", "messages", "weight_units")
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", choices=ENVIRONMENTS, help="may be given again")
    parser.add_argument("--folder", type=Path, default=ROOT / ".venvs", help="of the venvs")
    parser.add_argument("--jobs", type=int, default=2, help="processes of pytest")
    parser.add_argument("--output", type=Path, help="a Markdown file; rows are kept beside it")
    parser.add_argument("tests", nargs="*", help="what to run in the place of the core")
    options = parser.parse_args()
    rows: list[dict] = []
    for name in options.only or ENVIRONMENTS:
        row = run(name, options.folder, options.tests or CORE, options.jobs)
        rows.append(row)
        if options.output is not None:
            kept = keep_row(options.output.with_suffix(".jsonl"), row, by=("run",))
            write_page(options.output, page(kept))
    print(page(rows))
    return int(any(row["failed"] for row in rows))


def make_environment(folder: Path) -> Path:
    """Return the interpreter of a venv with the packages of its name; it is made once."""
    python = folder / "bin" / "python"
    if not (folder / ".made").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        here = ["-e", f"{ROOT}[test]", "-e", f"{ROOT}/bench"]
        subprocess.run([*pip, *ENVIRONMENTS[folder.name], *here], check=True)
        if folder.name in REGARDLESS:
            subprocess.run([*pip, *REGARDLESS[folder.name]], check=True)
        (folder / ".made").touch()
    return python


def run(name: str, folder: Path, tests: list[str], n_jobs: int) -> dict:
    """Run tests with a version; return a row of the table."""
    python = make_environment(folder / name)
    command = ["pytest", "-q", "-rfEs", "-p", "no:cacheprovider", *tests]
    # Newer packages beside an older scikit-learn warn of it: that is theirs to mend.
    command += ["-W", "default::DeprecationWarning", "-W", "default::FutureWarning"]
    done = subprocess.run(
        [str(python), "-m", *command, "-n", str(n_jobs)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout[-6000:], done.stderr[-2000:], file=sys.stderr, flush=True)
    last = re.findall(r"^.*\d+ (?:passed|failed|error).*$", done.stdout, re.M)
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", last[-1] if last else "")}
    failed = counts.get("failed", 0) + counts.get("errors", 0) + counts.get("error", 0)
    return {
        "run": name,
        "command": " ".join(command),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit(),
        "python": sys.version.split()[0],
        "versions": _versions(python),
        "passed": counts.get("passed", 0),
        "skipped": counts.get("skipped", 0),
        "waived": counts.get("xfailed", 0),
        "failed": failed or int(done.returncode != 0),
    }


def _versions(python: Path) -> dict[str, str]:
    code = "import importlib.metadata as m, sys; print(*(m.version(n) for n in sys.argv[1:]))"
    found = subprocess.check_output([str(python), "-c", code, *_SHOWN], text=True).split()
    return dict(zip(_SHOWN, found, strict=True))


def page(rows: list[dict]) -> str:
    """Return the rows in Markdown, and how they were made."""
    lines = [
        "# Versions of scikit-learn",
        "",
        "`make test-versions` runs the tests that depend most on scikit-learn, with every "
        "supported version of it, each in its own venv. *Waived* counts checks of scikit-learn "
        "that do not apply; the tests give a reason for each. *Skipped* are tests that need a "
        "package that is not there, and from scikit-learn 1.9 on its check of array API input, "
        "once per estimator: it runs only where `SCIPY_ARRAY_API` is set. *Newest* also accepts "
        "pre-releases (`pip install --pre`). The library imports no private name of scikit-learn.",
        "",
        "| scikit-learn | with | passed | skipped | waived | failed | run at |",
        "|---|---|---:|---:|---:|---:|---|",
        *map(_line, rows),
        "",
        "Commands:",
        "",
        "```sh",
        *sorted({row["command"] for row in rows}),
        "```",
    ]
    return "\n".join(lines) + "\n"


def _line(row: dict) -> str:
    own, *others = row["versions"].items()
    cells = [
        own[1] + (", newest" if row["run"] == "newest" else ""),
        ", ".join(f"{name} {version}" for name, version in [*others, ("Python", row["python"])]),
        *(row[name] for name in ("passed", "skipped", "waived", "failed")),
        f"{row['commit']}, {row['date']}",
    ]
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    sys.exit(main())
