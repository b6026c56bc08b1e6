"""The page's certificate, as the set-up makes it."""

from __future__ import annotations

import grp
import os
import socket
import ssl
from pathlib import Path

from cryptography import x509

from shaker_ctl.installation.certificate import CERTIFICATE, KEY, have_pair

GROUP = grp.getgrgid(os.getgid()).gr_name


def test_a_web_server_can_use_it_and_it_bears_this_computers_name(tmp_path: Path) -> None:
    have_pair(tmp_path, GROUP)

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(tmp_path / CERTIFICATE, tmp_path / KEY)
    made = x509.load_pem_x509_certificate((tmp_path / CERTIFICATE).read_bytes())
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert socket.gethostname() in names.get_values_for_type(x509.DNSName)
    assert (tmp_path / KEY).stat().st_mode & 0o777 == 0o640, "the key is for its group alone"


def test_a_houses_own_certificate_stays(tmp_path: Path) -> None:
    (tmp_path / CERTIFICATE).write_text("the house's")
    (tmp_path / KEY).write_text("its key")

    have_pair(tmp_path, GROUP)

    assert (tmp_path / CERTIFICATE).read_text() == "the house's"
