"""`shaker-ctl seal`: sign what decides, check it, and clear a break by a logged act.

Three people. The approver keeps the private key and signs. The installer puts the public key
beside the settings. Whoever is called when the seal is broken restores the file, and clears the
break under their own name and passphrase.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from shaker_ctl import sealed_start
from shaker_ctl import settings as settings_file
from shaker_ctl.commands.default_config import DEFAULT_CONFIG
from shaker_ctl.commands.service_user import become_owner_of
from shaker_ctl.commands.signing import require_mender
from shaker_ctl.console import arguments
from shaker_ctl.errors import JournalError, RefusedError, SealError, reraise_as
from shaker_ctl.quoting import require_words
from shaker_ctl.rules import profile_files
from shaker_ctl.rules.vocabulary import Role
from shaker_ctl.seal import answer as keyed_answer
from shaker_ctl.seal import examine, manifest, place, signature
from shaker_ctl.whole_file import mode, put

app = typer.Typer(
    no_args_is_help=True,
    help="The signed list of everything that decides: program, libraries, settings, profile.",
)
screen = Console()

Config = Annotated[Path, typer.Option(help="Settings file of the table.")]
Packages = Annotated[
    Path | None,
    typer.Option(help="Folder of the installed packages; else those that this program runs from."),
]


@app.command()
def keys(
    private: Annotated[Path, typer.Argument(help="New file for the private key: not on a table.")],
    public: Annotated[Path, typer.Argument(help="New file for the public key: seal.pub.")],
    unguarded: Annotated[
        bool, typer.Option("--no-passphrase", help="Do not guard the private key.")
    ] = False,
) -> None:
    """Make the approver's pair of Ed25519 keys."""
    passphrase = ""
    if not unguarded:
        passphrase = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True)
    made = signature.make_pair(private, public, passphrase.encode() or None)
    _say(f"key {made}: {private} stays with the approver, {public} goes to the table")


def _say(*parts: str | tuple[str, str]) -> None:
    """Print a line: names and paths are a person's words, which no markup is looked for in."""
    screen.print(Text.assemble(*parts), soft_wrap=True)


@app.command()
def write(
    key: Annotated[Path, typer.Option(help="The approver's private key.")],
    by: Annotated[str, typer.Option(help="Who approves, for the record.")],
    config: Config = DEFAULT_CONFIG,
    packages: Packages = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write; else seal.json beside the settings file.")
    ] = None,
) -> None:
    """Sign everything that decides, as it is now.

    That is the program, its libraries, the settings, the profile, the start script and the units.

    Writes `seal.json` beside the settings file, or `--out`: for a version that is to be installed,
    `seal-next.json` there. Refuses where the settings are wrong, or where the
    table trusts another key than this one.
    """
    require_words("--by", by)
    chosen = settings_file.load(config)
    settings_file.check_rules(chosen, source=str(config))
    where, root = place.beside(config), _installed(packages)
    guard = None
    if signature.is_guarded(key):
        guard = typer.prompt("Passphrase", hide_input=True).encode()
    private = signature.load_private(key, guard)
    trusted = signature.load_public(where.public_key)
    if signature.fingerprint(private.public_key()) != signature.fingerprint(trusted):
        raise RefusedError(
            f"the table trusts another key than {key}: {where.public_key}",
            remedy="Sign with its private half, or install this key's public half first",
        )
    elsewhere = _settings_and_profile(where.settings, chosen)
    sealed = manifest.Manifest(
        sealed=datetime.now(UTC).isoformat(timespec="seconds"),
        by=by,
        packages=manifest.digests_of_packages(root),
        libraries=manifest.libraries(root),
        elsewhere={
            **manifest.digests_of_environment(root),
            **{str(path): manifest.digest(path) for path in elsewhere},
        },
        settings=str(where.settings),
        journal=str(chosen.journal.path.absolute()),
        journal_second=str(chosen.journal.second.absolute()) if chosen.journal.second else "",
    )
    text = examine.spelled(sealed, signature.sign(private, sealed.signed_part()))
    file = out or where.manifest
    remedy = "Run as the user who owns that folder"
    with reraise_as(RefusedError, f"the seal {file} cannot be written", remedy=remedy):
        put(file, text, mode(0o644))
    count = len(sealed.packages) + len(sealed.elsewhere)
    _say(
        f"{file}: {count} files and {len(sealed.libraries)} libraries sealed "
        f"by {by}, key {signature.fingerprint(trusted)}"
    )


def _installed(packages: Path | None) -> Path:
    """Return the folder of the packages: a seal or an answer over an empty one proves nothing."""
    root = packages or manifest.ROOT
    for package in manifest.PACKAGES:
        if not (root / package).is_dir():
            raise RefusedError(
                f"{root} has no folder {package}", remedy="Name the site-packages with --packages"
            )
    return root


