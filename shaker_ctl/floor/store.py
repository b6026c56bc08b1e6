"""The floor's database, PostgreSQL: what it holds of each journal, and what people decided.

Owns every statement; `migrations` own the schema. Records lie as they came: a batch is lines of a
volume, packed. Rounds are what `journal.history` makes of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError

from shaker_ctl.errors import RefusedError, ShakerError
from shaker_ctl.floor import migrate
from shaker_ctl.floor.judgement import AlarmKind, Contradiction
from shaker_ctl.frozen import frozen
from shaker_ctl.journal.history import Round, mentions, understood
from shaker_ctl.journal.record import BODY_AT, Damage, Head, Record, genesis, number_in, walk
from shaker_ctl.link.packing import BATCH_RECORDS, Batch, Have, packed
from shaker_ctl.rules.vocabulary import Ending

TOGETHER = 64
"""Records that are packed anew as one batch, once so many have come: five rounds, of which each
record alone would take six times as much."""
MAX_OF_A_ROUND = 20_000
"""Records of one round that are read; no table writes so many."""

_NEWEST_LINE = """
    SELECT * FROM line WHERE site = :site AND table_name = :table ORDER BY number DESC LIMIT 1
"""
_STANDING = """
    SELECT * FROM alarm WHERE site = :site AND table_name = :table AND accepted IS NULL ORDER BY id
"""
_ENDED = """
    FROM ended_round JOIN line ON line.id = ended_round.line
    WHERE line.id IN (SELECT max(id) FROM line WHERE site = :site GROUP BY table_name)
"""
"""Rounds of each table's newest line: ids grow with the lines' numbers."""


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


@frozen
class StoredRound:
    """A round that has ended."""

    number: int
    wall: str
    """When it ended, ISO 8601."""
    ending: str
    """`settled`, `settled_by_hand`, `no_roll`, `void`, `not_started`."""
    values: tuple[int, ...]
    source: str | None
    wagers: str | None
    cause: str | None


@frozen
class TableDay:
    """One table's day: how many rounds ended how."""

    table: str
    rounds: int
    settled: int
    settled_by_hand: int
    no_roll: int
    void: int
    not_started: int
    by_eye: int
    """Of the settled ones, those whose values a person entered or decided."""


