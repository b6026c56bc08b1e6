"""A sealed table: one flipped byte, and it does not play until a person has acted and signed it.

The packages are copied aside and sealed there, so that each test may damage what it likes.
"""

from __future__ import annotations

import json
import marshal
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from shaker_ctl import sealed_start
from shaker_ctl.adapters.disk.disk_journal import DiskJournal
from shaker_ctl.adapters.disk.journal_copies import open_copies
from shaker_ctl.commands.seal import app
from shaker_ctl.console import accounts
from shaker_ctl.doctor.digests import digests
from shaker_ctl.doctor.finding import Grade
from shaker_ctl.errors import RefusedError, SealError, SettingsError
from shaker_ctl.journal.record import Entry
from shaker_ctl.rules.vocabulary import Person, Role
from shaker_ctl.seal import examine, fault, manifest, place
from shaker_ctl.seal.answer import approved_list
from shaker_ctl.service.last_end import OPENING
from shaker_ctl.settings import load
from shaker_ctl.tests.installed_library import install_library

RUNNER = CliRunner()
PROGRAM = "from shaker_ctl.main import app; app()"
TOM = Person("tom", Role.TECHNICIAN, "T-3")
PASSPHRASE = "correct horse battery"
ROLE = ("--by", "tom", "--reason", "card replaced")

LIBRARY_FILE = "mdurl_of_this_table.py"
"""A library beside the packages, as in a table's environment."""


