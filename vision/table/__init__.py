"""The table's reader: one frame to one reading, or a refusal that names its reason."""