class Store:
    """One database. For one thread at a time."""

    def __init__(self, url: str, site: str = "house", *, wanted: str | None = None) -> None:
        """Open; an empty database gets the schema. `site`: name of the house. `wanted`: bring the
        database to this schema.

        Raises StoreError, also where the database has another schema.
        """
        self._site = site
        waits = {"connect_timeout": 5}
        self._engine = create_engine(url, pool_pre_ping=True, connect_args=waits)
        try:
            with self.committing() as db:
                # Collectors that start together take turns.
                db.execute(text("SELECT pg_advisory_xact_lock(7362014)"))
                self._have_schema(db, wanted)
        except BaseException:
            self.close()
            raise

    @staticmethod
    def _have_schema(db: Connection, wanted: str | None) -> None:
        found = migrate.version(db)
        if found not in (None, *migrate.VERSIONS):
            raise StoreError(
                f"the floor's database has the schema {found}, which a newer program made",
                remedy="Start that program, or lead back with it",
            )
        if found is None or wanted is not None:
            migrate.go(db, wanted or migrate.NEWEST)
        elif found != migrate.NEWEST:
            raise StoreError(
                f"the floor's database has the schema {found}, not {migrate.NEWEST}",
                remedy="Stop collectors and page, then: shaker-floor migrate",
            )

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    @contextmanager
    def committing(self) -> Iterator[Connection]:
        """One transaction; when it ends, it is on the disk. Raises StoreError."""
        with _said(), self._engine.begin() as db:
            yield db

    def _done(self, db: Connection, statement: str, **given: Any) -> Any:
        return db.execute(text(statement), {"site": self._site, **given})

    def _found(self, statement: str, **given: Any) -> list[Mapping[str, Any]]:
        with self.committing() as db:
            return [dict(row) for row in self._done(db, statement, **given).mappings()]

    # ── Lines ───────────────────────────────────────────────────────────────

    def kept(self, table: str) -> StoredTable:
        """Return where the store stands with a table. Raises StoreError."""
        standing = self._found(_STANDING, table=table)
        trouble = standing[0]["trouble"] if standing else ""
        for newest in self._found(_NEWEST_LINE, table=table):
            at = Head(newest["sequence"], newest["hash"])
            return StoredTable(newest["id"], Have(newest["identity"], at), trouble)
        return StoredTable(None, None, trouble)

    def found(
        self, db: Connection, table: str, identity: str, *, by: str = "", why: str = ""
    ) -> tuple[int, Have]:
        """Begin a line behind all lines of the table; return its id, and the empty line."""
        before = self._done(db, _NEWEST_LINE, table=table).first()
        empty = Have(identity, genesis(identity))
        line = {
            "site": self._site,
            "table_name": table,
            "number": 1 if before is None else before.number + 1,
            "identity": identity,
            "sequence": 0,
            "hash": empty.head.hash,
            "founded": _now(),
            "accepted_by": by,
            "reason": why,
        }
        add_rows(db, "line", [line])
        return self._done(db, _NEWEST_LINE, table=table).one().id, empty

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
        move = "UPDATE line SET sequence = :to, hash = :its WHERE id = :id AND sequence = :before"
        moves = [
            {"id": id_, "before": before.sequence, "to": each.end.sequence, "its": each.end.hash}
            for id_, before, each in parts
        ]
        if db.execute(text(move), moves).rowcount != len(moves):
            raise StoreError(
                "another collector has gone on with a table of this one",
                remedy="It is read anew; nothing is lost",
            )
        add_rows(db, "batch", [row_of(id_, each.records, each.packed) for id_, _, each in parts])
        rounds = [one for id_, _, each in parts for one in ended_in(id_, each.records)]
        add_rows(db, "ended_round", rounds)
        for id_, before, each in parts:
            if each.end.sequence // TOGETHER > before.sequence // TOGETHER:
                self._put_together(db, id_, each.end.sequence)
        return rounds

    def _put_together(self, db: Connection, id_: int, last: int) -> None:
        """Pack the small batches at the end of a line anew, as one."""
        wanted = "SELECT * FROM batch WHERE line = :id AND first > :after ORDER BY last"
        small: list[Any] = []
        for row in self._done(db, wanted, id=id_, after=last - 2 * TOGETHER):
            small = [*small, row] if row.last - row.first + 1 < TOGETHER else []
        if len(small) > 1:
            records = [record for row in small for record in records_in(row)]
            going = "DELETE FROM batch WHERE line = :id AND last BETWEEN :first AND :last"
            self._done(db, going, id=id_, first=small[0].last, last=small[-1].last)
            add_rows(db, "batch", [row_of(id_, records, packed(records))])

    # ── Reading ─────────────────────────────────────────────────────────────

    def records(self, id_: int, first: int = 1, last: int = 1 << 40) -> Iterator[Record]:
        """Yield stored records of a line, in order. Raises StoreError."""
        with self.committing() as db:
            yield from self._lines(db, id_, first, last)

    def before(self, table: str, sequence: int) -> Have:
        """Return what a stored record of a table's newest line follows. Raises StoreError."""
        with self.committing() as db:
            stored = self._done(db, _NEWEST_LINE, table=table).mappings().one()
            hash_ = self.hash_at(db, stored["id"], sequence - 1)
        head = start_of(stored) if hash_ is None else Head(sequence - 1, hash_)
        return Have(stored["identity"], head)

    def _lines(self, db: Connection, id_: int, first: int, last: int) -> Generator[Record]:
        wanted = """
            SELECT * FROM batch WHERE line = :id AND last BETWEEN :first AND :end AND first <= :last
            ORDER BY last
        """
        given = {"id": id_, "first": first, "last": last, "end": last + BATCH_RECORDS}
        with db.execute(text(wanted), given, execution_options={"yield_per": 100}) as rows:
            for row in rows:
                yield from (one for one in records_in(row) if first <= one.sequence <= last)

    def round_records(self, table: str, number: int) -> list[Record]:
        """Return what is stored of one round in the table's newest line. Raises StoreError."""
        wanted = """
            SELECT * FROM batch WHERE line = :id AND last_round >= :number
            AND first_round <= :number ORDER BY last
        """
        found: list[Record] = []
        with self.committing() as db:
            for row in self._done(db, wanted, id=self.kept(table).id, number=number):
                found += (one for one in records_in(row) if number_in(one.body, "round") == number)
                if len(found) >= MAX_OF_A_ROUND:
                    break
        return found[:MAX_OF_A_ROUND]

    def broken(self, stored: Mapping[str, Any]) -> str:
        """Say what is wrong with a stored line; empty: nothing. Raises StoreError."""
        head = start_of(stored)
        first, last = head.sequence + 1, stored["sequence"]
        with (
            self.committing() as db,
            closing(self._lines(db, stored["id"], first, last)) as records,
        ):
            for step in walk(head, records, stored["table_name"]):
                if isinstance(step, Damage):
                    return step.line()
                head = Head(step.sequence, step.hash)
        if head != Head(last, stored["hash"]):
            return f"the chain ends at record {head.sequence}, acknowledged was {last}"
        return ""

    def rounds(self, table: str, *, count: int = 50) -> list[StoredRound]:
        """Return a table's ended rounds, newest first. Raises StoreError.

        Rounds of one millisecond stand by their place in the record.
        """
        wanted = f"""
            SELECT ended_round.number, wall, ending, source, wagers, cause,
                array_remove(ARRAY[first, second, third], NULL) AS values
            {_ENDED} AND table_name = :table
            ORDER BY wall DESC, ended_round.sequence DESC LIMIT :count
        """
        rows = self._found(wanted, table=table, count=count)
        return [StoredRound(**{**row, "values": tuple(row["values"])}) for row in rows]

    def day(self, since: str, until: str) -> tuple[TableDay, ...]:
        """Count each table's rounds between two moments, ISO 8601. Raises StoreError."""
        each = ", ".join(
            f"count(*) FILTER (WHERE ending = '{one.value}') AS {one.value}" for one in Ending
        )
        wanted = f"""
            SELECT table_name AS table, count(*) AS rounds, {each},
                count(*) FILTER (WHERE source IN ('entered', 'decided')) AS by_eye
            {_ENDED} AND wall >= :since AND wall < :until
            GROUP BY table_name ORDER BY length(table_name), table_name
        """
        return tuple(TableDay(**row) for row in self._found(wanted, since=since, until=until))

    def lines(self, table: str = "") -> list[Mapping[str, Any]]:
        """Return every line of a table, or of all, oldest first. Raises StoreError."""
        wanted = """
            SELECT * FROM line WHERE site = :site AND (:table = '' OR table_name = :table)
            ORDER BY table_name, number
        """
        return self._found(wanted, table=table)

    def remove(self, *, before: str, by: str) -> int:
        """Remove batches that came before a moment, for good; a line says where it begins now, and
        who had it done. Rounds stay. Returns how many records. Raises StoreError.
        """
        newest = """
            SELECT last, hash FROM batch WHERE line = :id AND came < :before
            ORDER BY last DESC LIMIT 1
        """
        begin = "UPDATE line SET start = :last, start_hash = :hash, removed_by = :by WHERE id = :id"
        removed = 0
        for stored in self.lines():
            id_ = stored["id"]
            with self.committing() as db:
                for last, hash_ in self._done(db, newest, id=id_, before=before).all():
                    self._done(db, begin, id=id_, last=last, hash=hash_, by=by)
                    going = "DELETE FROM batch WHERE line = :id AND last <= :last"
                    self._done(db, going, id=id_, last=last)
                    removed += last - stored["start"]
        return removed

    # ── Alarms, which people accept ─────────────────────────────────────────

    def raise_alarm(self, db: Connection, table: str, identity: str, found: Contradiction) -> None:
        """Put up an alarm; the one of the same trouble that stands already stays."""
        standing = self._done(db, _STANDING, table=table)
        if found.trouble.value not in [one.trouble for one in standing]:
            raised = {
                "site": self._site,
                "table_name": table,
                "trouble": found.trouble.value,
                "identity": identity,
                "at": found.at,
                "text": found.text,
                "raised": _now(),
            }
            add_rows(db, "alarm", [raised])

    def alarms(self) -> list[Any]:
        """Return what stands, oldest first: `table_name`, `trouble`, `text`, `raised`."""
        wanted = "SELECT * FROM alarm WHERE site = :site AND accepted IS NULL ORDER BY id"
        with self.committing() as db:
            return list(self._done(db, wanted))

    def accept(self, table: str, *, by: str, reason: str) -> list[str]:
        """Accept a table's standing alarms: its journal begins a new line, from its first record.

        What is stored stays. Returns what was accepted, in words. Raises RefusedError where
        nothing stands; StoreError.
        """
        accepting = """
            UPDATE alarm SET accepted = :now, accepted_by = :by, reason = :reason, line = :line
            WHERE site = :site AND table_name = :table AND accepted IS NULL
        """
        with self.committing() as db:
            rows = self._done(db, _STANDING, table=table).all()
            if not rows:
                raise RefusedError(
                    f"no alarm of {table} stands", remedy="shaker-floor alarms lists them"
                )
            began, _ = self.found(db, table, rows[-1].identity, by=by, why=reason)
            given = {"now": _now(), "by": by, "reason": reason, "line": began}
            self._done(db, accepting, table=table, **given)
        return [f"{AlarmKind(row.trouble).value}: {row.text}" for row in rows]


def start_of(stored: Mapping[str, Any]) -> Head:
    """Return what the first record that is stored of a line follows."""
    if not stored["start"]:
        return genesis(stored["identity"])
    return Head(stored["start"], stored["start_hash"])


def add_rows(db: Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows, which all have the same columns, to a table."""
    if rows:
        columns, places = ", ".join(rows[0]), ", ".join(f":{name}" for name in rows[0])
        db.execute(text(f"INSERT INTO {table} ({columns}) VALUES ({places})"), rows)


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
