"""The floor's schemas."""
