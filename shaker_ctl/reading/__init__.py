"""The proof that a reading belongs to this toss. `motion` proves that there was a toss."""
