"""A virtual pigpiod: pigpio's socket protocol on simulated pins, in real time.

The pins are a `Board`; the daemon (`VirtualPigpiod`) drives it for clients, the plant reads and
drives it from outside. Behaviour follows the daemon's protocol notes; where they are silent, v79.
"""
