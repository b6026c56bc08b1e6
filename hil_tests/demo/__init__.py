"""A table on the virtual rig, played for show: `shaker-ctl demo`.

Owns the order of a demonstration and the page that it leaves.
"""
