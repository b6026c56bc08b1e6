"""A `/dev/gpiochip0` where the kernel has none: the kernel's side of the GPIO character device.

What is real: the client. Programs run unchanged, with the libgpiod that they ship, and make the
kernel's own system calls with the kernel's own structures (`<linux/gpio.h>`, version 2).

What is simulated, and only this:

* the device node: programs that were started by `enter` have `lstat`, `stat`, `readlink` and `open`
  of `/dev/gpiochip0` (and of its entry under `/sys/dev/char`), and every GPIO `ioctl`, answered by
  the rig, through seccomp's user notification. Everything else goes to the real kernel;
* the chip behind it: the pins of a `pigpiod.board.Board`, with bias, edge detection, the kernel's
  software debounce, exclusive requests, event timestamps and sequence numbers, and what a Raspberry
  Pi kernel does when a request is closed: outputs stay driven, unless `strict_gpiod` is set;
* hardware PWM: a folder with the files of `/sys/class/pwm/pwmchip0`, watched a thousand times a
  second (`pwm`).

Not simulated: interrupt latency, the load that edges put on a Pi, `SET_CONFIG` of a running
request, line-info events, version 1 of the interface.
"""
