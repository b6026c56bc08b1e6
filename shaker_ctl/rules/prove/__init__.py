"""Proof of the table by exhaustion, and mutants of it. Run `python -m shaker_ctl.rules.prove`.

Never imported by the running controller.
"""