def _settings_and_profile(config: Path, chosen: settings_file.Settings) -> list[Path]:
    return [config, *profile_files.own_files(chosen.table.profile)]


@app.command()
def check(
    config: Config = DEFAULT_CONFIG,
    packages: Packages = None,
    every: Annotated[
        bool, typer.Option("--all", help="Print the digest of every file, for an inspector.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Plain JSON.")] = False,
) -> None:
    """Say which files are not as they were sealed, and whether the next start asks for `seal clear`
    all the same. Changes nothing; status 65 where any file is not.

    Status 78 where nothing is sealed and the settings file itself cannot be read.

    A table that checks itself proves little to somebody who distrusts it: run this from another
    medium, with `--packages` naming the table's own folder.
    """
    root = packages or manifest.ROOT
    found = examine.examine(place.beside(config), root)
    if not found.is_sealed:
        settings_file.read_text(config)  # nothing is said of a table that is not there
    asks = "" if found.findings else _asks_a_person(found, config)
    if as_json:
        findings = [{"file": f.file, "what": f.what} for f in found.findings]
        shown: dict[str, object] = {"seal": found.seal, "findings": findings, "asks": asks}
        if every:
            shown["files"] = _files(found, root)
            shown["libraries"] = manifest.libraries(root)
        typer.echo(json.dumps(shown, indent=2))
    else:
        if every:
            for name, digest in _files(found, root).items():
                _say(f"{digest}  {name}")
            for name, line in manifest.libraries(root).items():
                _say(f"{name} {line}")
        for finding in found.findings:
            _say((finding.file, "red"), f" {finding.what}")
    sealed_start.refuse_a_new_table(config)
    if found.findings:
        raise SealError(
            f"the seal is broken: {found.findings[0].line()}", remedy=sealed_start.CHECK
        )
    if not as_json:
        _say(*_good(found))
        if asks:
            _say((asks, "yellow"))


def _asks_a_person(found: examine.Examined, config: Path) -> str:
    try:
        return sealed_start.asks_a_person(found, config)
    except JournalError as error:
        return f"what the journal remembers of the seal cannot be read: {error.line()}"


def _files(found: examine.Examined, root: Path) -> dict[str, str]:
    """Every covered file that is there: of the program, what starts it, settings and profile."""
    files = {**manifest.digests_of_packages(root), **manifest.digests_of_environment(root)}
    elsewhere = {} if found.manifest is None else found.manifest.elsewhere
    others = [path for path in map(Path, elsewhere) if str(path) not in files and path.is_file()]
    return {**files, **{str(path): manifest.digest(path) for path in others}}


def _good(found: examine.Examined) -> tuple[tuple[str, str], str]:
    if found.manifest is None:
        return ("unsealed", "yellow"), ": nothing is signed here"
    count = len(found.manifest.packages) + len(found.manifest.elsewhere)
    return (
        ("verified", "green"),
        f": {count} files and {len(found.manifest.libraries)} libraries, sealed "
        f"{found.manifest.sealed} by {found.manifest.by}, key {found.seal}",
    )


@app.command()
def answer(
    seed: Annotated[str, typer.Argument(help="What an inspector types at the table.")],
    config: Config = DEFAULT_CONFIG,
    packages: Packages = None,
    listed: Annotated[
        Path | None, typer.Option("--list", help="File to write the list to, for openssl.")
    ] = None,
) -> None:
    """Print what `answer SEED` must say at the console of a table with these very files.

    It is `openssl dgst -sha256 -hmac SEED LIST`, over the list of every file and library that
    decides. Run it over the approved version, on another machine.
    """
    try:
        arguments.seed([seed])
    except arguments.ArgumentsError as error:
        raise typer.BadParameter(str(error)) from error
    others = _settings_and_profile(config, settings_file.load(config))
    text = keyed_answer.approved_list(_installed(packages), others)
    if listed is not None:
        remedy = "Name a file in a folder that you may write to"
        with reraise_as(RefusedError, f"{listed} cannot be written", remedy=remedy):
            put(listed, text, mode(0o644))
    typer.echo(keyed_answer.keyed(seed, text))


@app.command()
def clear(
    name: Annotated[str, typer.Option("--by", help="Your login name at this table's consoles.")],
    reason: Annotated[str, typer.Option(help="What was wrong and what was done about it.")],
    role: Annotated[
        Role, typer.Option(help="Your role there: technician or supervisor.")
    ] = Role.TECHNICIAN,
    config: Config = DEFAULT_CONFIG,
) -> None:
    """Clear a broken seal, once every file verifies again. Asks for your passphrase; is recorded.

    A restart clears nothing (O-2). The table must not be running.
    """
    chosen = settings_file.load(config)
    signer = require_mender(chosen.console.users_file, name, role, reason, "clear a broken seal")
    become_owner_of(chosen.journal.path.parent)
    past = sealed_start.clear(config, signer, reason)
    _say(f"cleared: the broken seal of {past.since}; the table may be started")
