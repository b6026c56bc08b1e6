/* The lamp box: start dark, then answer the line until the power goes. */
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <avr/wdt.h>

#include "board.h"
#include "box.h"
#include "clock.h"
#include "currents.h"
#include "line.h"
#include "memory.h"
#include "modbus.h"
#include "spi.h"

/* Fuses: a crystal above 8 MHz, brown-out below 4.3 V, no JTAG (its pins select the chains), the
 * EEPROM kept when the program is replaced. */
FUSES = {.low = 0xF7, .high = 0xD1, .extended = 0xFC};

static void start_pins(void)
{
    PORTB = 1 << LAMPS_OFF | 1 << PANEL_OFF | 1 << MEMORY_SELECT | UNUSED_B;
    DDRB = 1 << LAMPS_OFF | 1 << PANEL_OFF | 1 << MEMORY_SELECT | 1 << LAMPS_LATCH;
    DDRC = 1 << LAMPS_SELECT | 1 << PANEL_SELECT;
    PORTC = UNUSED_C;
    PORTD = 1 << ERASE_BUTTON | UNUSED_D;
    DDRD = 1 << PANEL_LATCH | 1 << LINE_DRIVE;
}

/* Pressed from power-on for a second: longer than any spark. */
static bool is_button_held(void)
{
    for (uint8_t look = 0; look < 100; look++) {
        if (PIND & 1 << ERASE_BUTTON)
            return false;
        uint32_t began = clock_ms();
        while (clock_ms() - began < 10)
            wdt_reset();
    }
    return true;
}

static void answer(void)
{
    const uint8_t *frame;
    uint16_t length = line_frame(&frame);
    if (!length)
        return;
    box_settle();
    length = modbus_answer(frame, length, reply);
    if (length)
        line_reply(length);
    else
        line_listen();
}

int main(void)
{
    start_pins();
    MCUSR = 0;
    wdt_enable(WDTO_250MS);
    spi_start();
    clock_start();
    sei();
    memory_start(is_button_held());
    currents_start();
    box_start();
    line_start();
    set_sleep_mode(SLEEP_MODE_IDLE);
    for (;;) {
        wdt_reset();
        box_settle();
        answer();
        sleep_mode();
    }
}
