#include "currents.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#define PER_BANK 8
#define REFERENCE_UV 1225000UL
#define STEP_UV (REFERENCE_UV / 1024)
#define SHUNT_OHM 10UL
#define RATED_STEPS (RATED_MA * SHUNT_OHM * 1000 / STEP_UV)
#define SUPPLY_DIVIDER 15UL /* 140 kOhm over 10 kOhm */

/* The last bank has four lamps; its next two inputs are others. */
#define SUPPLY_AT (6 * PER_BANK + 4)
#define TEMPERATURE_AT (6 * PER_BANK + 5) /* LM35: 10 mV a degree */

static volatile uint16_t steps[BANKS * PER_BANK];

static void measure(uint8_t input)
{
    PORTC = (uint8_t)((PORTC & ~BANK_ADDRESS) | (input & BANK_ADDRESS));
    ADMUX = input >> 3;
    ADCSRA |= 1 << ADSC;
}

ISR(ADC_vect)
{
    static uint8_t input;
    steps[input] = ADC;
    if (++input == BANKS * PER_BANK)
        input = 0;
    measure(input);
}

void currents_start(void)
{
    DDRC |= BANK_ADDRESS;
    DIDR0 = 0x7F;
    /* 115 kHz: a conversion in 113 us. The reference is the pin AREF. */
    ADCSRA = 1 << ADEN | 1 << ADIE | 1 << ADPS2 | 1 << ADPS1 | 1 << ADPS0;
    measure(0);
}

static uint16_t steps_at(uint8_t input)
{
    uint16_t found;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        found = steps[input];
    }
    return found;
}

uint8_t current_percent(uint8_t lamp)
{
    uint16_t percent = (uint16_t)((steps_at(lamp) * 100UL + RATED_STEPS / 2) / RATED_STEPS);
    return percent > 255 ? 255 : (uint8_t)percent;
}

lamp_set currents_above(uint8_t percent)
{
    uint16_t least = (uint16_t)((percent * RATED_STEPS + 99) / 100);
    lamp_set set = no_lamps;
    for (uint8_t lamp = 0; lamp < LAMPS; lamp++)
        if (steps_at(lamp) >= least)
            lamps_add(&set, lamp);
    return set;
}

uint16_t supply_10mv(void)
{
    return (uint16_t)(steps_at(SUPPLY_AT) * STEP_UV * SUPPLY_DIVIDER / 10000);
}

int16_t temperature_tenths(void)
{
    return (int16_t)(steps_at(TEMPERATURE_AT) * STEP_UV / 1000);
}
