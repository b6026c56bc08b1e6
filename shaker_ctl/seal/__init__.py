"""The seal: a signed list of everything that decides, checked before any of it acts."""
