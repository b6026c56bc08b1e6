#include "board.h"

#include <avr_adc.h>
#include <avr_eeprom.h>
#include <avr_ioport.h>
#include <avr_uart.h>
#include <math.h>
#include <sim_elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Data addresses of the ATmega1284P. */
enum { DDRB = 0x24, PORTB, PORTC = 0x28, DDRD = 0x2A, PORTD, SPSR = 0x4D, SPDR };
enum { LAMPS_LATCH = 1, LAMPS_OFF = 2, MEMORY_SELECT = 16 };
enum { LAMPS_SELECT = 8, PANEL_SELECT = 16 };
enum { LINE_DRIVE = 16 };

#define PANEL_BYTES 258
#define LAMP_BYTES 7
#define ALL_LAMPS ((1ull << LAMPS) - 1)
#define WARM_TAU_S 0.005
#define COLD_TAU_S 0.002
#define RATED_MV 400 /* 40 mA through 10 ohm */

board box;

const char *const lamp_names[LAMPS] = {
    "small",    "big",      "even",     "odd",      "any-triple", "triple-1", "triple-2", "triple-3",
    "triple-4", "triple-5", "triple-6", "double-1", "double-2",   "double-3", "double-4", "double-5",
    "double-6", "pair-1-2", "pair-1-3", "pair-1-4", "pair-1-5",   "pair-1-6", "pair-2-3", "pair-2-4",
    "pair-2-5", "pair-2-6", "pair-3-4", "pair-3-5", "pair-3-6",   "pair-4-5", "pair-4-6", "pair-5-6",
    "total-4",  "total-5",  "total-6",  "total-7",  "total-8",    "total-9",  "total-10", "total-11",
    "total-12", "total-13", "total-14", "total-15", "total-16",   "total-17", "one-1",    "one-2",
    "one-3",    "one-4",    "one-5",    "one-6",
};


static elf_firmware_t program;
static uint8_t lamp_chain[LAMP_BYTES], panel_chain[PANEL_BYTES];
static uint64_t latched;
static uint32_t port_b;
static uint64_t switched_at[LAMPS];
static uint8_t memory_frame[4];
static int memory_count;
static bool is_write_enabled;
static uint8_t spi_sent, spi_got;
static avr_irq_t *uart_in, *adc, *button;

/* ── Memory: an FRAM of 8 KB, as FM25640B and MB85RS64V ── */

static uint8_t memory_byte(uint8_t in)
{
    enum { WRITE = 2, READ = 3, WRITE_ENABLE = 6 };
    uint8_t out = 0xFF;
    if (memory_count < 3)
        memory_frame[memory_count] = in;
    else {
        unsigned at = (memory_frame[1] << 8 | memory_frame[2]) + memory_count - 3;
        if (memory_frame[0] == READ)
            out = box.memory[at % MEMORY_BYTES];
        else if (memory_frame[0] == WRITE && is_write_enabled)
            box.memory[at % MEMORY_BYTES] = in;
    }
    if (memory_count == 0 && in == WRITE_ENABLE)
        is_write_enabled = true;
    memory_count++;
    return out;
}

static void memory_released(void)
{
    if (memory_count && memory_frame[0] == 2)
        is_write_enabled = false;
    memory_count = 0;
}

/* ── Chains of 74HC595: the first byte in is the first out ── */

static uint8_t through(uint8_t *chain, int length, uint8_t in)
{
    uint8_t out = chain[length - 1];
    memmove(chain + 1, chain, length - 1);
    chain[0] = in;
    return out;
}

/* ── SPI: in place of simavr's, for which every byte takes 100 us ── */

#define SPI_CYCLES 32
#define SPI_DONE 0x80

static avr_cycle_count_t spi_ends(avr_t *avr, avr_cycle_count_t when, void *param)
{
    (void)when, (void)param;
    const uint8_t *data = avr->data;
    spi_got = 0xFF;
    if (!(data[PORTB] & MEMORY_SELECT))
        spi_got = memory_byte(spi_sent);
    else if (data[PORTC] & LAMPS_SELECT)
        spi_got = through(lamp_chain, LAMP_BYTES, box.now.is_dead ? 0xFF : spi_sent);
    else if (data[PORTC] & PANEL_SELECT)
        spi_got = through(panel_chain, PANEL_BYTES, spi_sent);
    avr->data[SPSR] |= SPI_DONE;
    return 0;
}

