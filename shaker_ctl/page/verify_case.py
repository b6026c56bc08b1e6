"""Verify the case in this folder: the chain of its records, and the digest of each picture.

Needs Python 3.8 or later and nothing else. Ends with status 1 where something does not fit.
"""

import hashlib
import json
import sys
from pathlib import Path

HASH, RECORD, END = b'{"hash":"', b'","record":', b"}\n"


def main() -> int:
    """Say what fits, line by line; return how many things do not."""
    folder = Path(__file__).resolve().parent
    case = json.loads((folder / "case.json").read_text("utf-8"))
    wrong = 0
    ends = json.loads((folder / "chain.json").read_text("utf-8"))
    before = bytes.fromhex(ends["before"])
    number = ends["first"] - 1
    named = {}
    for line in (folder / "records.jsonl").read_bytes().splitlines(keepends=True):
        number += 1
        start = len(HASH) + 64
        chain = line[len(HASH) : start]
        body = line[start + len(RECORD) : -len(END)]
        is_whole = line[: len(HASH)] == HASH and line[start : start + len(RECORD)] == RECORD
        found = hashlib.sha256(before + body).hexdigest().encode()
        plain = json.loads(body) if is_whole else {}
        if not is_whole or found != chain or plain.get("sequence") != number:
            sys.stdout.write(f"record {number} is NOT what the table wrote\n")
            wrong += 1
            break
        before = bytes.fromhex(chain.decode())
        named.update({kept["sha256"]: kept["file"] for kept in plain.get("pictures", {}).values()})
    else:
        if before.hex() != ends["head"]:
            sys.stdout.write("records are missing at the end\n")
            wrong += 1
    for kept in case["pictures"]:
        if kept["sha256"] not in named:
            sys.stdout.write(f"picture {kept['sha256'][:16]}: no record names it\n")
            wrong += 1
        elif "not" in kept:
            sys.stdout.write(f"{kept['not']}\n")
            wrong += 1
        elif kept["file"] is None:
            sys.stdout.write(f"picture {kept['sha256'][:16]}: was no longer kept\n")
        else:
            now = hashlib.sha256((folder / kept["file"]).read_bytes()).hexdigest()
            if now != kept["sha256"]:
                sys.stdout.write(f"{kept['file']}: is NOT the picture that was recorded\n")
                wrong += 1
    records = number - ends["first"] + 1
    verdict = f"{wrong} things do NOT fit" if wrong else "all fits"
    sys.stdout.write(
        f"round {case['round']} of {case['table']}: {records} records, "
        f"{len(case['pictures'])} pictures: {verdict}\nhead {before.hex()}\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
