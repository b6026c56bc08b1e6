"""Proof of the table by exhaustion, and mutants of it. Run `python -m hil_tests.proofs`.

Never imported by the running controller.
"""
