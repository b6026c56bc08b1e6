"""The floor's database, by SQLAlchemy: what it holds of each journal, and what people decided.

Owns the schema and every statement; `migrations` leads older schemas here. Records lie as they
came: a batch is lines of a volume, packed. Rounds are what `journal.history` makes of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
    delete,
    event,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError

from shaker_ctl.errors import RefusedError, ShakerError
from shaker_ctl.floor import migrate
from shaker_ctl.floor.judgement import AlarmKind, Contradiction
from shaker_ctl.journal.history import Round, mentions, understood
from shaker_ctl.journal.record import BODY_AT, Damage, Head, Record, genesis, number_in, walk
from shaker_ctl.link.packing import BATCH_RECORDS, Batch, Have, packed

metadata = MetaData()


def _of_table() -> tuple[Column[Any], ...]:
    return tuple(Column(name, String(40), nullable=False) for name in ("site", "table_name"))


line = Table(
    "line",
    metadata,
    Column("id", Integer, primary_key=True),
    *_of_table(),
    Column("number", Integer, nullable=False),
    Column("identity", String(120), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("hash", LargeBinary(32), nullable=False),
    Column("founded", String(40), nullable=False),
    Column("accepted_by", Text, nullable=False, server_default=""),
    Column("reason", Text, nullable=False, server_default=""),
    Column("start", BigInteger, nullable=False, server_default="0"),
    Column("start_hash", LargeBinary(32)),
    Column("removed_by", String(80)),
    UniqueConstraint("site", "table_name", "number"),
)
"""One journal's chain as it came. A table's newest line is the one that goes on. `start`: the last
record that is removed because of its age, with its hash and who had it done."""

batch = Table(
    "batch",
    metadata,
    Column("line", Integer, primary_key=True, autoincrement=False),
    Column("last", BigInteger, primary_key=True, autoincrement=False),
    Column("first", BigInteger, nullable=False),
    Column("hash", LargeBinary(32), nullable=False),
    Column("first_round", BigInteger),
    Column("last_round", BigInteger),
    Column("came", String(40), nullable=False),
    Column("lines", LargeBinary, nullable=False),
    Index("batch_round", "line", "last_round", "first_round"),
    Index("batch_came", "came"),
)
"""Records `first` to `last` of a line, and the rounds that they name. `hash`: of the last."""

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
    *(Column(name, Integer) for name in ("first", "second", "third")),
    Index("ended_round_wall", "wall"),
)

alarm = Table(
    "alarm",
    metadata,
    Column("id", Integer, primary_key=True),
    *_of_table(),
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
    *_of_table(),
    Column("sequence", BigInteger, nullable=False),
    Column("came", String(40), nullable=False),
    Column("data", LargeBinary, nullable=False),
)

named_version = Table(
    "named_version",
    metadata,
    Column("id", Integer, primary_key=True),
    *_of_table(),
    Column("version", String(80), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("by", Text, nullable=False),
    Column("wall", String(40), nullable=False),
)


_MOVE = (
    update(line)
    .where(line.c.id == bindparam("id_"), line.c.sequence == bindparam("before"))
    .values(sequence=bindparam("to"), hash=bindparam("its"))
)

TOGETHER = 64
"""Records that are packed anew as one batch, once so many have come: five rounds, of which each
record alone would take six times as much."""
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
    line: Have | None
    alarm: str = ""
    """The standing alarm's trouble; while there is one, nothing is taken."""


