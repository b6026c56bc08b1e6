"""A round is disputed while the table plays: what holds it stays until the dispute is settled."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from hil_tests.processes import program
from hil_tests.reliability.bench import Bench, trial_session
from hil_tests.reliability.large_journal import RECORDS_A_ROUND, make
from hil_tests.table_under_test.session import Plan
from shaker_ctl.adapters.disk.disk_journal import DiskJournal, volume_numbers
from shaker_ctl.adapters.disk.dispute_list import known
from shaker_ctl.adapters.disk.volume_archive import KEPT_ROUNDS, KEPT_VOLUMES
from shaker_ctl.journal.parameters import JournalParameters

pytestmark = [pytest.mark.rig, pytest.mark.timeout(400)]

A_DAY = 100
"""Rounds of a gaming day, each in a volume of its own; the last ones are months old."""

DISPUTED = 5


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    session = trial_session(Plan(seed=8), tmp_path)
    parameters = JournalParameters(path=session.journal, second=session.second)
    young = max(KEPT_ROUNDS, KEPT_VOLUMES * A_DAY)
    make(parameters, RECORDS_A_ROUND * (young + 3 * A_DAY), seed=1, rounds_a_day=A_DAY)
    return Bench(session)


def command(bench: Bench, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run `shaker-ctl journal` as a program of its own, with no terminal but what is typed."""
    config = str(bench.session.folder / "settings.toml")
    return subprocess.run(
        [*program("shaker_ctl.main", "journal", *words), "--config", config],
        input=typed,
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )


def remove(bench: Bench) -> subprocess.CompletedProcess[str]:
    """Have tom remove everything of last winter that an archive holds."""
    words = ["--before", "2026-02-01", "--by", "tom", "--reason", "the card is full"]
    typed = bench.session.passphrases["tom"] + "\n"
    return command(bench, "remove", str(bench.session.folder / "archive"), *words, typed=typed)


def play(bench: Bench, phase: str) -> None:
    """Play until the table is in that phase."""
    assert bench.play_until(lambda status: status["phase"] == phase, 150.0)


def first_volumes(bench: Bench) -> list[list[int]]:
    return [volume_numbers(copy)[:2] for copy in (bench.session.journal, bench.session.second)]


def test_a_round_disputed_in_play_stays_at_the_table_until_it_is_settled(bench: Bench) -> None:
    with bench:
        bench.make_ready()
        play(bench, "tossing")
        act = ("dispute", str(DISPUTED), "--by", "fay", "--reason")
        done = command(bench, *act, "a five")
        assert done.stdout == f"open disputes: {DISPUTED}\n", done
        play(bench, "ready")
        with closing(DiskJournal(bench.session.journal, read_only=True)) as book:
            assert known(book.milestones()).open == (DISPUTED,)
        assert command(bench, "archive", f"{bench.session.folder}/archive").returncode == 0
        refused = remove(bench)
        assert refused.returncode == 1, refused
        assert "another process writes the journal" in refused.stderr, refused

        bench.leave_consoles()
        bench.session.stop_service()
        done = remove(bench)
        assert f"volume 1 stays: round {DISPUTED} is disputed" in done.stdout, done
        assert "stays: the newest 31 volumes" in done.stdout, done
        assert first_volumes(bench) == [[1, 4], [1, 4]], done

        assert command(bench, *act, "the pictures show a four", "--settled").returncode == 0
        done = remove(bench)
        assert "1 volumes are removed" in done.stdout, done
        assert first_volumes(bench) == [[4, 5], [4, 5]]
        assert command(bench, "verify").returncode == 0
        bench.session.start_service()
