"""The rules: one pure machine, its vocabulary, and the profiles that govern it."""
