/* The board around the shipped program: memory, driver chain, panel, lamps and their currents.
 *
 * The program runs as compiled for the ATmega1284P, under simavr. Time is the processor's. */
#ifndef BOARD_H
#define BOARD_H

#include <sim_avr.h>
#include <stdbool.h>
#include <stdint.h>

#define LAMPS 52
#define MEMORY_BYTES 8192
#define MADE_BYTES 6 /* the EEPROM's */
#define HZ 14745600ull
#define BYTE_CYCLES (HZ / 11520)

typedef struct {
    bool burnt[LAMPS], stuck[LAMPS];
    bool is_latched; /* the driver chain's latch line is broken */
    bool is_shifted; /* the driver chain lets each bit out one place later */
    bool is_dead;    /* the driver chain's data line is broken */
    bool is_button_held;
    int supply_mv, temperature_mv;
} conditions;

typedef struct {
    avr_t *avr;
    uint8_t *memory; /* MEMORY_BYTES */
    conditions now;
    bool is_stepped; /* one instruction a step, else some 50 us */
    void (*sends)(uint8_t byte);    /* a byte that the box puts on the line */
    void (*lamps_change)(uint64_t); /* driven: what burns but for burnt and stuck ones */
    uint64_t driven;                /* at the transistors' gates */
} board;

extern board box;

extern const char *const lamp_names[LAMPS];

/* Start the program of an ELF file, without power until `board_power_up`. */
bool board_make(const char *elf, uint8_t *memory);

/* Power comes: registers, RAM and chains hold anything, the memory and the EEPROM what they held. */
void board_power_up(bool is_brown_out);

/* Run a little, or sleep until something happens. */
void board_step(void);

/* A byte ends on the line's way to the box. */
void board_receive(uint8_t byte);

/* Lamps that give light. */
uint64_t board_burning(void);

void board_made(uint8_t bytes[MADE_BYTES]);
void board_set_made(const uint8_t bytes[MADE_BYTES]);

/* Since the first power-up; a reset does not take it back. */
uint64_t board_cycles(void);
double board_seconds(void);
uint16_t board_crc(const uint8_t *bytes, int length);

#endif
