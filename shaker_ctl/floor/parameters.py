"""Settings of the floor: one file for collector, page and commands."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import ClassVar

from pydantic import Field, field_validator, model_validator

from shaker_ctl.journal.volume import DayBegins
from shaker_ctl.link.parameters import BrokerParameters
from shaker_ctl.page.parameters import PageParameters


class FloorParameters(BrokerParameters):
    """One house's floor."""

    FILE: ClassVar[str] = "floor"

    certificate: Path = Path("/etc/shaker-floor/certificate.pem")
    """Our certificate. Its common name is the name that the broker knows the collector by."""

    key: Path = Path("/etc/shaker-floor/key.pem")
    """Its private key. Readable by the floor's user alone."""

    authority: Path = Path("/etc/shaker-floor/authority.pem")
    """Certificate of whoever signed the broker's certificate."""

    store: str = "postgresql+psycopg:///floor"
    """Database of PostgreSQL, as SQLAlchemy's URL: `postgresql+psycopg://USER@HOST/NAME`; without
    `USER@HOST` the one on this machine.

    Any number of collectors may run with these very settings: they share the tables, and take over
    those of one that ends.
    """

    keep_months: int = Field(default=0, ge=0, le=1200)
    """Months after which records are removed for good; rounds stay. 0: never."""

    removed_by: str = Field(default="", max_length=80)
    """Name of the person who answers for `keep_months`; each line that is shortened names it."""

    metrics_host: str = "127.0.0.1"
    """Address at which Prometheus finds `/metrics`. It says nothing of persons or results."""

    metrics_port: int = Field(default=9464, ge=0, le=65535)
    """Port of `/metrics`; 0: any."""

    day_begins: DayBegins = time(6)
    """Local time at which a gaming day begins, as `[journal] day_begins` of the tables. The zone is
    this machine's: it has to be the house's (`timedatectl set-timezone`)."""

    users_file: Path = Path("/etc/shaker-floor/users.toml")
    """People who may look at the page: a users file as the tables have it."""

    page: PageParameters = Field(
        default_factory=lambda: PageParameters(state_dir=Path("/var/lib/shaker-floor"))
    )
    """The page for browsers: where it listens. It speaks to the broker with `page-certificate.pem`
    and `page-key.pem` beside `certificate`."""

    def for_page(self) -> BrokerParameters:
        """Who the page is at the broker."""
        beside = self.certificate.parent
        known = {"certificate": beside / "page-certificate.pem", "key": beside / "page-key.pem"}
        return self.model_copy(update=known)

    @field_validator("store")
    @classmethod
    def _is_postgresql(cls, store: str) -> str:
        if not store.startswith("postgresql+psycopg://"):
            raise ValueError("a database of PostgreSQL: postgresql+psycopg://USER@HOST/NAME")
        return store

    @model_validator(mode="after")
    def _somebody_removes(self) -> FloorParameters:
        if self.keep_months and not self.removed_by.strip():
            raise ValueError("keep_months wants removed_by: the name of the person who decides it")
        return self
