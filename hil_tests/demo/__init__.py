"""A table on the virtual rig, played for show and for measurement: `shaker-ctl demo`.

Owns starting rig and service as two ordinary programs, the people that a demonstration needs, and
the report that holds what was lit against what the physics knows. Everything here stands outside
the service and uses its ports only.
"""
