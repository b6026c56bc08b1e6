"""Making a Raspberry Pi a table, and no table again: places, acts, plan."""
