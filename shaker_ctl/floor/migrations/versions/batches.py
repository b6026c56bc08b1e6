"""Records lie as they came: a row is lines of a volume, packed. Old months need no partition."""

from collections.abc import Iterator
from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, LargeBinary, String, text

from shaker_ctl.errors import RefusedError
from shaker_ctl.floor.migrations.versions.records import have_partition, lay_records_singly
from shaker_ctl.floor.store import TOGETHER, add_rows, records_in, row_of
from shaker_ctl.journal.record import Record, number_in
from shaker_ctl.link.packing import packed

revision = "batches"
down_revision = "records"

_READ = text(
    "SELECT sequence, hash, body, wall FROM record "
    "WHERE line = :line AND sequence > :after ORDER BY sequence LIMIT :count"
)
_BATCHES = text(
    "SELECT first, last, lines FROM batch "
    "WHERE line = :line AND last > :after ORDER BY last LIMIT 50"
)


def upgrade() -> None:
    """Pack each line's records, sixty-four together. A row of `batch`: records `first` to `last` of
    a line, the hash of the last, and the rounds that they name. `start` of a line: the last record
    that is removed because of its age, with its hash and who had it done."""
    op.create_table(
        "batch",
        Column("line", Integer, primary_key=True, autoincrement=False),
        Column("last", BigInteger, primary_key=True, autoincrement=False),
        Column("first", BigInteger, nullable=False),
        Column("hash", LargeBinary, nullable=False),
        *(Column(name, BigInteger) for name in ("first_round", "last_round")),
        Column("came", String(40), nullable=False),
        Column("lines", LargeBinary, nullable=False),
    )
    op.create_index("batch_round", "batch", ["line", "last_round", "first_round"])
    op.create_index("batch_came", "batch", ["came"])
    op.execute("ALTER TABLE batch ALTER lines SET STORAGE EXTERNAL")  # it is compressed already
    op.execute("ALTER TABLE line ADD start bigint NOT NULL DEFAULT 0, ADD start_hash bytea")
    op.execute("ALTER TABLE line ADD removed_by varchar(80)")
    for line in _lines():
        for rows in _records(line):
            for at in range(0, len(rows), TOGETHER):
                add_rows(op.get_bind(), "batch", [_packed(line, rows[at : at + TOGETHER])])
    op.execute("DROP TABLE record, picture, named_version")


def _lines() -> list[int]:
    return list(op.get_bind().execute(text("SELECT id FROM line ORDER BY id")).scalars())


def _records(line: int) -> Iterator[Any]:
    after = 0
    wanted = {"line": line, "count": 100 * TOGETHER}
    while rows := op.get_bind().execute(_READ, {**wanted, "after": after}).all():
        yield rows
        after = rows[-1].sequence


def _packed(line: int, rows: Any) -> dict[str, Any]:
    found = [Record(row.sequence, row.hash, row.body) for row in rows]
    return {**row_of(line, found, packed(found)), "came": rows[-1].wall}


def downgrade() -> None:
    """Lay each record into a row of its own again."""
    db = op.get_bind()
    if db.execute(text("SELECT 1 FROM line WHERE start > 0")).first():
        raise RefusedError(
            "old records are removed, which the schema `records` cannot tell",
            remedy="Stay with this one",
        )
    lay_records_singly()
    there = {0}
    for line in _lines():
        after = 0
        while batches := db.execute(_BATCHES, {"line": line, "after": after}).all():
            rows = [row for each in batches for row in _rows(line, each)]
            for month in {row["month"] for row in rows} - there:
                have_partition(month)
                there.add(month)
            add_rows(db, "record", rows)
            after = rows[-1]["sequence"]
    op.execute("DROP TABLE batch")
    op.execute("ALTER TABLE line DROP start, DROP start_hash, DROP removed_by")


def _rows(line: int, batch: Any) -> Iterator[dict[str, Any]]:
    for record in records_in(batch):
        plain = record.plain
        wall = str(plain.get("wall", ""))[:40]
        yield {
            "line": line,
            "sequence": record.sequence,
            "month": _month(wall),
            "hash": record.hash,
            "round": number_in(record.body, "round"),
            "kind": str(plain.get("kind", ""))[:40],
            "wall": wall,
            "body": record.body,
        }


def _month(wall: str) -> int:
    try:
        return int(wall[:4]) * 100 + int(wall[5:7]) if "01" <= wall[5:7] <= "12" else 0
    except ValueError:
        return 0
