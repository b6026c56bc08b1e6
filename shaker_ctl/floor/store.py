"""The floor's database, by SQLAlchemy: what it holds of each journal, and what people decided.

Owns the schema and every statement. A record's key is its line and sequence number; a line is the
chain of one journal's identity. Records are only ever added. With PostgreSQL they lie in one
partition for each month of their own clock, so that old months can be detached as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    create_engine,
    event,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError

from shaker_ctl.errors import RefusedError, ShakerError
from shaker_ctl.floor.judgement import AlarmKind, Contradiction, FollowedJournal, begun
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.history import Round, mentions, understood
from shaker_ctl.journal.record import Head, Record

metadata = MetaData()

line = Table(
    "line",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("site", String(40), nullable=False),
    Column("table_name", String(40), nullable=False),
    Column("number", Integer, nullable=False),
    Column("identity", String(120), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("hash", LargeBinary(32), nullable=False),
    Column("founded", String(40), nullable=False),
    Column("accepted_by", Text, nullable=False, server_default=""),
    Column("reason", Text, nullable=False, server_default=""),
    UniqueConstraint("site", "table_name", "number"),
)
"""One journal's chain as it came. A table's newest line is the one that goes on."""

record = Table(
    "record",
    metadata,
    Column("line", Integer, primary_key=True, autoincrement=False),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("month", Integer, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary(32), nullable=False),
    Column("round", BigInteger),
    Column("kind", String(40), nullable=False),
    Column("wall", String(40), nullable=False),
    Column("body", LargeBinary, nullable=False),
    Index("record_round", "line", "round"),
    postgresql_partition_by="RANGE (month)",
)
"""`month`: as 202611, of the record's own clock; 0 where it tells none. A record has the same month
whenever it comes, so its key is one in all partitions."""

ended_round = Table(
    "ended_round",
    metadata,
    Column("line", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("sequence", BigInteger, primary_key=True, autoincrement=False),
    Column("wall", String(40), nullable=False),
    Column("ending", String(20), nullable=False),
    Column("source", String(20)),
    Column("wagers", String(20)),
    Column("cause", String(40)),
    Column("first", Integer),
    Column("second", Integer),
    Column("third", Integer),
    Index("ended_round_wall", "wall"),
)

alarm = Table(
    "alarm",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("site", String(40), nullable=False),
    Column("table_name", String(40), nullable=False),
    Column("trouble", String(40), nullable=False),
    Column("identity", String(120), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("text", Text, nullable=False),
    Column("raised", String(40), nullable=False),
    Column("accepted", String(40)),
    Column("accepted_by", Text),
    Column("reason", Text),
    Column("line", Integer, ForeignKey("line.id")),
)
"""A table whose history contradicts the floor's. `line`: which line began with its acceptance."""

