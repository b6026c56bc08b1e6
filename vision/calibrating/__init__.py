"""Measuring the camera once: by a printed target, or by the dice."""
