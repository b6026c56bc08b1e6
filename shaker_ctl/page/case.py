"""A case: everything on one round in one folder, packed, that anybody can verify with Python alone.

Owns the folder's form. `verify.py` in it walks the chain over the records as they were hashed, and
compares each picture with the digest that its record names.
"""

from __future__ import annotations

import io
import json
import zipfile
from datetime import datetime
from pathlib import Path

from typing_extensions import TypedDict

from shaker_ctl.adapters.disk.picture_folder import recorded_picture
from shaker_ctl.errors import RefusedError
from shaker_ctl.page.journal import RoundRecord

VERIFY = Path(__file__).with_name("verify_case.py")

ABOUT = """\
A case of one round of a Sic Bo table, exported for whoever has to judge it.

records.jsonl   every record from the round's first to its last, as it was hashed, with its hash
chain.json      where the chain of these records begins and ends
case.json       the table, the round, who exported it, when and why
pictures/       the pictures that the decisions rest on
verify.py       python3 verify.py      says whether records and pictures fit together

That the chain is the table's own: the hash of a later record stands on the table's signed day
sheet, in its lamp box, and in its second copy. `shaker-ctl journal verify` at the table holds them
against each other; `shaker-ctl journal verify FOLDER` verifies these records, too.
"""


_NotHere = TypedDict("_NotHere", {"not": str}, total=False)


class CasePicture(_NotHere):
    """A picture that a decision rests on. `not`: why it is not here, where the file is not what the
    record names.
    """

    what: str
    file: str | None
    """In this folder; None where it is no longer kept, or is not what the record names."""
    sha256: str
    """As its record names it."""


class Exported(TypedDict):
    """Who exported the case."""

    by: str
    role: str
    reason: str
    at: str


class Case(TypedDict):
    """`case.json` of a case."""

    table: str
    round: int
    marks: list[str]
    """`DEMONSTRATION`, ..."""
    journal: str
    """Identity of the journal."""
    damage: str | None
    """What does not fit the chain of hashes."""
    exported: Exported
    pictures: list[CasePicture]


class Chain(TypedDict):
    """`chain.json`: where the records of a case or export begin and end."""

    first: int
    before: str
    """Hash of the record before the first one, in hex."""
    head: str
    """Hash of the last one."""


def pack(
    found: RoundRecord, pictures: Path, *, table: str, by: str, role: str, reason: str, at: datetime
) -> bytes:
    """Return the case as a ZIP archive of one folder. `pictures`: the folder of all pictures."""
    folder = f"round-{found.number}"
    stamp = at.timetuple()[:6]
    files: list[CasePicture] = []
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:

        def put(name: str, content: bytes) -> None:
            info = zipfile.ZipInfo(f"{folder}/{name}", stamp)
            info.external_attr = 0o644 << 16
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)

        for what, name, digest in found.told.pictures:
            try:
                content = recorded_picture(pictures, name, digest)
            except OSError:
                files.append({"file": None, "sha256": digest, "what": what})
                continue
            except RefusedError as refused:
                files.append({"file": None, "sha256": digest, "what": what, "not": str(refused)})
                continue
            put(f"pictures/{Path(name).name}", content)
            files.append({"file": f"pictures/{Path(name).name}", "sha256": digest, "what": what})
        put("records.jsonl", b"".join(one.exported for one in found.records))
        chain: Chain = {
            "first": found.before.sequence + 1,
            "before": found.before.hash.hex(),
            "head": found.head,
        }
        put("chain.json", json.dumps(chain).encode() + b"\n")
        told: Case = {
            "table": table,
            "round": found.number,
            "marks": list(found.told.marks),
            "journal": found.identity,
            "damage": found.damage or None,
            "exported": {
                "by": by,
                "role": role,
                "reason": reason,
                "at": at.isoformat(timespec="seconds"),
            },
            "pictures": files,
        }
        put("case.json", json.dumps(told, indent=2, ensure_ascii=False).encode() + b"\n")
        put("verify.py", VERIFY.read_bytes())
        marks = "".join(f"** {mark} **\n\n" for mark in found.told.marks)
        put("README.txt", (marks + ABOUT).encode())
    return buffer.getvalue()
