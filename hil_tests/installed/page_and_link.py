"""The programs beside the table: the page and the link to a floor, under a booted systemd.

Both run as users of their own and read by the table's group. The floor, with its broker, is outside
the container, as a floor is another computer; this machine's loopback is the network between them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomlkit

from hil_tests.floor.house import House, free_port
from hil_tests.installed.debian import Teller
from hil_tests.waiting import until

if TYPE_CHECKING:
    from hil_tests.installed.computer import Computer

EXPOSURE = 1.1
"""Most that `systemd-analyze security` may find: the table's 0.7, and a network."""

SETTINGS = "etc/shaker-ctl/settings.toml"
LINK = "/etc/shaker-link"
UNITS = ("shaker-page", "shaker-link")

ASKED = """
import ssl, urllib.request
trusts = ssl.create_default_context(cafile="/etc/shaker-page/certificate.pem")
trusts.check_hostname = False
with urllib.request.urlopen("https://127.0.0.1:%d/login", context=trusts) as answer:
    print("status", answer.status)
"""
"""A browser that trusts the page's own certificate and no other."""

KEPT = """
import sqlite3
book = sqlite3.connect("file:/var/lib/shaker-page/rounds.sqlite?mode=ro", uri=True)
print(book.execute("SELECT count(*) FROM round WHERE ended IS NOT NULL").fetchone()[0])
"""


def switch_on(computer: Computer, program: str, house: House, say: Teller) -> None:
    """Give page and link what a house gives them, and start both. The table is installed."""
    settings = computer.root / SETTINGS
    port = free_port()
    names = {name: f"/etc/shaker-page/{name}.pem" for name in ("certificate", "key")}
    plain: dict[str, Any] = tomlkit.parse(settings.read_text("utf-8")).unwrap()
    plain["page"] = {"port": port, **names}
    settings.write_text(tomlkit.dumps(plain), "utf-8")
    made = computer.try_(program, "install", "--yes", "--page")
    owned = computer.run("stat", "-c", "%U:%G %a", *names.values()).split()
    is_right = owned == ["root:shaker-page", "644", "root:shaker-page", "640"]
    say(f"the page's certificate and key: {owned}", made.returncode == 0 and is_right)
    without = computer.try_("systemctl", "start", "shaker-link")
    is_off = without.returncode == 0 and computer.unit("shaker-link")["ActiveState"] == "inactive"
    say("a link without settings stays off", is_off)
    _introduce(computer, house)
    for unit in UNITS:
        started = computer.try_("systemctl", "start", unit)
        state = computer.unit(unit)["ActiveState"]
        say(f"{unit}: {state}", started.returncode == 0 and state == "active")
        judged = computer.run("systemd-analyze", "security", "--no-pager", f"{unit}.service")
        last = judged.strip().splitlines()[-1]
        say(last, float(last.split(":")[1].split()[0]) <= EXPOSURE)
    answered = computer.try_("python3", "-c", ASKED % port)
    say(f"the page over TLS: {answered.stdout.strip()[-80:]}", "status 200" in answered.stdout)


def _introduce(computer: Computer, house: House) -> None:
    """The table's certificate from the house's authority, and where its broker is."""
    file = house.link_settings("table-1", Path("/") / SETTINGS)
    plain: dict[str, Any] = tomlkit.parse(file.read_text("utf-8")).unwrap()
    del plain["runtime_dir"]
    folder = computer.root / LINK.lstrip("/")
    for name in ("authority", "certificate", "key"):
        shutil.copyfile(file.with_name(f"{name}.pem"), folder / f"{name}.pem")
        plain[name] = f"{LINK}/{name}.pem"
    (folder / "link.toml").write_text(tomlkit.dumps(plain), "utf-8")
    computer.run("sh", "-c", f"chown root:shaker-link {LINK}/* && chmod 640 {LINK}/*")


def check_followed(computer: Computer, program: str, say: Teller) -> None:
    """Both have followed the table so far: the page's rounds, and what the floor has committed."""

    def rounds_kept() -> bool:
        said = computer.try_("python3", "-c", KEPT).stdout.strip()
        return said.isdigit() and int(said) > 0

    def has_committed() -> bool:
        said = computer.try_(program, "link", "--show").stdout
        return said.startswith("connected") and "committed up to record" in said

    for what, is_so in (
        ("the page knows the rounds", rounds_kept),
        ("the floor has committed the table's records", has_committed),
    ):
        say(what, _comes_true(is_so))


def check_still_there(computer: Computer, what: str, say: Teller) -> None:
    """After `what`: both run, of the program that is in service."""
    for unit in UNITS:
        state = computer.unit(unit)
        say(f"{unit} after {what}: {state['SubState']}", state["SubState"] == "running")


def _comes_true(is_so: Callable[[], bool]) -> bool:
    with suppress(AssertionError):
        return until(is_so, 60.0, every_s=0.5)
    return False