picture = Table(
    "picture",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("site", String(40), nullable=False),
    Column("table_name", String(40), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("came", String(40), nullable=False),
    Column("data", LargeBinary, nullable=False),
)

named_version = Table(
    "named_version",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("site", String(40), nullable=False),
    Column("table_name", String(40), nullable=False),
    Column("version", String(80), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("by", Text, nullable=False),
    Column("wall", String(40), nullable=False),
)


_MOVE = (
    update(line)
    .where(line.c.id == bindparam("line_id"), line.c.sequence == bindparam("before"))
    .values(sequence=bindparam("to_sequence"), hash=bindparam("to_hash"))
)
_MOVE_ALL = text(
    "UPDATE line SET sequence = moved.to_sequence, hash = moved.to_hash "
    "FROM unnest(CAST(:line_id AS integer[]), CAST(:before AS bigint[]), "
    "CAST(:to_sequence AS bigint[]), CAST(:to_hash AS bytea[])) "
    "AS moved(line_id, before, to_sequence, to_hash) "
    "WHERE line.id = moved.line_id AND line.sequence = moved.before"
)
"""Moves many lines in one statement of PostgreSQL."""
_COPY = f"COPY record ({', '.join(record.c.keys())}) FROM STDIN"


MAX_OF_A_ROUND = 20_000
"""Records of one round that are read; no table writes so many."""


class StoreError(ShakerError):
    """The floor's database did not take or give what it must. Nothing was acknowledged; tables keep
    their records and send them again. The floor's IT acts."""

    code = "floor-store"

    def __init__(self, message: str, *, remedy: str = "", is_away: bool = False) -> None:
        super().__init__(message, remedy=remedy)
        self.is_away = is_away
        """Whether the database itself is gone or full, whatever it is asked."""


@dataclass(slots=True)
class StoredTable:
    """Where the store stands with one table."""

    id: int | None
    """Of its newest line; None before the first."""
    line: FollowedJournal | None
    alarm: str = ""
    """The standing alarm's trouble; while there is one, nothing is taken."""


@frozen
class OpenAlarm:
    """One alarm that nobody has accepted."""

    id: int
    site: str
    table: str
    trouble: str
    text: str
    raised: str


class Store:
    """One database. For one thread at a time."""

    def __init__(self, url: str) -> None:
        """Open, and make the tables where there are none. Raises StoreError."""
        options: dict[str, Any] = {"pool_pre_ping": True}
        if url.startswith("sqlite"):
            options["connect_args"] = {"timeout": 10.0}
        else:
            options["connect_args"] = {"connect_timeout": 5}
        with _said():
            self._engine = create_engine(url, **options)
            if self.is_sqlite:
                event.listen(self._engine, "connect", _set_up_sqlite)
            with self._engine.begin() as db:
                if not self.is_sqlite:  # collectors that start together take turns
                    db.execute(text("SELECT pg_advisory_xact_lock(7362014)"))
                metadata.create_all(db)
                if not self.is_sqlite:
                    db.execute(
                        text(
                            "CREATE TABLE IF NOT EXISTS record_of_no_month "
                            "PARTITION OF record DEFAULT"
                        )
                    )
        self._months: set[int] = set()

    @property
    def is_sqlite(self) -> bool:
        """Whether it is one file on this machine."""
        return self._engine.dialect.name == "sqlite"

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @contextmanager
    def committing(self) -> Iterator[Connection]:
        """One transaction; when it ends, it is on the disk. Raises StoreError."""
        with _said(), self._engine.begin() as db:
            yield db

    # ── Lines ───────────────────────────────────────────────────────────────

    def kept(self, site: str, table: str) -> StoredTable:
        """Return where the store stands with a table. Raises StoreError."""
        with self.committing() as db:
            newest = db.execute(_newest_line(site, table)).first()
            standing = db.execute(
                select(alarm.c.trouble).where(*_standing_of(site, table)).limit(1)
            ).scalar()
        if newest is None:
            return StoredTable(None, None, standing or "")
        at = Head(newest.sequence, bytes(newest.hash))
        return StoredTable(newest.id, FollowedJournal(newest.identity, at), standing or "")

    def found(
        self, db: Connection, site: str, table: str, identity: str, *, by: str = "", why: str = ""
    ) -> tuple[int, FollowedJournal]:
        """Begin a line behind all lines of the table; return its id, and the empty line."""
        before = db.execute(_newest_line(site, table)).first()
        empty = begun(identity)
        made = db.execute(
            insert(line).values(
                site=site,
                table_name=table,
                number=1 if before is None else before.number + 1,
                identity=identity,
                sequence=0,
                hash=empty.head.hash,
                founded=_now(),
                accepted_by=by,
                reason=why,
            )
        )
        assert made.inserted_primary_key is not None
        return int(made.inserted_primary_key[0]), empty

    def hash_at(self, db: Connection, id_: int, sequence: int) -> bytes | None:
        """Return the hash of a stored record; None where there is none."""
        found = db.execute(
            select(record.c.hash).where(record.c.line == id_, record.c.sequence == sequence)
        ).scalar()
        return None if found is None else bytes(found)

    def add(
        self, db: Connection, parts: Sequence[tuple[int, Head, Sequence[Record]]]
    ) -> list[dict[str, Any]]:
        """Add records behind each line's head. `parts`: line's id, its head before, what follows.

        Returns the rows of the rounds that ended. Raises StoreError where another collector has
        moved a line meanwhile: nothing is kept then.
        """
        rows: list[dict[str, Any]] = []
        rounds: list[dict[str, Any]] = []
        moves: list[dict[str, Any]] = []
        for id_, before, records in parts:
            for each in records:
                row, ended = _rows_of(id_, each)
                rows.append(row)
                rounds += ended.values()
            last = records[-1]
            moves.append(
                {
                    "line_id": id_,
                    "before": before.sequence,
                    "to_sequence": last.sequence,
                    "to_hash": last.hash,
                }
            )
        if not rows:
            return []
        if self._moved(db, moves) != len(moves):
            raise StoreError(
                "another collector moved the line of a table of this one",
                remedy="Give each collector a number of its own",
            )
        if self.is_sqlite:
            db.execute(insert(record), rows)
        else:
            self._have_partitions(db, {row["month"] for row in rows})
            _copied(db, rows)
        if rounds:
            db.execute(insert(ended_round), rounds)
        return rounds

    def _moved(self, db: Connection, moves: list[dict[str, Any]]) -> int:
        """Move the heads of lines; return how many stood where they were expected."""
        if self.is_sqlite:
            return db.execute(_MOVE, moves).rowcount
        return db.execute(_MOVE_ALL, {key: [m[key] for m in moves] for key in moves[0]}).rowcount

    def _have_partitions(self, db: Connection, months: Iterable[int]) -> None:
        """Months near now get a partition; what a wrong clock wrote goes to the default one."""
        now = datetime.now(UTC)
        near = range(now.year * 12 + now.month - 1 - 24, now.year * 12 + now.month + 2)
        for month in set(months) - self._months:
            year, index = divmod(month, 100)
            if year * 12 + index - 1 in near:
                after = (year + 1) * 100 + 1 if index == 12 else month + 1
                exists = db.execute(text(f"SELECT to_regclass('record_{month}')")).scalar()
                if exists is None:
                    db.execute(text("SELECT pg_advisory_xact_lock(7362014)"))
                    db.execute(
                        text(
                            f"CREATE TABLE IF NOT EXISTS record_{month} PARTITION OF record "
                            f"FOR VALUES FROM ({month}) TO ({after})"
                        )
                    )
            self._months.add(month)

    # ── Reading ─────────────────────────────────────────────────────────────

    def records(self, id_: int, first: int, last: int) -> list[Record]:
        """Return stored records of a line, in order. Raises StoreError."""
        return self._records(record.c.line == id_, record.c.sequence.between(first, last))

    def round_records(self, site: str, table: str, number: int) -> list[Record]:
        """Return what is stored of one round in the table's newest line. Raises StoreError."""
        newest = self.kept(site, table).id
        return self._records(
            record.c.line == newest, record.c.round == number, limit=MAX_OF_A_ROUND
        )

    def _records(self, *where: Any, limit: int | None = None) -> list[Record]:
        wanted = select(record.c.sequence, record.c.hash, record.c.body).where(*where)
        with self.committing() as db:
            rows = db.execute(wanted.order_by(record.c.sequence).limit(limit)).all()
        return [Record(row.sequence, bytes(row.hash), bytes(row.body)) for row in rows]

    def rounds(
        self, site: str, table: str | None = None, *, count: int = 50
    ) -> list[Mapping[str, Any]]:
        """Return ended rounds, newest first, of one table or of all.

        Rounds of one millisecond stand by their place in the record.
        """
        wanted = select(ended_round, line.c.table_name).join(line, line.c.id == ended_round.c.line)
        wanted = wanted.where(line.c.site == site, *_is_newest_line())
        if table is not None:
            wanted = wanted.where(line.c.table_name == table)
        with self.committing() as db:
            newest = (ended_round.c.wall.desc(), ended_round.c.line, ended_round.c.sequence.desc())
            found = db.execute(wanted.order_by(*newest).limit(count))
            return [dict(row) for row in found.mappings()]

    def endings(self, site: str, *, since: str, until: str) -> list[tuple[str, str, str, int]]:
        """Count ended rounds by table, ending and source; `since`, `until`: ISO 8601."""
        groups = (line.c.table_name, ended_round.c.ending, ended_round.c.source)
        wanted = select(*groups, func.count()).join(line, line.c.id == ended_round.c.line)
        wanted = wanted.where(line.c.site == site, *_is_newest_line())
        wanted = wanted.where(ended_round.c.wall >= since, ended_round.c.wall < until)
        with self.committing() as db:
            rows = db.execute(wanted.group_by(*groups)).all()
        return [(row[0], row[1], row[2] or "", int(row[3])) for row in rows]

    def lines(self, site: str) -> list[Mapping[str, Any]]:
        """Return every line of a house, oldest first. Raises StoreError."""
        with self.committing() as db:
            wanted = select(line).where(line.c.site == site)
            found = db.execute(wanted.order_by(line.c.table_name, line.c.number))
            return [dict(row) for row in found.mappings()]

    # ── Alarms, which people accept ─────────────────────────────────────────

    def raise_alarm(
        self, db: Connection, site: str, table: str, identity: str, found: Contradiction
    ) -> None:
        """Put up an alarm; the one of the same trouble that stands already stays."""
        standing = db.execute(
            select(alarm.c.id).where(
                *_standing_of(site, table), alarm.c.trouble == found.trouble.value
            )
        ).first()
        if standing is None:
            db.execute(
                insert(alarm).values(
                    site=site,
                    table_name=table,
                    trouble=found.trouble.value,
                    identity=identity,
                    at=found.at,
                    text=found.text,
                    raised=_now(),
                )
            )

    def alarms(self, site: str) -> list[OpenAlarm]:
        """Return what stands, oldest first. Raises StoreError."""
        with self.committing() as db:
            rows = db.execute(
                select(alarm).where(alarm.c.site == site, alarm.c.accepted.is_(None)).order_by("id")
            ).all()
        return [
            OpenAlarm(row.id, row.site, row.table_name, row.trouble, row.text, row.raised)
            for row in rows
        ]

    def accept(self, site: str, table: str, *, by: str, reason: str) -> list[str]:
        """Accept a table's standing alarms: its journal begins a new line, from its first record.

        What is stored stays. Returns what was accepted, in words. Raises RefusedError where
        nothing stands; StoreError.
        """
        with self.committing() as db:
            rows = db.execute(
                select(alarm).where(*_standing_of(site, table)).order_by(alarm.c.id)
            ).all()
            if not rows:
                raise RefusedError(
                    f"no alarm of {site}/{table} stands", remedy="shaker-floor alarms lists them"
                )
            began, _ = self.found(db, site, table, rows[-1].identity, by=by, why=reason)
            db.execute(
                update(alarm)
                .where(alarm.c.id.in_([row.id for row in rows]))
                .values(accepted=_now(), accepted_by=by, reason=reason, line=began)
            )
        return [f"{AlarmKind(row.trouble).value}: {row.text}" for row in rows]

    # ── Pictures, versions ──────────────────────────────────────────────────

    def has_picture(self, sha256: str) -> bool:
        """Whether it is stored here. Raises StoreError."""
        with self.committing() as db:
            return (
                db.execute(select(picture.c.sha256).where(picture.c.sha256 == sha256)).first()
                is not None
            )

    def picture(self, sha256: str) -> bytes | None:
        """Return a stored picture. Raises StoreError."""
        with self.committing() as db:
            found = db.execute(select(picture.c.data).where(picture.c.sha256 == sha256)).scalar()
        return None if found is None else bytes(found)

    def keep_picture(self, site: str, table: str, sequence: int, sha256: str, data: bytes) -> None:
        """Keep a picture; one that is here already stays. Raises StoreError."""
        kept = {
            "sha256": sha256,
            "site": site,
            "table_name": table,
            "sequence": sequence,
            "came": _now(),
            "data": data,
        }
        adding = sqlite.insert if self.is_sqlite else postgresql.insert
        with self.committing() as db:
            db.execute(adding(picture).values(**kept).on_conflict_do_nothing())

    def name_version(self, site: str, table: str, version: str, digest: str, by: str) -> None:
        """Remember which version a table shall run, and who said so. Raises StoreError."""
        with self.committing() as db:
            db.execute(
                insert(named_version).values(
                    site=site, table_name=table, version=version, digest=digest, by=by, wall=_now()
                )
            )

    def named_versions(self, site: str) -> dict[str, Mapping[str, Any]]:
        """Return the newest named version of each table. Raises StoreError."""
        with self.committing() as db:
            rows = db.execute(
                select(named_version).where(named_version.c.site == site).order_by("id")
            )
            return {row["table_name"]: dict(row) for row in rows.mappings()}


def _copied(db: Connection, rows: Iterable[Mapping[str, Any]]) -> None:
    """Add records by PostgreSQL's COPY: a third of the work of a statement for each."""
    import psycopg

    cursor: psycopg.Cursor[Any] = db.connection.cursor()  # type: ignore[assignment]
    try:
        with cursor, cursor.copy(_COPY) as copy:
            for row in rows:
                copy.write_row([row[name] for name in record.c.keys()])  # noqa: SIM118
    except psycopg.Error as error:
        away = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        raise _refusal(error, is_away=away) from error


def _newest_line(site: str, table: str) -> Any:
    return (
        select(line)
        .where(line.c.site == site, line.c.table_name == table)
        .order_by(line.c.number.desc())
        .limit(1)
    )


def _is_newest_line() -> tuple[Any, ...]:
    later = line.alias()
    return (
        ~select(later.c.id)
        .where(
            later.c.site == line.c.site,
            later.c.table_name == line.c.table_name,
            later.c.number > line.c.number,
        )
        .exists(),
    )


def _standing_of(site: str, table: str) -> tuple[Any, ...]:
    return (alarm.c.site == site, alarm.c.table_name == table, alarm.c.accepted.is_(None))


def _rows_of(id_: int, each: Record) -> tuple[dict[str, Any], dict[int, dict[str, Any]]]:
    """Return a record's row, and the rows of the rounds that it ends by their numbers."""
    try:
        plain = json.loads(each.body)
    except (ValueError, RecursionError):
        plain = None
    if not isinstance(plain, dict):
        plain = {}  # kept as it came: the chain holds it, and so does the floor
    wall, kind, number = plain.get("wall"), plain.get("kind"), plain.get("round")
    row = {
        "line": id_,
        "sequence": each.sequence,
        "month": _month(wall),
        "hash": each.hash,
        "round": number if type(number) is int and abs(number) < 1 << 63 else None,
        "kind": _word(kind, 40) or "",
        "wall": _word(wall, 40) or "",
        "body": each.body,
    }
    ended = understood(plain) if mentions(each.body, "RecordRound") else ()
    return row, {one.number: _ended(row, one) for one in ended}


def _ended(row: Mapping[str, Any], one: Round) -> dict[str, Any]:
    dice = zip(("first", "second", "third"), one.values or (None, None, None), strict=True)
    return {
        **{key: row[key] for key in ("line", "sequence", "wall")},
        "number": one.number,
        "ending": _word(one.ending, 20) or "",
        "source": _word(one.source, 20),
        "wagers": _word(one.wagers, 20),
        "cause": _word(one.cause, 40),
        **dict(dice),
    }


def _word(value: Any, most: int) -> str | None:
    """A text within bounds; PostgreSQL holds no NUL, and no half of a surrogate pair."""
    if not isinstance(value, str):
        return None
    return value.replace("\0", "").encode("utf-8", "replace").decode()[:most]


def _month(wall: Any) -> int:
    if not isinstance(wall, str):
        return 0
    try:
        return int(wall[:4]) * 100 + int(wall[5:7]) if "01" <= wall[5:7] <= "12" else 0
    except ValueError:
        return 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _set_up_sqlite(db: Any, _record: Any) -> None:
    # A receipt is worth what the disk holds after a power cut.
    for statement in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        db.execute(f"PRAGMA {statement}")


@contextmanager
def _said() -> Iterator[None]:
    """The database's complaint as one line."""
    try:
        yield
    except SQLAlchemyError as error:
        away = isinstance(error, OperationalError | InterfaceError)
        raise _refusal(getattr(error, "orig", None) or error, is_away=away) from error


def _refusal(error: BaseException, *, is_away: bool) -> StoreError:
    first = str(error).strip().splitlines()
    return StoreError(
        f"the floor's database refuses: {first[0] if first else type(error).__name__}",
        remedy="Check its disk and whether it runs; tables keep their records meanwhile",
        is_away=is_away,
    )


def count_records(store: Store) -> int:
    """Return how many records there are, in all lines. Raises StoreError."""
    with store.committing() as db:
        return int(db.execute(select(func.count()).select_from(record)).scalar() or 0)
