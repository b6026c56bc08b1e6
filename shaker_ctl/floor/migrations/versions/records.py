"""The first schema: one row a record, months as partitions; pictures and versions beside them."""

from alembic import op

revision = "records"
down_revision = None

_RECORD = """
    CREATE TABLE record (
        line integer, sequence bigint, month integer, hash bytea NOT NULL, round bigint,
        kind varchar(40) NOT NULL, wall varchar(40) NOT NULL, body bytea NOT NULL,
        PRIMARY KEY (line, sequence, month)
    ) PARTITION BY RANGE (month);
    CREATE INDEX record_round ON record (line, round);
    CREATE TABLE record_of_no_month PARTITION OF record DEFAULT;
    CREATE TABLE picture (
        sha256 varchar(64) PRIMARY KEY, site varchar(40) NOT NULL, table_name varchar(40) NOT NULL,
        sequence bigint NOT NULL, came varchar(40) NOT NULL, data bytea NOT NULL
    );
    CREATE TABLE named_version (
        id serial PRIMARY KEY, site varchar(40) NOT NULL, table_name varchar(40) NOT NULL,
        version varchar(80) NOT NULL, digest varchar(64) NOT NULL, by text NOT NULL,
        wall varchar(40) NOT NULL
    )
"""
_LINE = """
    CREATE TABLE line (
        id serial PRIMARY KEY, site varchar(40) NOT NULL, table_name varchar(40) NOT NULL,
        number integer NOT NULL, identity varchar(120) NOT NULL, sequence bigint NOT NULL,
        hash bytea NOT NULL, founded varchar(40) NOT NULL, accepted_by text NOT NULL DEFAULT '',
        reason text NOT NULL DEFAULT '', UNIQUE (site, table_name, number)
    );
    CREATE TABLE ended_round (
        line integer, number bigint, sequence bigint, wall varchar(40) NOT NULL,
        ending varchar(20) NOT NULL, source varchar(20), wagers varchar(20), cause varchar(40),
        first integer, second integer, third integer, PRIMARY KEY (line, number, sequence)
    );
    CREATE INDEX ended_round_wall ON ended_round (wall);
    CREATE TABLE alarm (
        id serial PRIMARY KEY, site varchar(40) NOT NULL, table_name varchar(40) NOT NULL,
        trouble varchar(40) NOT NULL, identity varchar(120) NOT NULL, at bigint NOT NULL,
        text text NOT NULL, raised varchar(40) NOT NULL, accepted varchar(40), accepted_by text,
        reason text, line integer REFERENCES line (id)
    )
"""
"""`line`: one journal's chain as it came; a table's newest line is the one that goes on.
`alarm`: a table whose history contradicts the floor's; its `line` began with the acceptance."""


def upgrade() -> None:
    """Make it."""
    op.execute(_LINE)
    lay_records_singly()


def lay_records_singly() -> None:
    """Make the tables that only this schema has."""
    op.execute(_RECORD)


def have_partition(month: int) -> None:
    """Make the partition for the records of a month, such as 202611."""
    year, index = divmod(month, 100)
    after = (year + 1) * 100 + 1 if index == 12 else month + 1
    bounds = f"FOR VALUES FROM ({month}) TO ({after})"
    op.execute(f"CREATE TABLE record_{month} PARTITION OF record {bounds}")
