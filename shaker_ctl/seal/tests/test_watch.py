"""The seal of a running table: what changes under it is found, and no opening goes before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hil_tests.waiting import until
from shaker_ctl.commands.seal import app
from shaker_ctl.errors import RefusedError, SealError
from shaker_ctl.seal import manifest, place, watch
from shaker_ctl.seal.examine import NOTHING, examine
from shaker_ctl.seal.watch import SealWatch

IDLE_S = 400.0
"""The examination has only the processor time that nothing else wants."""


def run(*words: str) -> None:
    result = CliRunner().invoke(app, [*words], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def seal(settings: Path, key: Path) -> None:
    public = settings.parent / place.PUBLIC_KEY
    if not key.exists():
        run("keys", str(key), str(public), "--no-passphrase")
    run("write", "--key", str(key), "--by", "Ann", "--config", str(settings))


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """A sealed table with a profile of the house's own."""
    own = tmp_path / "house.toml"
    shipped = manifest.ROOT / "shaker_ctl/rules/profiles/house-auto.toml"
    own.write_text(shipped.read_text().replace('name = "house-auto"', 'name = "house-own"'))
    path = tmp_path / "settings.toml"
    path.write_text(f'[table]\nprofile = "{own}"\n')
    seal(path, tmp_path / "seal.key")
    return path


@pytest.fixture
def running(settings: Path) -> Iterator[SealWatch]:
    found = SealWatch(examine(place.beside(settings)), settings)
    yield found
    found.stop()


def is_verified(running: SealWatch) -> bool:
    running.look()
    try:
        running.require_verified()
    except RefusedError:
        return False
    return True


def is_broken(running: SealWatch) -> bool:
    running.look()
    return bool(running.findings)


def test_the_table_opens_only_after_the_examination_that_was_asked_for(running: SealWatch) -> None:
    running.require_verified()  # the start has examined everything
    running.ask()
    with pytest.raises(RefusedError, match="being examined"):
        running.require_verified()
    until(lambda: is_verified(running), IDLE_S, every_s=0.05)
    assert running.findings == ()


def test_a_file_that_changes_in_play_is_found_and_stays_found(
    running: SealWatch, settings: Path
) -> None:
    own = settings.with_name("house.toml")
    before = own.read_text()
    own.write_text(before + "# other words\n")
    running.ask()
    until(lambda: is_broken(running), IDLE_S, every_s=0.05)
    assert running.findings[0].file == str(own)
    own.write_text(before)
    running.ask()
    running.look()
    assert running.findings
    with pytest.raises(RefusedError):
        running.require_verified()


def test_another_key_in_play_is_found_although_everything_verifies(
    running: SealWatch, settings: Path
) -> None:
    (settings.parent / place.PUBLIC_KEY).unlink()
    seal(settings, settings.with_name("other.key"))
    assert examine(place.beside(settings)).is_verified
    running.ask()
    until(lambda: is_broken(running), IDLE_S, every_s=0.05)
    assert "another key" in running.findings[0].what


def test_what_a_process_loads_anew_is_examined_before(running: SealWatch, settings: Path) -> None:
    running.check_loaded()
    text = settings.with_name(place.MANIFEST)
    text.write_text(text.read_text().replace("Ann", "Eve"))
    with pytest.raises(SealError, match="is not signed"):
        running.check_loaded()
    assert running.findings


def test_an_examination_without_an_answer_verifies_nothing(
    running: SealWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SealWatch, "_words", lambda _self: ["/bin/false"])
    running.ask()
    running.look()
    assert running._process is not None
    running._process.wait()
    assert not is_verified(running)
    with pytest.raises(SealError, match="cannot be examined"):
        running.check_loaded()


class SlowToDie:
    """A process that was killed while the computer is busy."""

    def kill(self) -> None: ...

    def communicate(self) -> None:
        threading.Event().wait()


def test_the_tables_end_does_not_wait_for_an_examination_that_gets_no_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = SealWatch(NOTHING, tmp_path / "settings.toml")
    monkeypatch.setattr(nothing, "_process", SlowToDie())
    nothing.stop()


def test_a_table_without_a_seal_has_nothing_to_watch(tmp_path: Path) -> None:
    nothing = SealWatch(NOTHING, tmp_path / "settings.toml")
    nothing.ask()
    nothing.look()
    nothing.require_verified()
    nothing.check_loaded()
    assert nothing._process is None


def test_the_background_examination_leaves_the_processor_to_the_play(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s, slept = [0.0], list[float]()
    monkeypatch.setattr("shaker_ctl.seal.watch.time.monotonic", lambda: now_s[0])
    monkeypatch.setattr("shaker_ctl.seal.watch.time.sleep", slept.append)
    monkeypatch.setattr("shaker_ctl.seal.watch.os.nice", lambda _by: 0)
    rest = watch._Rest()
    rest()
    now_s[0] = 0.1
    rest()
    assert slept == [pytest.approx(0.3)]