@dataclass(frozen=True)
class Sealed:
    """One sealed table in a folder of its own."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "etc" / "settings.toml"

    @property
    def packages(self) -> Path:
        return self.folder / "packages"

    @property
    def own(self) -> tuple[str, ...]:
        """The options that name this table."""
        return ("--config", str(self.config), "--packages", str(self.packages))

    def seal(self, *words: str, answer: str = "") -> str:
        result = RUNNER.invoke(app, [*words], input=answer, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    def write(self) -> str:
        key = str(self.folder / "approver" / "seal.key")
        return self.seal("write", "--key", key, "--by", "Ann Approver", *self.own)

    def start(self) -> str:
        """Start as far as the seal goes; return the seal, for which the journal was opened."""
        found = sealed_start.check_files(self.config, self.packages)
        chosen = load(self.config)
        sealed_start.check_required(found, chosen.seal, self.config)
        journal = open_copies(chosen.journal)
        try:
            sealed_start.check_journal(found, journal)
            sealed_start.write(journal, Entry(OPENING, {"seal": found.seal}))
        finally:
            journal.close()
        return found.seal

    def clear(self) -> None:
        sealed_start.clear(self.config, TOM, "restored", self.packages)

    def kinds(self) -> list[str]:
        store = DiskJournal(load(self.config).journal.path, read_only=True)
        try:
            return [record.plain["kind"] for record in store.read()]
        finally:
            store.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Sealed:
    sealed = Sealed(tmp_path_factory.mktemp("sealed"))
    for package in manifest.PACKAGES:
        shutil.copytree(
            manifest.ROOT / package,
            sealed.packages / package,
            ignore=shutil.ignore_patterns("__pycache__", "tests", "training", "figures"),
        )
    install_library(sealed.packages, "mdurl", LIBRARY_FILE, b"ANSWER = 42\n")
    (sealed.folder / "approver").mkdir()
    return sealed


@pytest.fixture
def table(original: Sealed, tmp_path: Path) -> Sealed:
    sealed = Sealed(tmp_path / "table")
    shutil.copytree(original.folder, sealed.folder)
    sealed.config.parent.mkdir()
    journal = tmp_path / "journal.jsonl"
    (tmp_path / "stick").mkdir()
    users = tmp_path / "users.toml"
    own = tmp_path / "house.toml"
    shipped = manifest.ROOT / "shaker_ctl/rules/profiles/house-auto.toml"
    own.write_text(shipped.read_text().replace('name = "house-auto"', 'name = "house-own"'))
    sealed.config.write_text(
        f'[table]\nentry_mode = "dealer_confirm"\nprofile = "{own}"\n'
        f'[console]\nusers_file = "{users}"\n'
        f'[journal]\npath = "{journal}"\nsecond = "{tmp_path / "stick" / "journal.jsonl"}"\n'
        f'pictures = "{tmp_path / "pictures"}"\n'
    )
    public = str(sealed.config.parent / place.PUBLIC_KEY)
    private = str(sealed.folder / "approver" / "seal.key")
    sealed.seal("keys", private, public, "--no-passphrase")
    sealed.write()
    return sealed


def keyed(table: Sealed, seed: str, *words: str) -> str:
    return table.seal("answer", seed, *table.own, *words).strip()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not here")
def test_openssl_alone_finds_the_answer_to_an_inspectors_seed(
    table: Sealed, tmp_path: Path
) -> None:
    approved = tmp_path / "approved"
    answer = keyed(table, "Qz81", "--list", str(approved))
    command = ["openssl", "dgst", "-sha256", "-hmac", "Qz81", "-r", str(approved)]
    assert subprocess.run(command, capture_output=True, check=True).stdout[:64].decode() == answer
    names = {line.partition("  ")[2] for line in approved.read_text("utf-8").splitlines()}
    rows = "shaker_ctl/rules/table/round.rows"
    assert {"settings.toml", "house.toml", "models/dice.onnx", rows} <= names
    assert keyed(table, "Qz82") != answer


@pytest.mark.parametrize("seed", ["Qz 81", "Q-81", "é", "a" * 65])
def test_a_seed_that_no_console_takes_is_refused_here_too(table: Sealed, seed: str) -> None:
    result = RUNNER.invoke(app, ["answer", seed, *table.own])
    assert result.exit_code == 2
    assert "1 to 64 letters and digits" in " ".join(result.output.split())


def test_two_files_of_one_name_are_both_answered_for_and_no_name_is_a_line(tmp_path: Path) -> None:
    strange = os.fsdecode(b"a\n0123  b\xff.toml")
    others = [tmp_path / each for each in ("x/own.toml", "y/own.toml", f"x/{strange}")]
    for folder in ("shaker_ctl", "x", "y"):
        (tmp_path / folder).mkdir()
    for number, path in enumerate(others):
        path.write_text(str(number))
    lines = approved_list(tmp_path, others).splitlines()
    assert sorted(line.partition("  ")[2] for line in lines if line.endswith(".toml")) == [
        r"a\n0123  b\udcff.toml", "own.toml", "own.toml",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "file", ["etc/settings.toml", "packages/models/dice.onnx", f"packages/{LIBRARY_FILE}"]
)
def test_one_flipped_bit_has_another_answer(table: Sealed, file: str) -> None:
    answer = keyed(table, "Qz81")
    if file.endswith(".toml"):
        (table.folder / file).write_text((table.folder / file).read_text() + "# a word\n")
    else:
        flip(table.folder / file)
    assert keyed(table, "Qz81") != answer


def flip(path: Path, at: float = 0.5) -> bytes:
    """Flip one bit of one byte; return what was there before."""
    before = path.read_bytes()
    content = bytearray(before)
    content[int(len(content) * at)] ^= 0x04
    path.write_bytes(content)
    return before


DAMAGED: dict[str, Callable[[Sealed], Path]] = {
    "model": lambda t: t.packages / "models" / "dice.onnx",
    "manifest.toml": lambda t: t.packages / "models" / "manifest.toml",
    "profile": lambda t: t.packages / "shaker_ctl" / "rules" / "profiles" / "ma.toml",
    "library": lambda t: t.packages / LIBRARY_FILE,
    "own profile": lambda t: t.folder.parent / "house.toml",
    "settings": lambda t: t.config,
    "module": lambda t: t.packages / "shaker_ctl" / "lamp" / "exchange.py",
    "reader's module": lambda t: t.packages / "vision" / "table" / "reader.py",
    "the seal itself": lambda t: t.config.parent / "seal.json",
}


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("at", [0.0, 0.7])
def test_one_flipped_byte_is_named_recorded_and_outlives_restarts(
    table: Sealed, what: str, at: float
) -> None:
    table.start()
    path = DAMAGED[what](table)
    before = flip(path, at)
    for _ in range(2):
        with pytest.raises(SealError, match=path.name):
            table.start()
    with pytest.raises((SealError, SettingsError)):
        table.clear()
    path.write_bytes(before)
    for _ in range(2):
        with pytest.raises(SealError, match="stands since"):
            table.start()
    assert table.kinds() == ["opening", "seal_broken"]
    table.clear()
    table.start()
    assert table.kinds() == ["opening", "seal_broken", "seal_cleared", "opening"]


def test_a_profile_is_sealed_with_every_file_that_it_lies_on(table: Sealed) -> None:
    own = table.folder.parent / "house.toml"
    below = own.with_name("house-below.toml")
    below.write_text(own.read_text().replace('name = "house-own"', 'name = "house-below"'))
    own.write_text('on_top_of = "house-below"\nname = "house-own"\nrests_on_instrument = false\n')
    table.write()
    table.start()
    below.write_text(below.read_text() + "\n# other words\n")
    with pytest.raises(SealError, match=r"house-below\.toml differs from its seal"):
        table.start()


def test_every_file_that_runs_is_covered(table: Sealed) -> None:
    """One flipped byte in each of them: each is named."""
    where = place.beside(table.config)
    assert examine.examine(where, table.packages).is_verified
    covered = [path for path in manifest.covered(table.packages) if path.stat().st_size]
    assert len(covered) > 100
    for path in covered:
        flip(path, 0.9)
    named = {finding.file for finding in examine.examine(where, table.packages).findings}
    assert named == {path.relative_to(table.packages).as_posix() for path in covered}


def test_the_whole_service_refuses_to_start_and_says_which_file(table: Sealed) -> None:
    """The program itself, on the copied packages, as the service manager runs it."""

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, "run", "--config", str(table.config)],
            cwd=table.packages,
            env={**os.environ, "PYTHONPATH": str(table.packages), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    before = flip(table.packages / "models" / "dice.onnx")
    ended = run()
    assert ended.returncode == 65
    assert "models/dice.onnx differs from its seal" in ended.stderr
    (table.packages / "models" / "dice.onnx").write_bytes(before)
    ended = run()
    assert ended.returncode == 65
    assert "stands since" in ended.stderr
    assert table.kinds() == ["seal_broken"]


def written(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


BREAKS: list[tuple[Callable[[Sealed], object], str]] = [
    # Python would run `table/reader.so` instead of the sealed `table/reader.py`.
    (lambda t: (t.packages / "vision/table/reader.so").write_bytes(b"\x7fELF"),
     r"vision/table/reader\.so is not among the sealed files"),
    (lambda t: (t.packages / "vision/table/reader.py").unlink(),
     r"vision/table/reader\.py is missing"),
    (lambda t: written(t.packages / "mdurl-9.9.dist-info/METADATA", "ion: 9.9", "ion: 9.8"),
     r"library mdurl is not as sealed: 9\.8"),
    (lambda t: written(t.config.parent / place.MANIFEST, f'"format": {manifest.FORMAT}',
                       '"format": 1'),
     r"seal\.json was written by another version"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "named"), BREAKS)
def test_each_break_is_named(table: Sealed, change: Callable[[Sealed], object], named: str) -> None:
    change(table)
    with pytest.raises(SealError, match=named):
        table.start()


def test_another_key_is_a_break_until_a_person_clears_it(table: Sealed) -> None:
    """Files changed, and sealed again with a key pair of one's own: every file verifies."""
    before = table.start()
    for path in (
        table.config.parent / place.PUBLIC_KEY,
        table.folder / "approver" / "seal.key",
        table.config.parent / place.MANIFEST,
    ):
        path.unlink()
    private = str(table.folder / "approver" / "seal.key")
    table.seal("keys", private, str(table.config.parent / place.PUBLIC_KEY), "--no-passphrase")
    table.write()
    check = ("check", *table.own)
    said = table.seal(*check)
    assert "verified" in said
    assert f"than at the last opening ({before}): the next start keeps this" in said
    assert "seal clear" in json.loads(table.seal(*check, "--json"))["asks"]
    with pytest.raises(SealError, match=f"another key .* than at the last opening .{before}") as at:
        table.start()
    assert at.value.remedy == sealed_start.EXCHANGED  # the approver has sealed: nothing to seal
    assert "a broken seal stands since" in table.seal(*check)
    with pytest.raises(SealError, match="another key"):
        table.start()  # a restart clears nothing
    assert table.kinds()[-1] == fault.BROKEN
    table.clear()
    assert "clear" not in table.seal(*check)
    assert table.start() != before
    assert json.loads(table.seal(*check, "--json"))["asks"] == ""


