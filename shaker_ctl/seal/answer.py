"""A keyed answer: proof to an inspector that what decides here is what a laboratory approved.

Owns the list that is answered for, in the form of `sha256sum`, and the HMAC over it. Must not know
consoles. The inspector types a seed that nobody could foresee, and compares with
`openssl dgst -sha256 -hmac SEED LIST`, over the list that the laboratory made of the approved
version. A table that stored an old answer cannot give the new one.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from pathlib import Path

from shaker_ctl.seal import manifest


def approved_list(root: Path = manifest.ROOT, others: Iterable[Path] = ()) -> str:
    """Return a line for each file and library that decides: digest, two spaces, name; sorted. Then
    a line for whatever differs and shows in no digest, such as a changed file of a library.

    `others`: files beside the packages and what starts them: settings, a profile of the house's
    own. They are listed by name alone, since the laboratory keeps them elsewhere. Raises OSError
    where a file cannot be read.
    """
    files = {**manifest.digests_of_packages(root), **manifest.digests_of_environment(root)}
    by_name = [(path.name, manifest.digest(path)) for path in others]  # two may have one name
    listed = (*files.items(), *by_name, *manifest.libraries(root).items())
    lines = sorted(f"{digest}  {_escaped(name)}" for name, digest in listed)
    wrong = (f"not as installed: {_escaped(found.line())}" for found in manifest.unlisted(root))
    return "".join(f"{line}\n" for line in (*lines, *wrong))


def _escaped(name: str) -> str:
    """On one line, so that no file's name passes for a line of its own."""
    return name.encode("unicode_escape").decode()


def keyed(seed: str, text: str) -> str:
    """Return the HMAC-SHA256 of a list under a seed, in hex."""
    return hmac.new(seed.encode(), text.encode(), hashlib.sha256).hexdigest()
