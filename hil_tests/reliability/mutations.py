"""Broken products: each mutation takes one protection away; one row of the catalogue must see it.

Owns the table of mutations (`mutations.toml`), the copy of the tree in which one is made,
and the judgement. A mutation names the lines that it changes as they stand. A line that is gone or
stands twice is an error, so that no mutation silently stops to apply. Must not know how a row is
played.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hil_tests.campaign import Campaign
from hil_tests.reliability.catalogue import BY_NAME, CatalogueFault
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.trial import Result

ROOT = Path(__file__).parents[2]
PACKAGES = ("shaker_ctl", "vision", "models")
"""What the service runs of this tree."""

TABLE = Path(__file__).with_name("mutations.toml")

TEST_S = 300.0


class MutationError(Exception):
    """A mutation does not apply to this tree. The text says which, where, and why."""


class Noticed(StrEnum):
    """What the row made of the broken product."""

    CAUGHT = "caught"
    OTHERWISE = "differs for another reason"
    SURVIVED = "not noticed"


@dataclass(frozen=True, slots=True)
class Edit:
    """`old` stands exactly once in `file`, and becomes `new`."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Mutation:
    """One protection less."""

    name: str
    edits: tuple[Edit, ...]
    story: str
    """What must notice it: the name of a row of the catalogue, or a test of pytest's, `file::name`,
    for what no machine has to show."""
    moment: Moment | None
    """Of the row."""
    shows: str
    """What one of the row's differences, or the failed test's words, contains: the right reason."""

    @property
    def is_test(self) -> bool:
        return "::" in self.story

    @property
    def row(self) -> tuple[CatalogueFault, Moment]:
        """The row of the catalogue. Raises KeyError for a test."""
        assert self.moment is not None
        return BY_NAME[self.story], self.moment

    @property
    def told(self) -> tuple[str, str]:
        """Story and moment, as a result names them."""
        return self.story, self.moment.value if self.moment else ""

    @property
    def case(self) -> str:
        """What it is called in a campaign: with its row, so that no other row's result counts."""
        return ", ".join(filter(None, (self.name, *self.told)))


def _read() -> Iterator[Mutation]:
    """Yield the mutations that stand in `TABLE`."""
    for name, row in tomllib.loads(TABLE.read_text("utf-8")).items():
        edits = tuple(Edit(**edit) for edit in row.pop("edits"))
        moment = Moment[row.pop("moment").upper()] if "moment" in row else None
        yield Mutation(name, edits, moment=moment, **row)


MUTATIONS = tuple(_read())


# ── Making one ──────────────────────────────────────────────────────────────


def changed(mutation: Mutation, root: Path = ROOT) -> dict[str, str]:
    """The text of each file that the mutation changes. Raises `MutationError`."""
    texts: dict[str, str] = {}
    for edit in mutation.edits:
        try:
            text = texts.get(edit.file) or (root / edit.file).read_text("utf-8")
        except OSError as error:
            raise MutationError(f"{mutation.name}: {edit.file}: {error.strerror}") from error
        if (times := text.count(edit.old)) != 1:
            raise MutationError(
                f"{mutation.name}: {edit.file}: this stands there {times} times, not once; find "
                f"what protects now: {edit.old!r}"
            )
        texts[edit.file] = text.replace(edit.old, edit.new)
    return texts


def mutated_tree(mutation: Mutation, folder: Path) -> Path:
    """Copy what the service runs into an empty folder, with the mutation in it."""
    texts = changed(mutation)
    for package in PACKAGES:
        skipped = shutil.ignore_patterns("__pycache__")
        # No links: the camera process is started from where its file truly lies.
        shutil.copytree(ROOT / package, folder / package, ignore=skipped)
    for file, text in texts.items():
        (folder / file).write_text(text, "utf-8")
    return folder


# ── Judging it ──────────────────────────────────────────────────────────────


def noticed_by_test(mutation: Mutation, tree: Path) -> list[str]:
    """Run the mutation's test in the broken tree; what failed, in its own words."""
    for name in ("hil_tests", "pyproject.toml"):
        (tree / name).symlink_to(ROOT / name)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", mutation.story],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=TEST_S,
        check=False,
    )
    if ran.returncode == 0:
        return []
    words = [line for line in ran.stdout.splitlines() if line.startswith((">", "E "))]
    return words or [(ran.stdout + ran.stderr).strip()[-300:]]


def judged(mutation: Mutation, differences: Sequence[str]) -> Noticed:
    """What the row made of it, by its differences from what is required."""
    if not differences:
        return Noticed.SURVIVED
    is_right = any(mutation.shows in one for one in differences)
    return Noticed.CAUGHT if is_right else Noticed.OTHERWISE


def has_caught(kept: Campaign[Result], mutation: Mutation) -> bool:
    """Whether its row noticed it, for the right reason. A resumed run plays all others."""
    result = kept.find(mutation.case)
    return result is not None and judged(mutation, result.differences) is Noticed.CAUGHT