def test_check_says_that_it_could_not_ask_the_journal(table: Sealed) -> None:
    table.start()
    load(table.config).journal.path.write_bytes(b"no journal")
    said = table.seal("check", *table.own)
    assert "verified" in said
    assert "what the journal remembers of the seal cannot be read" in said


def test_no_seal_and_no_answer_over_a_folder_without_packages(table: Sealed) -> None:
    own = ("--config", str(table.config), "--packages", str(table.config.parent))
    for words in (("answer", "Qz81"), ("write", "--key", "seal.key", "--by", "Ann")):
        with pytest.raises(RefusedError, match="etc has no folder shaker_ctl"):
            table.seal(*words, *own)


@pytest.mark.parametrize("how", ["another name", "more code", "a bit"])
def test_a_compiled_copy_that_is_not_its_module_is_named(table: Sealed, how: str) -> None:
    source = table.packages / "vision" / "reading.py"
    compiled = [sys.executable, "-m", "py_compile", str(source)]
    subprocess.run(compiled, cwd=table.packages, check=True)
    table.start()
    (cache,) = (table.packages / "vision" / "__pycache__").glob("reading.*.pyc")
    if how == "another name":
        cache.write_bytes(cache.read_bytes().replace(b"confidence", b"confidenze"))
    elif how == "more code":
        code = compile(source.read_text("utf-8") + "\nMORE = 1\n", str(source), "exec")
        cache.write_bytes(cache.read_bytes()[:16] + marshal.dumps(code))
    else:
        flip(cache, 0.95)
    with pytest.raises(SealError, match=r"reading\..*\.pyc"):
        table.start()


