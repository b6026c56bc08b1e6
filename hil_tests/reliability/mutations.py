"""Broken products: each mutation takes one protection away; one row of the catalogue must see it.

Owns the table of mutations, the copy of the tree in which one is made, and the judgement. A
mutation names the lines that it changes as they stand; a line that is gone or stands twice is an
error, so that no mutation silently stops to apply. Must not know how a row is played.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from hil_tests.reliability.catalogue import BY_NAME, CatalogueFault
from hil_tests.reliability.moments import Moment
from hil_tests.reliability.results import page, read_result, write_result
from hil_tests.reliability.trial import Result

ROOT = Path(__file__).parents[2]
PACKAGES = ("shaker_ctl", "vision", "models")
"""What the service runs of this tree."""

BETS, TOSS, REST, PUSH, LIT = Moment

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


WATCH = "shaker_ctl/motion/watch.py"
EXCHANGE = "shaker_ctl/lamp/exchange.py"
LAMPS = "shaker_ctl/service/lamp_thread.py"
SELF_WATCH = "shaker_ctl/service/self_watch.py"
TOSS_SESSION = "shaker_ctl/reading/toss_session.py"
TOSSES = "shaker_ctl/reading/tests/test_toss_session.py"
CAMERA = "shaker_ctl/adapters/camera/process.py"
BOX_MEMORY = "shaker_ctl/journal/box_memory.py"

MUTATIONS = (
    # ── Motor and dice ──
    Mutation(
        "silent tach not watched",
        (Edit(WATCH, "if self._is_up and s.silence_s >= self._p.stall_gap_s:", "if False:"),),
        *("tach-silent", TOSS, "tach-silent"),
    ),
    Mutation(
        "overspeed not watched",
        (Edit(WATCH, "if s.turn_rpm <= self._p.overspeed_rpm:", "if True:"),),
        *("motor-overspeed", TOSS, "motor-overspeed"),
    ),
    Mutation(
        "slow start not watched",
        (Edit(WATCH, "if after_s < self._p.start_s:", "if True:"),),
        *("motor-supply-sag", BETS, "motor-slow-start"),
    ),
    Mutation(
        "motor that does not stop not watched",
        (Edit(WATCH, "if not too_long:", "if True:"),),
        *("motor-driver-stuck-on", TOSS, "motor-no-stop"),
    ),
    Mutation(
        "dice that did not move believed",
        (
            Edit(
                "vision/table/motion.py",
                "return bool(is_near and apart_deg(a[2], b[2]) < SAME_TURN_DEG)",
                "return False",
            ),
        ),
        *("dice-stuck-to-the-floor", BETS, "dice-unmoved"),
    ),
    # ── Who may drive ──
    Mutation(
        "emergency stop not read",
        (
            Edit(
                "shaker_ctl/adapters/pins/gpio_contacts.py",
                "estop_pressed=high(pins.estop)",
                "estop_pressed=False",
            ),
        ),
        *("estop-pressed", TOSS, "event EstopPressed"),
    ),
    Mutation(
        "dead-man off",
        (
            Edit(
                "shaker_ctl/adapters/pins/pigpio_motor.py",
                "{raise_enable} dcr p0",
                "{raise_enable}",
            ),
        ),
        *("service-killed", TOSS, "EN low"),
    ),
    Mutation(
        "late state thread drives on",
        (
            Edit(
                "shaker_ctl/service/heartbeat.py",
                "return self._now() - self._last_s <= self._limit_s",
                "return True",
            ),
        ),
        *("state-thread-hangs", TOSS, "EN low"),
    ),
    Mutation(
        "own death not on record",
        (
            Edit(
                "shaker_ctl/service/last_end.py",
                'return {LastEnd.HUNG: "controller-hung", LastEnd.DIED: "controller-died"}'
                '.get(self, "")',
                'return ""',
            ),
        ),
        *("service-killed", LIT, "controller-died"),
    ),
    # ── Reading ──
    Mutation(
        "dip not asked for",
        (
            Edit(
                TOSS_SESSION,
                "dip is not None\n            and dip.t_seen is not None\n"
                "            and work.t_read is not None\n"
                "            and frame.t_capture >= max(dip.t_seen, work.t_read - _LOOK_BACK_S)",
                "work.t_read is not None and frame.t_capture >= work.t_read - _LOOK_BACK_S",
            ),
            Edit(TOSS_SESSION, "if not self._is_our_dip(dip):", "if False:"),
            Edit(TOSS_SESSION, "if now > start + self._dip_seen_within_s:", "if False:"),
        ),
        *("ring-light-stuck", TOSS, "values from entered"),
    ),
    Mutation(
        "frozen stream not watched",
        (Edit(CAMERA, "if repeated >= FROZEN_FRAMES else None", "if False else None"),),
        *("camera-frozen-for-good", BETS, "frozen"),
    ),
    Mutation(
        "looped stream not watched",
        (Edit(CAMERA, "if looped >= LOOPED_FRAMES", "if False"),),
        *("camera-looped-for-good", BETS, "looped"),
    ),
    Mutation(
        "knocked camera not watched",
        (Edit(CAMERA, "elif self._elsewhere is not None:", "elif False:"),),
        *("camera-moved-for-good", BETS, "camera-moved"),
    ),
    Mutation(
        "consensus of one picture",
        (
            Edit(
                "vision/table/consensus.py",
                "frames: int = FRAMES, limits",
                "frames: int = 1, limits",
            ),
        ),
        *(
            "vision/tests/test_consensus.py::test_one_other_value_in_between_starts_the_count_anew",
            None,
        ),
        "assert agree(frames) is None",
    ),
    Mutation(
        "second reader's value not compared",
        (
            Edit(
                "vision/table/judgement.py", "if die.second.value != die.model.value:", "if False:"
            ),
        ),
        *("vision/tests/test_reader.py::test_swapped_values_are_not_accepted", None),
        "Verified",
    ),
    Mutation(
        "dice of an earlier toss accepted",
        (Edit(TOSS_SESSION, "if earlier is not None:", "if False:"),),
        *(f"{TOSSES}::test_dice_that_lie_as_in_an_earlier_toss_are_a_recording", None),
        "Unreadable",
    ),
    # ── Lamps ──
    Mutation(
        "read-back of the lit lamps skipped",
        (
            Edit(
                EXCHANGE,
                "        require_lit(status, expected, round_id)\n        return status",
                "        return status",
            ),
            Edit(LAMPS, "if lit != frozenset(areas):", "if False:"),
        ),
        *("lamps-wired-to-neighbours", REST, "ending settled_by_hand, seen: settled"),
    ),
    Mutation(
        "lamps not watched while lit",
        (Edit(LAMPS, "self._box.prove_lit(*self._shown)", "pass"),),
        *("bulb-burnt-out", LIT, "lamp-readback"),
    ),
    Mutation(
        "stage's mask not compared",
        (Edit(EXCHANGE, "if back.verdict == r.Refusal.MASK_DIFFERS or (", "if False and ("),),
        *("lamp-box-computes-otherwise", REST, "lamp-readback"),
    ),
    Mutation(
        "darkness not proved",
        (
            Edit(
                EXCHANGE,
                "        require_dark(status)\n        require_healthy(status)\n        return",
                "        return",
            ),
        ),
        *("bulb-stuck-on", BETS, "not_started"),
    ),
    # ── Record ──
    Mutation(
        "second copy may lag",
        (
            Edit(
                "shaker_ctl/service/journal_thread.py",
                "lags = self._overdue(oldest_s, self._p.second_lag_s) and not self._second_fault",
                "lags = False",
            ),
        ),
        *("second-copy-lags", PUSH, "journal-write"),
    ),
    Mutation(
        "second copy may be missing at the start",
        (Edit("shaker_ctl/journal/recovery.py", "if second_is_set:", "if False:"),),
        *("second-copy-missing-at-start", LIT, "start must end with"),
    ),
    Mutation(
        "end of the journal may be missing",
        (
            Edit(BOX_MEMORY, "if found is None:", "if False:"),
            Edit(BOX_MEMORY, "if found != anchor.head.hash:", "if False:"),
            Edit(BOX_MEMORY, "if box.last_committed > journal.last_pushed and", "if False and"),
            Edit("shaker_ctl/journal/recovery.py", "if behind < 0:", "if False:"),
        ),
        *("journal-tail-cut", LIT, "start must end with"),
    ),
    # ── The computer ──
    Mutation(
        "steps of the clock not watched",
        (
            Edit(
                SELF_WATCH,
                "stepped = abs(apart_s - self._apart_s) > self._p.clock_step_s",
                "stepped = False",
            ),
        ),
        *("clock-steps-back-an-hour", BETS, "clock"),
    ),
    Mutation(
        "memory not watched",
        (Edit(SELF_WATCH, "if free_b is not None and free_b < floor_mb * 1e6:", "if False:"),),
        *("memory-runs-low", TOSS, "memory-low"),
    ),
)


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


HEAD = ("mutation", "row", "noticed", "by", "the row without it")


class KeptMutations:
    """One file a mutation in a folder: what its row saw. Raises OSError where it cannot be made."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def _path(self, mutation: Mutation) -> Path:
        return self._folder / f"{mutation.name.replace(' ', '-')}.json"

    def keep(self, mutation: Mutation, result: Result) -> None:
        write_result(self._path(mutation), result)

    def find(self, mutation: Mutation) -> Result | None:
        """None where there is no whole result of this mutation's row."""
        return read_result(self._path(mutation), mutation.told)

    def has_caught(self, mutation: Mutation) -> bool:
        """Whether its row noticed it, for the right reason. A resumed run plays all others."""
        result = self.find(mutation)
        return result is not None and judged(mutation, result.differences) is Noticed.CAUGHT

    def forget(self, mutation: Mutation) -> None:
        self._path(mutation).unlink(missing_ok=True)

    def write_page(self, sound: Callable[[Mutation], Result | None]) -> Path:
        """Write all mutations as Markdown; `sound` gives the row's result without the mutation."""
        lines = []
        for one in MUTATIONS:
            result, without = self.find(one), sound(one)
            said = "not run" if result is None else judged(one, result.differences).value
            why = "" if result is None else "; ".join(result.differences)
            whole = (
                "make test" if one.is_test else "not run" if without is None else _verdict(without)
            )
            lines.append((one.name, ", ".join(filter(None, one.told)), said, why, whole))
        written = self._folder / "mutations.md"
        written.write_text(page(lines, HEAD), "utf-8")
        return written


def _verdict(result: Result) -> str:
    return "as required" if result.is_as_required else "; ".join(result.differences)
