"""What a table's package carries, as a CycloneDX list: name, version, digests and licence of each.

    python -m hil_tests.installed.sbom WHEEL

Taken from the lock and from the installed libraries' own words. Names no address and no time: the
same wheel and lock give the same bytes. Prints the list; `make wheel` keeps it beside the wheel.
"""

from __future__ import annotations

import hashlib
import json
import re
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import typer

from shaker_ctl.libraries import LOCK, locked


def components(lock: Path = LOCK) -> list[dict[str, Any]]:
    """Return one component for each library of the lock."""
    entries = {entry.partition("==")[0]: entry for entry in re.split(r"\n(?=\S)", lock.read_text())}
    found = []
    for name, version in locked(lock).items():
        digests = sorted(re.findall(r"sha256:([0-9a-f]{64})", entries[name]))
        found.append(
            {
                "type": "library",
                "bom-ref": f"pkg:pypi/{name}@{version}",
                "name": name,
                "version": version,
                "purl": f"pkg:pypi/{name}@{version}",
                **_licences(name),
                # One of these is the wheel that was taken, by processor and Python.
                "properties": [
                    {"name": "shaker-ctl:sha256-of-a-wheel", "value": digest} for digest in digests
                ],
            }
        )
    return found


def _licences(name: str) -> dict[str, Any]:
    """Return what the library says of its licence; nothing where nothing is said."""
    try:
        about = metadata(name).json
    except PackageNotFoundError:
        return {}
    if expression := about.get("license_expression"):
        return {"licenses": [{"expression": expression}]}
    classified = [
        line.rpartition(" :: ")[2]
        for line in about.get("classifier", ())
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    said = str(about.get("license", ""))
    names = classified or ([said.splitlines()[0]] if said.strip() else [])
    return {"licenses": [{"license": {"name": each}} for each in names]} if names else {}


def bill(wheel: Path) -> dict[str, Any]:
    """Return the whole list for `wheel`."""
    version = wheel.name.split("-")[1]
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    libraries = components()
    ours = f"pkg:pypi/shaker-ctl@{version}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": ours,
                "name": "shaker-ctl",
                "version": version,
                "purl": ours,
                "licenses": [{"expression": "Apache-2.0"}],
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }
        },
        "components": libraries,
        "dependencies": [{"ref": ours, "dependsOn": [each["bom-ref"] for each in libraries]}],
    }


def main(wheel: Path) -> None:
    """What a table's package carries, as a CycloneDX list."""
    typer.echo(json.dumps(bill(wheel), indent=1))


if __name__ == "__main__":
    typer.run(main)
