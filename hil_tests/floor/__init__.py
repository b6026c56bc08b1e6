"""The floor under test: a house on one machine, tables that hand over, and what may go wrong."""
