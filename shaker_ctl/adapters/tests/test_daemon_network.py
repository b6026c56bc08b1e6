"""A network that only daemon and table share is recognised by what else is in it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys

import pytest

from shaker_ctl.adapters.pins import daemon_network


@pytest.mark.parametrize(
    ("interfaces", "is_private"),
    [
        (["lo"], True),
        (["lo", "tunl0", "ip6tnl0"], True),
        (["lo", "eth0"], False),
        (["lo", "wlan0", "tunl0"], False),
        (["lo", "host0"], False),
    ],
)
def test_a_network_with_an_interface_of_its_own_is_open(
    interfaces: list[str], is_private: bool
) -> None:
    assert daemon_network.is_private(interfaces) is is_private


def test_a_new_namespace_of_this_kernel_is_private() -> None:
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    words = "from shaker_ctl.adapters.pins.daemon_network import is_private; print(is_private())"
    ran = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", sys.executable, "-c", words],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        pytest.skip("this machine permits no namespace")
    assert ran.stdout.strip() == "True"


def test_nobody_moves_where_no_unit_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(daemon_network, "UNITS", ("there-is-no-such.service",))
    before = socket.if_nameindex()
    daemon_network.enter()
    assert socket.if_nameindex() == before
