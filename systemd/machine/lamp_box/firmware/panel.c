#include "panel.h"

#include <avr/pgmspace.h>
#include <string.h>

#include "board.h"
#include "spi.h"

#define DIGITS 4
#define NO_NUMBER 0xFFFF

/* Segments g to a of the digits 0 to 9. A blank digit has none. */
static const uint8_t segments[10] PROGMEM = {0x3F, 0x06, 0x5B, 0x4F, 0x66, 0x6D, 0x7D, 0x07, 0x7F, 0x6F};

static bool has_odds;
static uint8_t shown[PLACES][DIGITS];

static void select_chain(bool is_selected)
{
    if (is_selected)
        PORTC |= 1 << PANEL_SELECT;
    else
        PORTC &= (uint8_t)~(1 << PANEL_SELECT);
}

/* By subtraction: 256 divisions would take longer than a reply may. */
static void encode(uint16_t number, uint8_t digits[DIGITS])
{
    static const uint16_t powers[DIGITS] = {1000, 100, 10, 1};
    bool is_begun = false;
    for (uint8_t at = 0; at < DIGITS; at++) {
        uint8_t value = 0;
        for (; number >= powers[at]; number -= powers[at])
            value++;
        is_begun |= value > 0;
        digits[at] = is_begun ? pgm_read_byte(&segments[value]) : 0;
    }
}

static uint16_t decode(const uint8_t digits[DIGITS])
{
    uint16_t number = 0;
    for (uint8_t at = 0; at < DIGITS; at++) {
        uint8_t value = 0;
        while (value < 10 && digits[at] != pgm_read_byte(&segments[value]))
            value++;
        if (value < 10)
            number = 10 * number + value;
        else if (digits[at] || number)
            return NO_NUMBER;
    }
    return number;
}

/* Legend n - 1 for phase n, the demonstration's mark at the top. */
static uint16_t legends(uint16_t phase)
{
    uint8_t number = (uint8_t)phase;
    return (phase & 0x0100 ? 0x8000 : 0) | (number ? 1 << (number - 1) : 0);
}

static bool exchange(uint8_t out)
{
    return spi_byte(out) == out;
}

/* Shift everything in. True if the chain held the same before. */
static bool shift(uint16_t lit)
{
    bool is_same = true;
    select_chain(true);
    if (has_odds)
        for (uint8_t place = PLACES; place-- > 0;)
            for (uint8_t at = DIGITS; at-- > 0;)
                is_same &= exchange(shown[place][at]);
    is_same &= exchange(lit >> 8);
    is_same &= exchange(lit & 0xFF);
    select_chain(false);
    return is_same;
}

/* The chain is as long as the number of bytes that a mark needs to travel through it. */
static bool is_long(void)
{
    uint16_t bytes = 2 + PLACES * DIGITS;
    select_chain(true);
    for (uint16_t at = 0; at < bytes; at++)
        spi_byte(0);
    spi_byte(0xA5);
    for (uint16_t at = 1; at < bytes; at++)
        spi_byte(0);
    bool is_back = spi_byte(0) == 0xA5;
    select_chain(false);
    return is_back;
}

bool panel_start(void)
{
    has_odds = is_long();
    static const uint16_t none[PLACES] = {0};
    panel_show(0, none);
    return has_odds;
}

bool panel_show(uint16_t phase, const uint16_t odds[PLACES])
{
    uint16_t lit = legends(phase);
    for (uint8_t place = 0; has_odds && place < PLACES; place++)
        encode(odds[place], shown[place]);
    shift(lit);
    if (!shift(lit)) {
        PORTB |= 1 << PANEL_OFF;
        return false;
    }
    PORTD |= 1 << PANEL_LATCH;
    PORTD &= (uint8_t)~(1 << PANEL_LATCH);
    PORTB &= (uint8_t)~(1 << PANEL_OFF);
    return true;
}

void panel_read(uint16_t odds[PLACES])
{
    memset(odds, 0, PLACES * sizeof *odds);
    if (!has_odds)
        return;
    /* A byte that comes out goes in again one byte later, so one more byte brings all round. */
    select_chain(true);
    uint8_t digits[DIGITS];
    uint8_t carried = spi_byte(0);
    for (uint8_t place = PLACES; place-- > 0;) {
        for (uint8_t at = DIGITS; at-- > 0;) {
            digits[at] = carried;
            carried = spi_byte(carried);
        }
        odds[place] = decode(digits);
    }
    carried = spi_byte(carried); /* the two bytes of legends */
    spi_byte(carried);
    select_chain(false);
}
