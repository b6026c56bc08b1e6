"""The newest release of each library that decides, tried beside the locked one: what changes?

    python -m hil_tests.reader.newest [--only NAME[==VERSION]]... [--pictures 60]

For each of `shaker_ctl.libraries.DECIDING`: the newest release goes into a folder of its own,
before all others on the path, whatever ceiling `pyproject.toml` sets. The reader then reads the
same stored pictures with both, and the library's own contracts are run with the newest. Prints one
row each; status 1 where a verdict differs or a contract fails. The lock is not changed: `make lock
LOCK=--upgrade` does that, once a ceiling has been raised. A release that is named is tried instead.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hil_tests.reader.outcomes import said
from hil_tests.reader.tables import Table, rig_tables
from shaker_ctl.libraries import DECIDING, locked
from vision.frame import Frame
from vision.networks.classifier import DieFinder
from vision.table.reader import TableReader
from vision.taught import Teaching

HERE = Path(__file__).resolve().parents[2]

READS = frozenset({"numpy", "onnxruntime", "opencv-python"})
"""Those that turn a picture into a reading."""

CONTRACTS = {
    "numpy": ("vision/tests/test_taught.py", "vision/tests/test_consensus.py"),
    "onnxruntime": ("vision/tests/test_classifier.py", "models/tests/test_same_everywhere.py"),
    "opencv-python": ("vision/tests/test_taught.py", "vision/tests/test_quality.py"),
    "pigpio": ("hil_tests/contracts/test_motor.py", "hil_tests/contracts/test_interlock.py"),
    "pymodbus": ("hil_tests/contracts/test_lamp_contract.py",),
}


def store(file: Path, table: Table, count: int) -> None:
    """Render `count` tosses of a taught table with the locked libraries and keep them."""
    cases = [table.case("flat", number) for number in range(count)]
    shown = [(case.shoot(), case.values) for case in cases]  # the same bytes for every release
    file.write_bytes(pickle.dumps((table.calibration, table.teaching.to_bytes(), shown)))


def read(file: Path) -> list[dict[str, Any]]:
    """Read the stored cases with the libraries of this process; one row each."""
    # Our own file, of a moment ago.
    calibration, taught, shown = pickle.loads(file.read_bytes())
    teaching = Teaching.from_bytes(taught, calibration)
    reader = TableReader(DieFinder(), calibration, teaching=teaching)
    rows = []
    for picture, values in shown:
        seen = reader.read(Frame(picture))
        figures = hashlib.sha256(repr((seen.quality, seen.dice, seen.opinion)).encode())
        rows.append({"said": said(seen.opinion, values), "figures": figures.hexdigest()})
    return rows


def differences(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> Counter[str]:
    """Count the pictures, and those in which a verdict or any figure differs."""
    counts = Counter(pictures=len(before))
    for a, b in zip(before, after, strict=True):
        counts["verdicts"] += a["said"] != b["said"]
        counts["figures"] += a["figures"] != b["figures"]
    return counts


def fetch(wanted: str, folder: Path) -> str:
    """Put a library, the newest release or `NAME==VERSION`, into `folder`; return its version."""
    name = wanted.partition("==")[0]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade"]
    subprocess.run([*pip, "--only-binary=:all:", "--target", str(folder), wanted], check=True)
    (about,) = folder.glob(f"{name.replace('-', '_')}-*.dist-info")
    return about.name.removesuffix(".dist-info").rpartition("-")[2]


def _readings(file: Path, first_on_path: Path | None) -> list[dict[str, Any]]:
    words = [sys.executable, "-m", "hil_tests.reader.newest", "--read", str(file)]
    ran = subprocess.run(words, env=_environment(first_on_path), check=True, capture_output=True)
    rows: list[dict[str, Any]] = json.loads(ran.stdout)
    return rows


def _contracts_hold(name: str, first_on_path: Path) -> bool:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CONTRACTS[name]]
    ran = subprocess.run(words, cwd=HERE, env=_environment(first_on_path), capture_output=True)
    if ran.returncode != 0:
        typer.echo(ran.stdout.decode()[-2000:])  # the reason
    return ran.returncode == 0


def _environment(first_on_path: Path | None) -> dict[str, str]:
    folders = [str(first_on_path)] if first_on_path else []
    return {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, str(HERE)])}


def try_newest(names: Sequence[str], pictures: int, seed: int) -> bool:
    """Try each; print a row each; return whether nothing that decides changed."""
    is_same = True
    typer.echo("| library | locked | newest | pictures | verdicts | figures | contracts |")
    typer.echo("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="newest-") as kept:
        file = Path(kept) / "cases"
        before: list[dict[str, Any]] = []
        for wanted in names:
            name = wanted.partition("==")[0]
            folder = Path(kept) / name
            version = fetch(wanted, folder)
            if version == locked()[name]:
                typer.echo(f"| {name} | {version} | the same | | | | |")
                continue
            counts: Counter[str] = Counter()
            if name in READS:
                if not before:
                    store(file, rig_tables(DieFinder(), seed, file.parent)(0), pictures)
                    before = _readings(file, None)
                counts = differences(before, _readings(file, folder))
            holds = _contracts_hold(name, folder)
            is_same &= holds and not counts["verdicts"]
            shown = [
                str(counts[key]) if counts else "" for key in ("pictures", "verdicts", "figures")
            ]
            row = [name, locked()[name], version, *shown, "hold" if holds else "FAIL"]
            typer.echo(f"| {' | '.join(row)} |")
    return is_same


def main(
    only: Annotated[list[str] | None, typer.Option(metavar="NAME[==VERSION]")] = None,
    pictures: int = 60,
    seed: int = 29,
    stored: Annotated[Path | None, typer.Option("--read", hidden=True)] = None,
) -> None:
    """The newest releases tried beside the locked ones; status 1 where one decides otherwise."""
    if stored is not None:
        typer.echo(json.dumps(read(stored)))
        return
    names = only or list(DECIDING)
    unknown = {wanted.partition("==")[0] for wanted in names} - set(DECIDING)
    if unknown:
        raise typer.BadParameter(
            f"{', '.join(sorted(unknown))} decides nothing; give any of {', '.join(DECIDING)}"
        )
    if not try_newest(names, pictures, seed):
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
