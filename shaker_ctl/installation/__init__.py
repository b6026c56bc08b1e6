"""What a house tells its table, as files: places, settings, pins, key, sockets, certificate."""
