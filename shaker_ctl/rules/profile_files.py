"""Profile files: found by name or path, read, merged, and refused with the reason.

Owns the names that a file may have: the names of shipped profiles are reserved, and the name
of a file that makes a text less strict must begin with `house`. Must not know what the table does
with a value.
"""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from shaker_ctl.errors import SettingsError
from shaker_ctl.quoting import quoted
from shaker_ctl.rules.regulation import Profile
from shaker_ctl.rules.tightening import loosened
from shaker_ctl.rules.vocabulary import plain

PROFILES = ("pa-625a", "pa-625b", "ma", "pa-539", "md", "house-auto")
"""The profiles that come with the product, in the order in which they are listed."""


EXAMPLES = Path(__file__).parent / "examples"
"""Files for a house to begin from. None of them has a name that `load` knows."""


def shipped_profiles() -> tuple[Profile, ...]:
    """Return every profile that comes with the product."""
    return tuple(load(name) for name in PROFILES)


HOUSE = "house"
"""How the name of a profile begins that is the house's own and no text."""


def load(name_or_path: str | Path) -> Profile:
    """Return a shipped profile by name, or the profile of a file.

    Raises SettingsError naming the file, the key, what is allowed there, and the clause given; and
    for a file that would pass as a text which it is not (`_refuse_pretence`).
    """
    return _read(_path(name_or_path), seen=()).profile


def source(profile: Profile) -> Path:
    """Return the file of a shipped profile."""
    return _path(profile.name)


def own_files(name_or_path: str | Path) -> tuple[Path, ...]:
    """Return the house's own files that a profile is read from, the topmost first; absolute.

    Empty for a shipped profile. Raises SettingsError where one cannot be read.
    """
    shipped = [_path(name) for name in PROFILES]
    found: list[Path] = []
    path: Path | None = _path(name_or_path)
    while path is not None and path not in (*found, *shipped):
        found.append(path)
        path = _below(path, _toml(path).get("on_top_of"))
    return tuple(each.absolute() for each in found)


def _path(name_or_path: str | Path) -> Path:
    if isinstance(name_or_path, str) and name_or_path in PROFILES:
        return Path(str(resources.files("shaker_ctl.rules") / "profiles" / f"{name_or_path}.toml"))
    path = Path(name_or_path)
    if path.suffix != ".toml":
        raise SettingsError(
            f"there is no profile `{name_or_path}`",
            remedy=f"Choose one of {', '.join(PROFILES)}, or name a .toml file",
        )
    return path


class _Whole(NamedTuple):
    """A profile with all that lies below it."""

    profile: Profile
    raw: dict[str, Any]
    """What its file and all files below it say together."""
    text: Profile
    """What all of it lies on: a shipped profile, or the lowest file."""


def _read(path: Path, seen: tuple[Path, ...]) -> _Whole:
    if path in seen:
        raise SettingsError(f"{path} lies on top of itself", remedy="Correct `on_top_of`")
    raw, below = _toml(path), None
    under = raw.pop("on_top_of", None)
    if (lower := _below(path, under)) is not None:
        below = _read(lower, (*seen, path))
        raw = _over(below.raw, raw)
    try:
        profile = Profile.model_validate(raw)
    except ValidationError as error:
        raise SettingsError(
            f"{path}: " + "; ".join(_complaint(raw, dict(e)) for e in error.errors()),
            remedy="Correct the profile, then check it with `shaker-ctl rules check FILE`",
        ) from error
    if path in map(_path, PROFILES):
        return _Whole(profile, raw, profile)
    _refuse_pretence(path, profile, below)
    profile = profile.model_copy(update={"own_file": True})
    return _Whole(profile, raw, below.text if below else profile)


def _below(path: Path, under: object) -> Path | None:
    """Return the file that `path` lies on: a shipped name is a text's own, whatever lies beside."""
    if under is None:
        return None
    if not isinstance(under, str):
        raise SettingsError(
            f"{path}: `on_top_of` is not the name of a profile", remedy='Write on_top_of = "NAME"'
        )
    beside = path.parent / f"{under}.toml"
    return beside if under not in PROFILES and beside.exists() else _path(under)


