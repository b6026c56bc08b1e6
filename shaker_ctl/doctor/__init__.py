"""What a technician checks before a table opens: computer, pins, shaker, camera, lamps, records."""
