#include "drivers.h"

#include "spi.h"

static void select_chain(bool is_selected)
{
    if (is_selected)
        PORTC |= 1 << LAMPS_SELECT;
    else
        PORTC &= (uint8_t)~(1 << LAMPS_SELECT);
}

/* Shift a set in; what the chain held comes out, in the same order. */
static lamp_set shifted(const lamp_set *in)
{
    lamp_set out;
    select_chain(true);
    for (uint8_t bank = BANKS; bank-- > 0;)
        out.bank[bank] = spi_byte(in->bank[bank]);
    select_chain(false);
    return out;
}

void drivers_off(void)
{
    PORTB |= 1 << LAMPS_OFF;
}

bool drivers_set(const lamp_set *lamps)
{
    shifted(lamps);
    lamp_set held = shifted(lamps);
    if (!lamps_equal(&held, lamps)) {
        drivers_off();
        return false;
    }
    PORTB |= 1 << LAMPS_LATCH;
    PORTB &= (uint8_t)~(1 << LAMPS_LATCH);
    if (lamps_any(lamps))
        PORTB &= (uint8_t)~(1 << LAMPS_OFF);
    else
        drivers_off();
    return true;
}

bool drivers_hold(const lamp_set *lamps)
{
    if (!lamps_any(lamps))
        return drivers_set(lamps);
    lamp_set held = drivers_read();
    return lamps_equal(&held, lamps);
}

lamp_set drivers_read(void)
{
    if (PINB & 1 << LAMPS_OFF)
        return no_lamps;
    lamp_set held = shifted(&no_lamps);
    shifted(&held);
    return held;
}
