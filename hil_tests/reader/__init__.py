"""The reader's benches: what it accepts, refuses and costs, on scenes of known truth."""
