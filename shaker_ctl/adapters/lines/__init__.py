"""The serial lines: the lamp box by Modbus, and the consoles."""
