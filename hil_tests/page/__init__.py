"""The page in a real browser, over a real demonstration: `make test-page`; and what it costs.

Each test is marked `browser`: it needs Debian's Chromium and the libraries of
`hil_tests/lock-browser.txt`. Screenshots of every view go into `var/page`.
"""
