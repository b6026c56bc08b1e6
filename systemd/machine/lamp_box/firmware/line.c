#include "line.h"

#include <avr/interrupt.h>
#include <avr/io.h>
#include <util/atomic.h>

#include "board.h"
#include "clock.h"
#include "crc.h"

#define BAUD 115200UL
/* Timer 0 counts in 17 us; 3.5 characters stand for 1.75 ms above 19200 baud. */
#define SILENT_COUNTS (F_CPU / 256 * 1800 / 1000000)
#define BROKEN_OFF_MS 12 /* an adapter on USB may pause inside a frame; the map permits 20 */

uint8_t reply[FRAME_BYTES];

static uint8_t frame[FRAME_BYTES];
static volatile uint16_t received;
static volatile bool is_spoilt, is_busy;
static volatile uint32_t heard_ms;
static volatile uint16_t to_send, sent;

static void restart_silence(void)
{
    TCNT0 = 0;
    TIFR0 = 1 << OCF0A;
}

ISR(USART0_RX_vect)
{
    uint8_t status = UCSR0A;
    uint8_t byte = UDR0;
    if (is_busy)
        return;
    restart_silence();
    heard_ms = clock_ms();
    if (status & (1 << FE0 | 1 << DOR0) || received == FRAME_BYTES)
        is_spoilt = true;
    else
        frame[received++] = byte;
}

ISR(USART0_UDRE_vect)
{
    UDR0 = reply[sent++];
    if (sent == to_send)
        UCSR0B &= (uint8_t)~(1 << UDRIE0);
}

ISR(USART0_TX_vect)
{
    if (sent < to_send)
        return;
    PORTD &= (uint8_t)~(1 << LINE_DRIVE);
    line_listen();
}

void line_start(void)
{
    OCR0A = SILENT_COUNTS;
    TCCR0B = 1 << CS02;
    UBRR0 = F_CPU / 16 / BAUD - 1;
    UCSR0C = 1 << UCSZ01 | 1 << UCSZ00;
    UCSR0B = 1 << RXEN0 | 1 << TXEN0 | 1 << RXCIE0 | 1 << TXCIE0;
    line_listen();
}

void line_listen(void)
{
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        received = 0;
        is_spoilt = is_busy = false;
    }
}

static bool is_sound(uint16_t length)
{
    return length >= 4 && frame_crc(frame, length) == 0;
}

uint16_t line_frame(const uint8_t **found)
{
    uint16_t length = 0;
    uint32_t quiet_ms = 0;
    bool is_silent;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        is_silent = !is_busy && (received || is_spoilt) && TIFR0 & 1 << OCF0A;
        if (is_silent) {
            length = is_spoilt ? 0 : received;
            quiet_ms = clock_ms() - heard_ms;
        }
    }
    if (!is_silent)
        return 0;
    static uint16_t judged; /* length that was found unsound: judge it once, not all the time */
    if (length && length != judged && is_sound(length)) {
        is_busy = true;
        judged = 0;
        *found = frame;
        return length;
    }
    judged = length;
    if (quiet_ms > BROKEN_OFF_MS) {
        judged = 0;
        line_listen();
    }
    return 0;
}

void line_reply(uint16_t length)
{
    uint16_t crc = frame_crc(reply, length);
    reply[length] = crc & 0xFF;
    reply[length + 1] = crc >> 8;
    sent = 0;
    to_send = length + 2;
    PORTD |= 1 << LINE_DRIVE;
    UCSR0B |= 1 << UDRIE0;
}
