"""The first schema, which version 0.2 of the floor made: one row a record."""

revision = "records"
down_revision = None


def upgrade() -> None:
    """It is there."""


downgrade = upgrade
