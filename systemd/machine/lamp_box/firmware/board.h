/* The board: which pin of the ATmega1284P does what. ../../netlist.txt names the same pins.
 *
 * Three devices share the SPI: the memory (an FRAM) and two chains of 74HC595, those of the lamps and
 * those of the panel. A select line passes clock and answer of one chain, so a chain keeps what it
 * holds while another device talks. Pull-ups at LAMPS_OFF, PANEL_OFF and MEMORY_SELECT keep lamps and
 * panel dark, and the memory shut, while the processor has no power or is in reset.
 */
#ifndef BOARD_H
#define BOARD_H

#include <avr/io.h>

/* Port A: ADC0 to ADC6, the current of lamp bank 0 to 6 through a 74HC4051 each. */
#define BANKS 7

/* Port B */
#define LAMPS_LATCH PB0
#define LAMPS_OFF PB1 /* high: outputs of all lamp drivers off */
#define PANEL_OFF PB2
#define MEMORY_SELECT PB4 /* low: selected; also the processor's SS, which a master must drive */
#define SPI_OUT PB5
#define SPI_IN PB6
#define SPI_CLOCK PB7

/* Port C: 0 to 2 choose the lamp within all banks; then the chains' select lines. */
#define BANK_ADDRESS 0x07
#define LAMPS_SELECT PC3
#define PANEL_SELECT PC4

/* Port D: 0 and 1 are the line's UART. */
#define LINE_DRIVE PD4 /* high: the RS-485 driver sends and its receiver is off */
#define ERASE_BUTTON PD5 /* inside the housing; low: pressed */
#define PANEL_LATCH PD6

/* Pins without a wire, pulled up. */
#define UNUSED_B (1 << PB3)
#define UNUSED_C (1 << PC5 | 1 << PC6 | 1 << PC7)
#define UNUSED_D (1 << PD2 | 1 << PD3 | 1 << PD7)

#endif
