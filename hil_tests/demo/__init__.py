"""A table on the virtual rig, played for show and for measurement: `shaker-ctl demo`.

Owns three things: the start of rig and service as two ordinary programs, the people that a
demonstration needs, and the report that compares what was lit with what the physics knows.
Everything here stands outside the service and uses its ports only.
"""
