"""`make bench-arm64`: what the program costs on a Raspberry Pi, in arm64 instructions."""
