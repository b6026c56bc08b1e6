"""The built wheel, installed on whole Debians that are no developer's: emulated, and booted."""
