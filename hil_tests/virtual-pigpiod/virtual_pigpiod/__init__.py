"""A virtual pigpiod: pigpio's socket protocol on simulated pins, in real time.

The pins are a `Board`; the daemon (`VirtualPigpiod`) drives it for clients, a test or a simulated
machine reads and drives it from outside. Behaviour follows pigpio v79.

    wire.py  server.py  loop.py  process.py    bytes, connections, the thread, life and death
    daemon.py  results.py  refusals.py         which module answers which command
    slots.py                                   numbers of what clients open
    command.py  pytest_plugin.py               the daemon as a program, and as a fixture of pytest
    delays.py  scheduling.py  waiting.py       waiting: for a client, in a test; priority
    pins/      levels over time, seen from both sides; PWM; the commands about them
    waves/     pulses built, chained and sent
    scripts/   stored scripts: text, machine, slots
    reports/   what clients are told unasked
    buses/     devices behind I2C, SPI and serial ports
    traces/    recorded pins, as VCD

Not here: files, shell, custom functions, bit-banged I2C and SPI: unknown commands (-88).
"""
