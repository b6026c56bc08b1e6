"""Records lie as they came: a row is lines of a volume, packed. Old months need no partition."""

from collections.abc import Iterator
from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, LargeBinary, String, text

from shaker_ctl.errors import RefusedError
from shaker_ctl.floor.store import TOGETHER, records_in, row_of
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
    """Pack each line's records, sixty-four together."""
    made = op.create_table(
        "batch",
        Column("line", Integer, primary_key=True, autoincrement=False),
        Column("last", BigInteger, primary_key=True, autoincrement=False),
        Column("first", BigInteger, nullable=False),
        Column("hash", LargeBinary(32), nullable=False),
        *(Column(name, BigInteger) for name in ("first_round", "last_round")),
        Column("came", String(40), nullable=False),
        Column("lines", LargeBinary, nullable=False),
    )
    op.create_index("batch_round", "batch", ["line", "last_round", "first_round"])
    op.create_index("batch_came", "batch", ["came"])
    op.add_column("line", Column("start", BigInteger, nullable=False, server_default="0"))
    op.add_column("line", Column("start_hash", LargeBinary(32)))
    op.add_column("line", Column("removed_by", String(80)))
    if op.get_context().dialect.name == "postgresql":  # it is compressed already
        op.execute("ALTER TABLE batch ALTER lines SET STORAGE EXTERNAL")
    for line in _lines():
        for rows in _records(line):
            for at in range(0, len(rows), TOGETHER):
                op.bulk_insert(made, [_packed(line, rows[at : at + TOGETHER])])
    op.drop_table("record")


def _lines() -> list[int]:
    return list(op.get_bind().execute(text("SELECT id FROM line ORDER BY id")).scalars())


def _records(line: int) -> Iterator[Any]:
    after = 0
    wanted = {"line": line, "count": 100 * TOGETHER}
    while rows := op.get_bind().execute(_READ, {**wanted, "after": after}).all():
        yield rows
        after = rows[-1].sequence


def _packed(line: int, rows: Any) -> dict[str, Any]:
    found = [Record(row.sequence, bytes(row.hash), bytes(row.body)) for row in rows]
    return {**row_of(line, found, packed(found)), "came": rows[-1].wall}


def downgrade() -> None:
    """Lay each record into a row of its own again."""
    db = op.get_bind()
    if db.execute(text("SELECT 1 FROM line WHERE start > 0")).first():
        raise RefusedError(
            "old records are removed, which the schema `records` cannot tell",
            remedy="Stay with this one",
        )
    _create_record("record", postgresql_partition_by="RANGE (month)")
    op.create_index("record_round", "record", ["line", "round"])
    is_partitioned = op.get_context().dialect.name == "postgresql"
    if is_partitioned:
        _attach("record_of_no_month", "DEFAULT")
    adding = text(
        "INSERT INTO record (line, sequence, month, hash, round, kind, wall, body) "
        "VALUES (:line, :sequence, :month, :hash, :round, :kind, :wall, :body)"
    )
    there = {0}
    for line in _lines():
        after = 0
        while batches := db.execute(_BATCHES, {"line": line, "after": after}).all():
            rows = [row for each in batches for row in _rows(line, each)]
            if is_partitioned:
                for month in {row["month"] for row in rows} - there:
                    _have_partition(month)
                    there.add(month)
            db.execute(adding, rows)
            after = rows[-1]["sequence"]
    op.drop_table("batch")
    for name in ("start", "start_hash", "removed_by"):
        op.drop_column("line", name)


def _create_record(name: str, **options: str) -> None:
    op.create_table(
        name,
        Column("line", Integer, primary_key=True, autoincrement=False),
        Column("sequence", BigInteger, primary_key=True, autoincrement=False),
        Column("month", Integer, primary_key=True, autoincrement=False),
        Column("hash", LargeBinary(32), nullable=False),
        Column("round", BigInteger),
        *(Column(name, String(40), nullable=False) for name in ("kind", "wall")),
        Column("body", LargeBinary, nullable=False),
        **options,  # type: ignore[arg-type]
    )


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


def _have_partition(month: int) -> None:
    year, index = divmod(month, 100)
    after = (year + 1) * 100 + 1 if index == 12 else month + 1
    _attach(f"record_{month}", f"FOR VALUES FROM ({month}) TO ({after})")


def _attach(name: str, which: str) -> None:
    _create_record(name)
    op.execute(f"ALTER TABLE record ATTACH PARTITION {name} {which}")
