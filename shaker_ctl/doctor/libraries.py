"""Whether the libraries are those that this program was measured with. Owns the one line."""

from __future__ import annotations

from pathlib import Path

from shaker_ctl import libraries as library
from shaker_ctl.doctor.finding import Finding, fail, ok, warn
from shaker_ctl.seal.manifest import ROOT

OTHER_COMPUTER = (
    "Use another model of computer, or versions of both libraries that were built for it"
)

REINSTALL = "Install this version of shaker-ctl again, from its package or with its lock file"


def libraries(root: Path = ROOT) -> Finding:
    """Hold every library against the lock, and each of its files against its installer's record."""
    there = library.installed(root)
    others = []
    for name, version in library.locked().items():
        one = there.get(name) or there.get(library.HEADLESS.get(name, ""))
        if one is None and name not in library.DECIDING:
            continue  # what the installed others ask for is their installer's matter
        if one is None:
            return fail("libraries", f"{name} {version} is not installed", REINSTALL)
        if one.version != version:
            others.append(f"{name} {one.version}, measured with {version}")
    damaged = [f"{name}: {file} {what}" for name, file, what in library.damage(root)]
    if damaged:
        more = f", and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        return fail("libraries", damaged[0] + more, REINSTALL)
    if lacking := library.unsupported():
        return fail("libraries", lacking, OTHER_COMPUTER)
    if others:
        return warn("libraries", "; ".join(others), REINSTALL)
    return ok("libraries", f"{len(there)} libraries in the versions of the lock, whole")
