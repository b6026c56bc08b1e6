"""The stable codes that consoles answer with, in one table.

Owns the codes of the console itself; fault codes are the error tree's, listed beside them. Must
not know who asks. Scripts match on codes, people read the texts: a code never changes its meaning.
"""

from __future__ import annotations

from collections.abc import Iterator

from shaker_ctl.errors import ShakerError

OK = "ok"
UNKNOWN = "unknown-command"
AMBIGUOUS = "ambiguous"
WHOLE_WORD = "whole-word"
SYNTAX = "syntax"
TOO_LONG = "too-long"
NOISE = "noise"
PASTE = "paste"
NEEDS_LOGIN = "needs-login"
NOT_YOUR_ROLE = "not-your-role"
NOT_ON_THIS_PORT = "not-on-this-port"
WRONG_PASSPHRASE = "wrong-passphrase"
LOCKED_OUT = "locked-out"
NO_USERS = "no-users"
NOT_NOW = "not-now"
NO_ANSWER = "no-answer"
NOTHING_THERE = "nothing-there"
FAILED = "failed"
INTERRUPTED = "interrupted"
INTERNAL = "internal"

MEANINGS: dict[str, str] = {
    OK: "Done, or accepted and now running.",
    UNKNOWN: "No such command. Nothing changed. See `help`.",
    AMBIGUOUS: "The abbreviation fits several commands. Write more of it.",
    WHOLE_WORD: "A command that acts is never abbreviated: a stray letter must do nothing.",
    SYNTAX: "The command exists, its arguments are wrong. See `help COMMAND`.",
    TOO_LONG: "The line is longer than any command. It was dropped whole.",
    NOISE: "The line carried bytes that no keyboard sends. Not acted on; repeat it.",
    PASTE: "More input came with the command, or a flood. Not acted on; one command at a time.",
    NEEDS_LOGIN: "Log in first: `login ROLE NAME`.",
    NOT_YOUR_ROLE: "Another role does this.",
    NOT_ON_THIS_PORT: "This console does not permit that role. Use the other one.",
    WRONG_PASSPHRASE: "Name, role and passphrase do not belong together. Recorded.",
    LOCKED_OUT: "Too many wrong passphrases. Wait as told; recorded.",
    NO_USERS: "The users file is missing or wrong. `shaker-ctl console add-user` writes it.",
    NOT_NOW: "The table does not permit this in its present state. The text says why.",
    NO_ANSWER: "The table did not decide in time. It may still happen: ask `status`.",
    NOTHING_THERE: "No such round on record.",
    FAILED: "It was begun and did not succeed. The text says what came of it.",
    INTERRUPTED: "Ended by Ctrl-C.",
    INTERNAL: "The console failed over this command. Nothing was asked of the table; report it.",
}


def fault_codes() -> Iterator[tuple[str, str]]:
    """Yield every code of the error tree with the first sentence that describes it."""
    seen: set[str] = set()
    pending: list[type[ShakerError]] = list(ShakerError.__subclasses__())
    while pending:
        error = pending.pop(0)
        pending.extend(error.__subclasses__())
        if error.code not in seen and error.__module__ == ShakerError.__module__:
            seen.add(error.code)
            yield error.code, (error.__doc__ or "").split("\n")[0]
