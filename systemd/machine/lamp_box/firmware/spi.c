#include "spi.h"

#include "board.h"

void spi_start(void)
{
    DDRB |= 1 << SPI_OUT | 1 << SPI_CLOCK;
    SPCR = 1 << SPE | 1 << MSTR; /* mode 0, a quarter of the clock: 3.7 MHz */
}

uint8_t spi_byte(uint8_t out)
{
    SPDR = out;
    while (!(SPSR & 1 << SPIF))
        ;
    return SPDR;
}
