"""The page: what the table sees, does and did, for a browser. It can do nothing to the table.

A process of its own, with a user of its own. It follows the status socket and the journal by
reading, and keeps its own tables, its own log of who looked at what, and nothing else.
"""