static void spi_write(avr_t *avr, avr_io_addr_t at, uint8_t value, void *param)
{
    (void)at, (void)param;
    spi_sent = value;
    avr->data[SPSR] &= (uint8_t)~SPI_DONE;
    avr_cycle_timer_register(avr, SPI_CYCLES, spi_ends, 0);
}

static uint8_t spi_read(avr_t *avr, avr_io_addr_t at, void *param)
{
    (void)at, (void)param;
    avr->data[SPSR] &= (uint8_t)~SPI_DONE;
    return spi_got;
}

/* ── Drivers and lamps ── */

static bool is_dark(void)
{
    return !(box.avr->data[DDRB] & LAMPS_OFF) || port_b & LAMPS_OFF;
}

static void look_at_drivers(void)
{
    uint64_t driven = is_dark() && !box.now.is_latched ? 0 : latched;
    if (box.now.is_shifted)
        driven = driven << 1 & ALL_LAMPS;
    if (driven == box.driven)
        return;
    for (int lamp = 0; lamp < LAMPS; lamp++)
        if ((driven ^ box.driven) >> lamp & 1)
            switched_at[lamp] = board_cycles();
    box.driven = driven;
    if (box.lamps_change)
        box.lamps_change(driven);
}

static void port_b_changes(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)param;
    uint32_t rises = value & ~irq->value;
    if (rises & LAMPS_LATCH && !box.now.is_latched) {
        latched = 0;
        for (int byte = LAMP_BYTES; byte-- > 0;)
            latched = latched << 8 | lamp_chain[byte];
        latched &= ALL_LAMPS;
    }
    if (rises & MEMORY_SELECT)
        memory_released();
    port_b = value;
    look_at_drivers();
}

uint64_t board_burning(void)
{
    uint64_t burning = box.driven;
    for (int lamp = 0; lamp < LAMPS; lamp++) {
        if (box.now.stuck[lamp])
            burning |= 1ull << lamp;
        if (box.now.burnt[lamp])
            burning &= ~(1ull << lamp);
    }
    return burning;
}

static int lamp_mv(int lamp)
{
    double age_s = (double)(board_cycles() - switched_at[lamp]) / HZ;
    bool is_driven = box.driven >> lamp & 1;
    if (box.now.burnt[lamp])
        return 0;
    if (box.now.stuck[lamp])
        return RATED_MV;
    return (int)(RATED_MV * (is_driven ? 1 - exp(-age_s / WARM_TAU_S) : exp(-age_s / COLD_TAU_S)));
}

static void converter_begins(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq, (void)param;
    int bank = (value >> 19) & 7;
    int input = 8 * bank + (box.avr->data[PORTC] & 7);
    int mv = input < LAMPS        ? lamp_mv(input)
             : input == LAMPS     ? box.now.supply_mv / 15
             : input == LAMPS + 1 ? box.now.temperature_mv
                                  : 0;
    avr_raise_irq(adc + ADC_IRQ_ADC0 + bank, mv);
}

/* ── Line ── */

static void uart_out(avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq, (void)param;
    if (box.avr->data[PORTD] & LINE_DRIVE && box.sends)
        box.sends(value);
}

void board_receive(uint8_t byte)
{
    const uint8_t *data = box.avr->data;
    if (!(data[DDRD] & LINE_DRIVE && data[PORTD] & LINE_DRIVE)) /* its receiver is off meanwhile */
        avr_raise_irq(uart_in, byte);
}

/* ── The processor ── */

static void let_go_of_pins(void)
{
    port_b = LAMPS_OFF;
    memory_released();
    avr_raise_irq(button, box.now.is_button_held); /* a level that stays is not passed on */
    avr_raise_irq(button, !box.now.is_button_held);
}

