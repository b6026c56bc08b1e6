"""Measuring the camera once by a printed target."""
