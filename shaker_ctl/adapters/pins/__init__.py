"""GPIO through pigpio, and through gpiod and sysfs on a Pi 5."""
