"""What the table does on its worst day, on the virtual rig with the real service process.

`make faults`, `make crash` and `make soak` start here. A table of faults
(`catalogue`) says beforehand what must become of each; the table under test is seen only from
outside: pins, lamps, consoles, and the journal's files, read-only.
"""