def test_a_copy_of_the_settings_elsewhere_is_not_the_sealed_one(
    table: Sealed, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(table.config.parent, other)
    with pytest.raises(SealError, match="is not the settings file that was sealed"):
        sealed_start.check_files(other / "settings.toml", table.packages)


def test_a_seal_by_somebody_else_does_not_count(table: Sealed, tmp_path: Path) -> None:
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    private, public = stranger / "seal.key", stranger / "seal.pub"
    table.seal("keys", str(private), str(public), "--no-passphrase")
    with pytest.raises(RefusedError, match="trusts another key"):
        table.seal("write", "--key", str(private), "--by", "Eve", *table.own)
    text = table.config.parent / place.MANIFEST
    text.write_text(text.read_text().replace("Ann Approver", "Eve Approver"))
    with pytest.raises(SealError, match=r"seal\.json is not signed"):
        table.start()


@pytest.mark.parametrize("by", ["", "  ", "two\nlines"])
def test_a_seal_names_who_approves(table: Sealed, tmp_path: Path, by: str) -> None:
    words = ["write", "--key", str(tmp_path / "none.key"), "--by", by]
    with pytest.raises(RefusedError, match="--by"):
        table.seal(*words, "--config", str(table.config))


def test_deleting_the_seal_does_not_unseal_a_table(table: Sealed) -> None:
    table.start()
    for name in (place.PUBLIC_KEY, place.MANIFEST):
        (table.config.parent / name).unlink()
    for _ in range(2):
        with pytest.raises(SealError, match=r"seal\.json is gone|stands since"):
            table.start()
    table.clear()
    assert table.start() == fault.UNSEALED


@pytest.mark.parametrize("is_second", [False, True], ids=["volume 1 removed", "main removed"])
def test_half_a_seal_is_a_broken_one_where_only_a_later_volume_lies(
    table: Sealed, *, is_second: bool
) -> None:
    """`shaker-ctl journal remove` deletes the file of volume 1."""
    table.start()
    (table.config.parent / place.MANIFEST).unlink()
    path = load(table.config).journal.path
    if is_second:
        path.unlink()
    else:
        path.replace(path.with_name(f"{path.stem}-000002{path.suffix}"))
    with pytest.raises(SealError, match=r"the seal is broken: .*seal\.json is not there"):
        table.start()
    found = digests(table.config, load(table.config).journal, is_real_table=True)
    assert found.verdict is Grade.FAIL


def test_a_new_table_that_waits_for_its_first_seal_is_not_broken(table: Sealed) -> None:
    (table.config.parent / place.MANIFEST).unlink()
    journal = load(table.config).journal
    check = ("check", *table.own)
    for act in (table.start, lambda: table.seal(*check)):
        with pytest.raises(SealError, match="is not sealed yet") as refused:
            act()
        assert "seal write" in refused.value.remedy
    found = digests(table.config, journal, is_real_table=True)
    assert (found.verdict, "seal write" in found.remedy) == (Grade.WARN, True)
    assert not journal.path.exists()
    table.write()
    table.start()
    (table.config.parent / place.MANIFEST).unlink()
    assert digests(table.config, journal, is_real_table=True).verdict is Grade.FAIL


def test_a_table_that_requires_a_seal_does_not_play_without(tmp_path: Path) -> None:
    config = tmp_path / "settings.toml"
    config.write_text("[seal]\nrequired = true\n")
    found = sealed_start.check_files(config)
    assert found.seal == fault.UNSEALED
    with pytest.raises(SealError, match="requires a seal"):
        sealed_start.check_required(found, load(config).seal, config)


def test_the_installed_key_counts_wherever_the_settings_lie(
    table: Sealed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    config = elsewhere / "settings.toml"
    shutil.copy(table.config, config)
    assert not place.beside(config).is_used
    monkeypatch.setattr(place, "INSTALLED", table.config.parent)
    with pytest.raises(SealError, match="is not sealed yet"):
        sealed_start.check_files(config, table.packages)


def test_a_break_is_named_although_the_journal_cannot_keep_it(table: Sealed) -> None:
    path = load(table.config).journal.path
    table.start()
    path.write_bytes(b"not a journal" * 400)
    flip(table.packages / "models" / "dice.onnx")
    with pytest.raises(SealError, match=r"dice\.onnx.*not kept in the journal"):
        table.start()


def test_check_tells_an_inspector_every_digest_and_changes_nothing(table: Sealed) -> None:
    words = ("check", *table.own)
    assert "verified" in table.seal(*words)
    shown = json.loads(table.seal(*words, "--all", "--json"))
    assert shown["findings"] == []
    assert len(shown["files"]["models/dice.onnx"]) == 64
    for path in (table.config, table.folder.parent / "house.toml"):
        assert shown["files"][str(path)] == manifest.digest(path)
    assert not load(table.config).journal.path.exists()
    flip(table.packages / "vision" / "table" / "rim.py")
    with pytest.raises(SealError, match=r"vision/table/rim\.py"):
        table.seal(*words)


def test_only_a_known_person_with_their_passphrase_clears(
    table: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts.add(load(table.config).console.users_file, "tom", Role.TECHNICIAN, PASSPHRASE, "tom-1")
    before = flip(table.config)
    with pytest.raises(SealError):
        table.start()
    table.config.write_bytes(before)
    words = ("clear", *ROLE, "--config", str(table.config))
    with pytest.raises(RefusedError, match="do not belong together") as refused:
        table.seal(*words, answer="wrong horse\n")
    assert "--role supervisor" in refused.value.remedy
    with pytest.raises(RefusedError, match="do not belong together"):
        table.seal(*words, "--role", "supervisor", answer=f"{PASSPHRASE}\n")
    with pytest.raises(RefusedError, match="does not clear"):
        table.seal(*words, "--role", "dealer", answer=f"{PASSPHRASE}\n")
    with pytest.raises(SealError, match="stands since"):
        table.start()
    monkeypatch.setattr(sealed_start.clear, "__defaults__", (table.packages,))
    assert "cleared" in table.seal(*words, answer=f"{PASSPHRASE}\n")
    with pytest.raises(RefusedError, match="no broken seal stands"):
        table.seal(*words, answer=f"{PASSPHRASE}\n")
    store = DiskJournal(load(table.config).journal.path, read_only=True)
    (record,) = [r.plain for r in store.read() if r.plain["kind"] == fault.CLEARED]
    store.close()
    assert record["by"] == {"name": "tom", "role": "technician", "number": "tom-1"}
    assert record["reason"] == "card replaced"


def test_a_guarded_key_wants_its_passphrase_and_no_key_is_replaced(
    table: Sealed, tmp_path: Path
) -> None:
    key, public = tmp_path / "guarded.key", tmp_path / "guarded.pub"
    table.seal("keys", str(key), str(public), answer=f"{PASSPHRASE}\n{PASSPHRASE}\n")
    assert oct(key.stat().st_mode & 0o777) == "0o600"
    with pytest.raises(RefusedError, match="File exists"):
        table.seal("keys", str(key), str(public), "--no-passphrase")
    words = ("write", "--key", str(key), "--by", "Ann", *table.own)
    with pytest.raises(RefusedError, match="cannot be opened"):
        table.seal(*words, answer="wrong\n")
    shutil.copy(public, table.config.parent / place.PUBLIC_KEY)
    table.seal(*words, answer=f"{PASSPHRASE}\n")
    table.start()


@pytest.mark.parametrize("public", ["same.key", "../{}/same.key", "there.pub", "no/seal.pub"])
def test_a_pair_of_keys_is_written_whole_or_not_at_all(tmp_path: Path, public: str) -> None:
    (tmp_path / "there.pub").write_text("of somebody else")
    words = [str(tmp_path / "same.key"), str(tmp_path / public.format(tmp_path.name))]
    with pytest.raises(RefusedError):
        RUNNER.invoke(app, ["keys", *words, "--no-passphrase"], catch_exceptions=False)
    assert [path.name for path in tmp_path.iterdir()] == ["there.pub"]
    assert (tmp_path / "there.pub").read_text() == "of somebody else"


def test_a_table_that_is_not_there_is_not_called_unsealed(tmp_path: Path) -> None:
    words = ["check", "--config", str(tmp_path / "settings.toml")]
    for more in ((), ("--json",)):
        with pytest.raises(SettingsError, match="cannot read the settings file"):
            RUNNER.invoke(app, [*words, *more], catch_exceptions=False)
    (tmp_path / "settings.toml").touch()
    assert "unsealed" in RUNNER.invoke(app, words, catch_exceptions=False).output


@pytest.mark.parametrize("by", ["[/x]", "[red]Ann[/blue]", "Ann :dice:"])
def test_the_approvers_name_is_printed_as_it_is(table: Sealed, by: str) -> None:
    key = str(table.folder / "approver" / "seal.key")
    assert f"sealed by {by}, key" in table.seal("write", "--key", key, "--by", by, *table.own)
    assert f"by {by}, key" in table.seal("check", *table.own)


def test_settings_that_no_table_starts_with_are_not_sealed(table: Sealed) -> None:
    before = table.config.read_text()
    table.config.write_text(before.replace("house.toml", "none.toml"))
    with pytest.raises(SettingsError, match=r"none\.toml: cannot be read"):
        table.write()
    table.config.write_text(before.replace("[table]\n", "[table]\npaytable = 'Z'\n"))
    with pytest.raises(SettingsError, match=r"settings\.toml: table\.paytable"):
        table.write()


def test_the_seal_of_a_version_to_come_leaves_the_standing_one(table: Sealed) -> None:
    standing = table.config.parent / place.MANIFEST
    before = standing.read_bytes()
    to_come = table.config.parent / "seal-next.json"
    flip(table.packages / "models" / "dice.onnx")
    key = str(table.folder / "approver" / "seal.key")
    words = ("write", "--key", key, "--by", "Ann Approver", "--out", str(to_come))
    said = table.seal(*words, *table.own)
    assert to_come.name in said
    assert standing.read_bytes() == before
    assert examine.examine(place.beside(table.config), table.packages).findings
    to_come.replace(standing)
    assert examine.examine(place.beside(table.config), table.packages).is_verified


def test_a_process_loads_no_library_anew_that_is_not_the_sealed_one(table: Sealed) -> None:
    """Exchanged together with its installer's record, gone, and joined by what Python prefers."""
    install_library(table.packages, "numpy", "numpy.py", b"x = 1\n")
    table.write()
    sealed = examine.examine(place.beside(table.config), table.packages).manifest
    assert sealed is not None
    assert manifest.loaded_anew(sealed, table.packages) == []
    install_library(table.packages, "numpy", "numpy.py", b"x = 2\n")
    (found,) = manifest.loaded_anew(sealed, table.packages)
    assert found.line().startswith("library numpy is not as sealed")
    shutil.rmtree(table.packages / "numpy-9.9.dist-info")
    (table.packages / "numpy.py").unlink()
    (found,) = manifest.loaded_anew(sealed, table.packages)
    assert found.line() == "library numpy is missing"
    install_library(table.packages, "numpy", "numpy.py", b"x = 1\n")
    (table.packages / "numpy.so").write_bytes(b"\x7fELF")
    (found,) = manifest.loaded_anew(sealed, table.packages)
    assert found.line() == "numpy.so belongs to no library"
