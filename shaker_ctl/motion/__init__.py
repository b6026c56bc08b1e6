"""What a toss is, how it is driven, and what proves that it happened. Pure: no pins, no threads."""
