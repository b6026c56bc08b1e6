"""A table under test: what the demonstration and every bench start, play at and judge by.

Owns the start of rig and service as two ordinary programs, the people that stand at the table, and
the comparison of what was lit with what the physics knows. Everything here stands outside the
service and uses its ports only.
"""
