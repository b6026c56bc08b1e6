#include "clock.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

static volatile uint32_t now_ms;

ISR(TIMER1_COMPA_vect)
{
    now_ms++;
}

void clock_start(void)
{
    OCR1A = F_CPU / 1000 - 1;
    TCCR1B = 1 << WGM12 | 1 << CS10;
    TIMSK1 = 1 << OCIE1A;
}

uint32_t clock_ms(void)
{
    uint32_t now;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        now = now_ms;
    }
    return now;
}
