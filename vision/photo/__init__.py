"""Photographs without a calibration: a reader for pictures of dice from anywhere."""
