"""What a table hands to its floor: the protocol, and the process that speaks it."""
