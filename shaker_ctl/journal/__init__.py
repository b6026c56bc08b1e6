"""What the table remembers: records in a chain, what can be told from them, and their health."""
