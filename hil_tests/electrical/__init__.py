"""Electrical measurements on the pins of this run's rig, by a plain pigpio client."""
