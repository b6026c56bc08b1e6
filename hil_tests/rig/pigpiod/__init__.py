"""A virtual pigpiod: pigpio's socket protocol on simulated pins, in real time.

The pins are a `Board`; the daemon (`VirtualPigpiod`) drives it for clients, the plant reads and
drives it from outside. Behaviour follows the daemon's protocol notes; where they are silent, v79.

    board.py  pin.py  timeline.py  sources.py        pins: levels over time, seen from both sides
    wire.py  server.py  loop.py  process.py          bytes, connections, the thread, life and death
    daemon.py  results.py  refusals.py               which module answers which command
    levels.py  soft_pwm.py  hardware_pwm.py  ...     commands, an idea each
    waveform.py  patterns.py  chains.py  transmitter.py  waves.py
    script_text.py  script_machine.py  scripts.py
    alerts.py  handles.py  filters.py  watchdogs.py  what clients are told unasked
    i2c.py  spi.py  serial_ports.py  slots.py  attached.py    devices behind buses
    trace.py  trace_vcd.py  trace_png.py             recording pins

Not here: files, shell, custom functions, bit-banged I2C and SPI: unknown commands (-88).
"""