def _refuse_pretence(path: Path, profile: Profile, below: _Whole | None) -> None:
    """Raise SettingsError where a file of the house would pass as a text that it is not.

    A shipped name is reserved, and the instrument of a shipped text is named on top of that text
    alone. On top of a text a file may only tighten it; whatever loosens it is the house's own and
    is called so. Odds, caution and oddities of a text are kept under any name, in any number of
    steps.
    """
    if profile.name in PROFILES:
        raise SettingsError(
            f"{path}: `name`: a profile called `{profile.name}` comes with the product",
            remedy="Give the file a name of its own",
        )
    is_house = profile.name == HOUSE or profile.name.startswith(f"{HOUSE}-")
    if is_house == profile.rests_on_instrument:
        raise SettingsError(
            f"{path}: `name`, `rests_on_instrument`: `{profile.name}` "
            + ("is a name for the house's own rules" if is_house else "does not say house"),
            remedy="A profile that rests on no instrument is called `house` or `house-…`, "
            "and no other is",
        )
    if below is None:
        _refuse_a_shipped_instrument(path, profile, is_house=is_house)
        return
    base, text = below.profile, below.text
    if text.rests_on_instrument:
        kept = [each for each in loosened(text, profile) if each.startswith(KEPT)]
        if kept:
            raise SettingsError(
                f"{path}: areas, odds or warnings of {text.name} are changed: {kept[0]}",
                remedy="Keep what the text says and what is said of it, and add to it; or lay the "
                "file on top of `house-auto`",
            )
    looser = loosened(base, profile)
    if looser and not is_house:
        raise SettingsError(
            f"{path}: on top of {base.name} a profile may only tighten it: {'; '.join(looser[:3])}",
            remedy="Take that back; or call the file `house-…`, with rests_on_instrument = false",
        )


KEPT = ("areas.", "payout.", "caution:", "oddities:")
"""Keys of a text that no file on top of it changes, but adds to."""


def _refuse_a_shipped_instrument(path: Path, profile: Profile, *, is_house: bool) -> None:
    """Raise SettingsError where a file that lies on nothing says that it is a shipped text."""
    for shipped in () if is_house else shipped_profiles():
        mine, theirs = (plain(each.instrument) for each in (profile, shipped))
        cited = re.split(r" \(|, (?:ch\.|sections) ", theirs)[0]
        if shipped.rests_on_instrument and cited in mine:
            raise SettingsError(
                f"{path}: `instrument`: `{shipped.name}` has this text, and comes with the product",
                remedy=f'Write on_top_of = "{shipped.name}"; or call the file `house-…`, with '
                "rests_on_instrument = false",
            )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(
            f"{path}: cannot be read ({error.strerror})", remedy="Name a readable profile file"
        ) from error
    except (ValueError, RecursionError) as error:  # no TOML, no text; too many digits or brackets
        raise SettingsError(f"{path}: {error}", remedy="Correct the TOML") from error


def _over(base: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with what `top` says instead. A cited value or a set of tables is one whole."""
    merged = dict(base)
    for key, value in top.items():
        below = merged.get(key)
        whole = not isinstance(value, dict) or "clause" in value or key in ("tables", "ranges")
        merged[key] = value if whole or not isinstance(below, dict) else _over(below, value)
    return merged


def _complaint(raw: dict[str, Any], error: dict[str, Any]) -> str:
    key = ".".join(str(part) for part in error["loc"] if not str(part).startswith("function-"))
    clause = _clause_near(raw, error["loc"])
    what = error["msg"].removeprefix("Value error, ")
    message = f"`{key}`: {what}" if key else what
    if "input" in error and isinstance(error["input"], str | int | float):
        message += f", not {quoted(error['input'])}"
    return message + (f" (clause {clause})" if clause else "")


def _clause_near(raw: Any, where: tuple[Any, ...]) -> str:
    clause = ""
    for part in where:
        if isinstance(raw, dict):
            raw = raw.get(part)
        if isinstance(raw, dict) and isinstance(raw.get("clause"), str):
            clause = raw["clause"]
    return clause
