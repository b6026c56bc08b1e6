/* The SPI and its three devices; one is selected at a time. */
#ifndef SPI_H
#define SPI_H

#include <stdint.h>

void spi_start(void);
uint8_t spi_byte(uint8_t out);

#endif
