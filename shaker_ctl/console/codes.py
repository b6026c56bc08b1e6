"""The stable codes of refusal that consoles answer with, in one table.

Owns the codes of the console itself. The codes of the fault queue come from the table
(`Desk.fault_codes`). If a device fails while somebody looks at it, the answer has the code of its
error. Must not know who asks.
Scripts match on codes, people read the texts: a code never changes its meaning.
"""

from __future__ import annotations

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
    NO_USERS: "The users file is missing, damaged or wrong. The text says what to do.",
    NOT_NOW: "The table does not permit this in its present state. The text says why.",
    NO_ANSWER: "The table did not decide in time. It may still happen: ask `status`.",
    NOTHING_THERE: "No such round on record.",
    FAILED: "It was begun and did not succeed. The text says what came of it.",
    INTERRUPTED: "Ended by Ctrl-C.",
    INTERNAL: "The console failed over this command. Nothing was asked of the table; report it.",
}