/* The watchdog resets the processor inside simavr: then its pins are no outputs any more. */
static void look_for_reset(void)
{
    static uint8_t outputs_before;
    uint8_t outputs = box.avr->data[DDRB];
    if (outputs_before && !outputs)
        let_go_of_pins();
    outputs_before = outputs;
}

static void no_sleep(avr_t *avr, avr_cycle_count_t cycles)
{
    (void)avr, (void)cycles; /* the caller keeps the time */
}

static void quiet(avr_t *avr, const int level, const char *format, va_list list)
{
    (void)avr;
    if (level <= LOG_ERROR)
        vfprintf(stderr, format, list);
}

bool board_make(const char *elf, uint8_t *memory)
{
    avr_global_logger_set(quiet);
    memset(&program, 0, sizeof program);
    if (elf_read_firmware(elf, &program) != 0)
        return false;
    box.memory = memory;
    box.now = (conditions){.supply_mv = 12000, .temperature_mv = 312};
    box.avr = avr_make_mcu_by_name("atmega1284p");
    avr_init(box.avr);
    box.avr->frequency = HZ;
    box.avr->vcc = box.avr->avcc = 5000;
    box.avr->aref = 1225;
    box.avr->sleep = no_sleep;
    avr_load_firmware(box.avr, &program);
    box.avr->frequency = HZ;
    box.avr->aref = 1225;
    uart_in = avr_io_getirq(box.avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
    adc = avr_io_getirq(box.avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0);
    box.avr->io[AVR_DATA_TO_IO(SPDR)].w.c = spi_write;
    box.avr->io[AVR_DATA_TO_IO(SPDR)].r.c = spi_read;
    avr_irq_register_notify(avr_io_getirq(box.avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT),
                            uart_out, 0);
    button = avr_io_getirq(box.avr, AVR_IOCTL_IOPORT_GETIRQ('D'), 5);
    avr_irq_register_notify(adc + ADC_IRQ_OUT_TRIGGER, converter_begins, 0);
    avr_irq_register_notify(
        avr_io_getirq(box.avr, AVR_IOCTL_IOPORT_GETIRQ('B'), IOPORT_IRQ_REG_PORT), port_b_changes, 0);
    uint32_t flags = 0;
    avr_ioctl(box.avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
    return true;
}

void board_power_up(bool is_brown_out)
{
    uint8_t *data = box.avr->data;
    avr_reset(box.avr);
    let_go_of_pins();
    is_write_enabled = false;
    if (is_brown_out) {
        for (int at = 0x100; at <= box.avr->ramend; at++)
            data[at] = rand();
        for (int at = 0; at < LAMP_BYTES; at++)
            lamp_chain[at] = rand();
        for (int at = 0; at < PANEL_BYTES; at++)
            panel_chain[at] = rand();
        latched = ((uint64_t)rand() << 31 | rand()) & ALL_LAMPS;
    }
    look_at_drivers();
}

void board_step(void)
{
    box.avr->run_cycle_limit = box.is_stepped ? 1 : HZ / 20000;
    int state = avr_run(box.avr);
    if (state == cpu_Done || state == cpu_Crashed) {
        fprintf(stderr, "the processor stopped at %#x\n", box.avr->pc);
        exit(3);
    }
    look_for_reset();
    look_at_drivers();
}

void board_made(uint8_t bytes[MADE_BYTES])
{
    avr_eeprom_desc_t whole = {.ee = bytes, .offset = 0, .size = MADE_BYTES};
    avr_ioctl(box.avr, AVR_IOCTL_EEPROM_GET, &whole);
}

void board_set_made(const uint8_t bytes[MADE_BYTES])
{
    avr_eeprom_desc_t whole = {.ee = (uint8_t *)bytes, .offset = 0, .size = MADE_BYTES};
    avr_ioctl(box.avr, AVR_IOCTL_EEPROM_SET, &whole);
}

uint64_t board_cycles(void)
{
    return box.avr->cycle;
}

double board_seconds(void)
{
    return (double)board_cycles() / HZ;
}

uint16_t board_crc(const uint8_t *bytes, int length)
{
    uint16_t crc = 0xFFFF;
    while (length--) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xA001 : crc >> 1;
    }
    return crc;
}