class Store:
    """One database. For one thread at a time."""

    def __init__(self, url: str, site: str = "house", *, wanted: str | None = None) -> None:
        """Open, and make the tables where there are none. `site`: name of the house. `wanted`:
        bring the tables to this schema.

        Raises StoreError, also where the tables have another schema.
        """
        self._site = site
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
                if not inspect(db).has_table("line"):
                    metadata.create_all(db)
                    if not self.is_sqlite:  # it is compressed already
                        db.execute(text("ALTER TABLE batch ALTER lines SET STORAGE EXTERNAL"))
                    migrate.stamp(db)
                elif (found := migrate.version(db)) not in migrate.VERSIONS:
                    raise StoreError(
                        f"the floor's database has the schema {found}, which a newer program made",
                        remedy="Start that program, or lead back with it",
                    )
                elif wanted is not None:
                    migrate.go(db, wanted)
                elif found != migrate.NEWEST:
                    raise StoreError(
                        f"the floor's database has the schema {found}, not {migrate.NEWEST}",
                        remedy="Stop collectors and page, then: shaker-floor migrate",
                    )

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

    def _newest_line(self, table: str) -> Any:
        found = select(line).where(line.c.site == self._site, line.c.table_name == table)
        return found.order_by(line.c.number.desc()).limit(1)

    def _standing_of(self, table: str) -> tuple[Any, ...]:
        is_its = alarm.c.site == self._site, alarm.c.table_name == table
        return (*is_its, alarm.c.accepted.is_(None))

    # ── Lines ───────────────────────────────────────────────────────────────

    def kept(self, table: str) -> StoredTable:
        """Return where the store stands with a table. Raises StoreError."""
        with self.committing() as db:
            newest = db.execute(self._newest_line(table)).first()
            standing = db.execute(
                select(alarm.c.trouble).where(*self._standing_of(table)).limit(1)
            ).scalar()
        if newest is None:
            return StoredTable(None, None, standing or "")
        at = Head(newest.sequence, bytes(newest.hash))
        return StoredTable(newest.id, Have(newest.identity, at), standing or "")

    def found(
        self, db: Connection, table: str, identity: str, *, by: str = "", why: str = ""
    ) -> tuple[int, Have]:
        """Begin a line behind all lines of the table; return its id, and the empty line."""
        before = db.execute(self._newest_line(table)).first()
        empty = Have(identity, genesis(identity))
        made = db.execute(
            insert(line).values(
                site=self._site,
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
        return next((r.hash for r in self._lines(db, id_, sequence, sequence)), None)

    def add(self, db: Connection, parts: Sequence[tuple[int, Head, Batch]]) -> list[dict[str, Any]]:
        """Add a batch behind each line's head. `parts`: line's id, its head before, what follows.

        Returns the rows of the rounds that ended. Raises StoreError where another collector has
        moved a line meanwhile: nothing is kept then.
        """
        if not parts:
            return []
        moves = [
            {"id_": id_, "before": before.sequence, "to": each.end.sequence, "its": each.end.hash}
            for id_, before, each in parts
        ]
        if db.execute(_MOVE, moves).rowcount != len(moves):
            raise StoreError(
                "another collector has gone on with a table of this one",
                remedy="It is read anew; nothing is lost",
            )
        db.execute(
            insert(batch), [row_of(id_, each.records, each.packed) for id_, _, each in parts]
        )
        rounds = [one for id_, _, each in parts for one in ended_in(id_, each.records)]
        if rounds:
            db.execute(insert(ended_round), rounds)
        for id_, before, each in parts:
            if each.end.sequence // TOGETHER > before.sequence // TOGETHER:
                self._put_together(db, id_, each.end.sequence)
        return rounds

    def _put_together(self, db: Connection, id_: int, last: int) -> None:
        """Pack the small batches at the end of a line anew, as one."""
        wanted = select(batch).where(batch.c.line == id_, batch.c.first > last - 2 * TOGETHER)
        small: list[Any] = []
        for row in db.execute(wanted.order_by(batch.c.last)):
            small = [*small, row] if row.last - row.first + 1 < TOGETHER else []
        if len(small) > 1:
            records = [record for row in small for record in records_in(row)]
            ends = [row.last for row in small]
            db.execute(delete(batch).where(batch.c.line == id_, batch.c.last.in_(ends)))
            db.execute(insert(batch), [row_of(id_, records, packed(records))])

    # ── Reading ─────────────────────────────────────────────────────────────

    def records(self, id_: int, first: int = 1, last: int = 1 << 40) -> Iterator[Record]:
        """Yield stored records of a line, in order. Raises StoreError."""
        with self.committing() as db:
            yield from self._lines(db, id_, first, last)

    def before(self, table: str, sequence: int) -> Have:
        """Return what a stored record of a table's newest line follows. Raises StoreError."""
        with self.committing() as db:
            stored = db.execute(self._newest_line(table)).mappings().one()
            hash_ = self.hash_at(db, stored["id"], sequence - 1)
        head = start_of(dict(stored)) if hash_ is None else Head(sequence - 1, hash_)
        return Have(stored["identity"], head)

    def _lines(self, db: Connection, id_: int, first: int, last: int) -> Iterator[Record]:
        ends = batch.c.last.between(first, last + BATCH_RECORDS)
        wanted = select(batch).where(batch.c.line == id_, ends, batch.c.first <= last)
        rows = db.execute(wanted.order_by(batch.c.last), execution_options={"yield_per": 100})
        for row in rows:
            yield from (record for record in records_in(row) if first <= record.sequence <= last)

    def round_records(self, table: str, number: int) -> list[Record]:
        """Return what is stored of one round in the table's newest line. Raises StoreError."""
        where = batch.c.line == self.kept(table).id, batch.c.last_round >= number
        wanted = select(batch).where(*where, batch.c.first_round <= number)
        found: list[Record] = []
        with self.committing() as db:
            for row in db.execute(wanted.order_by(batch.c.last)):
                found += (one for one in records_in(row) if number_in(one.body, "round") == number)
                if len(found) >= MAX_OF_A_ROUND:
                    break
        return found[:MAX_OF_A_ROUND]

    def broken(self, stored: Mapping[str, Any]) -> str:
        """Say what is wrong with a stored line; empty: nothing. Raises StoreError."""
        head = start_of(stored)
        first, last = head.sequence + 1, stored["sequence"]
        with self.committing() as db:
            records = self._lines(db, stored["id"], first, last)
            for step in walk(head, records, stored["table_name"]):
                if isinstance(step, Damage):
                    return step.line()
                head = Head(step.sequence, step.hash)
        if head != Head(last, bytes(stored["hash"])):
            return f"the chain ends at record {head.sequence}, acknowledged was {last}"
        return ""

    def rounds(self, table: str | None = None, *, count: int = 50) -> list[Mapping[str, Any]]:
        """Return ended rounds, newest first, of one table or of all.

        Rounds of one millisecond stand by their place in the record.
        """
        wanted = self._ended(ended_round, line.c.table_name)
        if table is not None:
            wanted = wanted.where(line.c.table_name == table)
        with self.committing() as db:
            newest = (ended_round.c.wall.desc(), ended_round.c.line, ended_round.c.sequence.desc())
            found = db.execute(wanted.order_by(*newest).limit(count))
            return [dict(row) for row in found.mappings()]

    def endings(self, *, since: str, until: str) -> list[tuple[str, str, str, int]]:
        """Count ended rounds by table, ending and source; `since`, `until`: ISO 8601."""
        groups = (line.c.table_name, ended_round.c.ending, ended_round.c.source)
        wanted = self._ended(*groups, func.count())
        wanted = wanted.where(ended_round.c.wall >= since, ended_round.c.wall < until)
        with self.committing() as db:
            rows = db.execute(wanted.group_by(*groups)).all()
        return [(row[0], row[1], row[2] or "", int(row[3])) for row in rows]

    def _ended(self, *columns: Any) -> Any:
        """Rounds of each table's newest line: ids grow with the lines' numbers."""
        its_tables = select(func.max(line.c.id)).where(line.c.site == self._site)
        newest = its_tables.group_by(line.c.table_name)
        rows = select(*columns).join(line, line.c.id == ended_round.c.line)
        return rows.where(line.c.id.in_(newest))

    def lines(self) -> list[Mapping[str, Any]]:
        """Return every line of a house, oldest first. Raises StoreError."""
        with self.committing() as db:
            wanted = select(line).where(line.c.site == self._site)
            found = db.execute(wanted.order_by(line.c.table_name, line.c.number))
            return [dict(row) for row in found.mappings()]

    def remove(self, *, before: str, by: str) -> int:
        """Remove batches and pictures that came before a moment, for good; a line says where it
        begins now, and who had it done. Rounds stay. Returns how many records. Raises StoreError.
        """
        removed = 0
        for stored in self.lines():
            old = (batch.c.line == stored["id"], batch.c.came < before)
            with self.committing() as db:
                newest = db.execute(
                    select(batch.c.last, batch.c.hash)
                    .where(*old)
                    .order_by(batch.c.last.desc())
                    .limit(1)
                ).first()
                if newest is None:
                    continue
                start = {"start": newest.last, "start_hash": newest.hash, "removed_by": by}
                db.execute(update(line).where(line.c.id == stored["id"]).values(start))
                db.execute(delete(batch).where(old[0], batch.c.last <= newest.last))
                removed += newest.last - stored["start"]
        with self.committing() as db:
            db.execute(delete(picture).where(picture.c.site == self._site, picture.c.came < before))
        return removed

    # ── Alarms, which people accept ─────────────────────────────────────────

    def raise_alarm(self, db: Connection, table: str, identity: str, found: Contradiction) -> None:
        """Put up an alarm; the one of the same trouble that stands already stays."""
        standing = db.execute(
            select(alarm.c.id).where(
                *self._standing_of(table), alarm.c.trouble == found.trouble.value
            )
        ).first()
        if standing is None:
            db.execute(
                insert(alarm).values(
                    site=self._site,
                    table_name=table,
                    trouble=found.trouble.value,
                    identity=identity,
                    at=found.at,
                    text=found.text,
                    raised=_now(),
                )
            )

    def alarms(self) -> list[Any]:
        """Return what stands, oldest first: `table`, `trouble`, `text`, `raised`."""
        told = (alarm.c.table_name.label("table"), alarm.c.trouble, alarm.c.text, alarm.c.raised)
        wanted = select(*told).where(alarm.c.site == self._site, alarm.c.accepted.is_(None))
        with self.committing() as db:
            return list(db.execute(wanted.order_by(alarm.c.id)))

    def accept(self, table: str, *, by: str, reason: str) -> list[str]:
        """Accept a table's standing alarms: its journal begins a new line, from its first record.

        What is stored stays. Returns what was accepted, in words. Raises RefusedError where
        nothing stands; StoreError.
        """
        with self.committing() as db:
            rows = db.execute(
                select(alarm).where(*self._standing_of(table)).order_by(alarm.c.id)
            ).all()
            if not rows:
                raise RefusedError(
                    f"no alarm of {table} stands", remedy="shaker-floor alarms lists them"
                )
            began, _ = self.found(db, table, rows[-1].identity, by=by, why=reason)
            db.execute(
                update(alarm)
                .where(alarm.c.id.in_([row.id for row in rows]))
                .values(accepted=_now(), accepted_by=by, reason=reason, line=began)
            )
        return [f"{AlarmKind(row.trouble).value}: {row.text}" for row in rows]

    # ── Pictures, versions ──────────────────────────────────────────────────

    def picture(self, sha256: str) -> bytes | None:
        """Return a stored picture. Raises StoreError."""
        with self.committing() as db:
            found = db.execute(select(picture.c.data).where(picture.c.sha256 == sha256)).scalar()
        return None if found is None else bytes(found)

    def keep_picture(self, table: str, sequence: int, sha256: str, data: bytes) -> None:
        """Keep a picture; one that is here already stays. Raises StoreError."""
        kept = {
            "sha256": sha256,
            "site": self._site,
            "table_name": table,
            "sequence": sequence,
            "came": _now(),
            "data": data,
        }
        adding = sqlite.insert if self.is_sqlite else postgresql.insert
        with self.committing() as db:
            db.execute(adding(picture).values(**kept).on_conflict_do_nothing())

    def name_version(self, table: str, version: str, digest: str, by: str) -> None:
        """Remember which version a table shall run, and who said so. Raises StoreError."""
        named = {"version": version, "digest": digest, "by": by, "wall": _now()}
        with self.committing() as db:
            db.execute(insert(named_version).values(site=self._site, table_name=table, **named))

    def named_versions(self) -> dict[str, Mapping[str, Any]]:
        """Return the newest named version of each table. Raises StoreError."""
        with self.committing() as db:
            rows = db.execute(
                select(named_version).where(named_version.c.site == self._site).order_by("id")
            )
            return {row["table_name"]: dict(row) for row in rows.mappings()}


def start_of(stored: Mapping[str, Any]) -> Head:
    """Return what the first record that is stored of a line follows."""
    if not stored["start"]:
        return genesis(stored["identity"])
    return Head(stored["start"], bytes(stored["start_hash"]))


def row_of(id_: int, records: Sequence[Record], lines: bytes) -> dict[str, Any]:
    """Return the row of a batch; `lines`: its records, packed."""
    rounds = [n for each in records if (n := number_in(each.body, "round")) is not None]
    return {
        "line": id_,
        "first": records[0].sequence,
        "last": records[-1].sequence,
        "hash": records[-1].hash,
        "first_round": min(rounds, default=None),
        "last_round": max(rounds, default=None),
        "came": _now(),
        "lines": lines,
    }


def records_in(row: Any) -> Iterator[Record]:
    """Yield the records of a stored batch; `walk` proves them."""
    try:
        *lines, _ = zlib.decompress(row.lines).split(b"\n")
        for sequence, line in enumerate(lines, start=row.first):
            yield Record(sequence, bytes.fromhex(line[9:73].decode()), line[BODY_AT:-1])
    except (zlib.error, ValueError) as error:
        raise StoreError(
            f"the stored records {row.first} to {row.last} are no lines of a journal: {error}",
            remedy="Compare with the table's own",
        ) from error


def ended_in(id_: int, records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    """Yield the rows of rounds that records end, as the history of a table tells them."""
    for each in records:
        if mentions(each.body, "RecordRound"):
            with suppress(
                ShakerError
            ):  # kept as it came: the chain holds it, and so does the floor
                plain = each.plain
                ended = {one.number: one for one in understood(plain)}
                wall = _word(plain.get("wall"), 40) or ""
                yield from (_ended(id_, each.sequence, wall, one) for one in ended.values())


def _ended(id_: int, sequence: int, wall: str, one: Round) -> dict[str, Any]:
    dice = zip(("first", "second", "third"), one.values or (None, None, None), strict=True)
    return {
        "line": id_,
        "sequence": sequence,
        "wall": wall,
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
