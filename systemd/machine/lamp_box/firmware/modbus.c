#include "modbus.h"

#include <stdbool.h>
#include <string.h>

#include "registers.h"

#define UNIT 1
#define NO_FUNCTION 0x80 /* codes from here on mark an exception reply */

enum { READ = 3, WRITE_ONE = 6, WRITE = 16, WRITE_READ = 23 };
enum { MOST_READ = 125, MOST_WRITTEN = 123, MOST_WRITTEN_AND_READ = 121 };

static uint16_t word(const uint8_t *at)
{
    return (uint16_t)at[0] << 8 | at[1];
}

static uint8_t read(uint16_t address, uint16_t count, uint8_t *answer, uint16_t *length)
{
    answer[2] = (uint8_t)(2 * count);
    *length = 3 + 2 * count;
    return registers_read(address, count, answer + 3);
}

/* True if address, count, byte count and words make a writing part of so many bytes. */
static bool is_writing(const uint8_t *part, uint16_t length, uint16_t most)
{
    uint16_t count = word(part + 2);
    return length == 5U + part[4] && part[4] == 2 * count && count > 0 && count <= most;
}

static uint8_t serve_read(const uint8_t *body, uint16_t length, uint8_t *answer, uint16_t *size)
{
    if (length != 4)
        return ILLEGAL_VALUE;
    uint16_t count = word(body + 2);
    if (!count || count > MOST_READ)
        return ILLEGAL_VALUE;
    return read(word(body), count, answer, size);
}

static uint8_t serve_write_one(const uint8_t *body, uint16_t length)
{
    return length == 4 ? registers_write(word(body), 1, body + 2) : ILLEGAL_VALUE;
}

static uint8_t serve_write(const uint8_t *body, uint16_t length, uint8_t *answer, uint16_t *size)
{
    if (length < 6 || !is_writing(body, length, MOST_WRITTEN))
        return ILLEGAL_VALUE;
    memcpy(answer + 2, body, 4);
    *size = 6;
    return registers_write(word(body), word(body + 2), body + 5);
}

static uint8_t serve_write_read(const uint8_t *body, uint16_t length, uint8_t *answer,
                                uint16_t *size)
{
    if (length < 10 || !is_writing(body + 4, length - 4, MOST_WRITTEN_AND_READ))
        return ILLEGAL_VALUE;
    uint16_t address = word(body), count = word(body + 2);
    if (!count || count > MOST_READ)
        return ILLEGAL_VALUE;
    uint8_t exception = registers_readable(address, count);
    if (!exception)
        exception = registers_write(word(body + 4), word(body + 6), body + 9);
    return exception ? exception : read(address, count, answer, size);
}

uint16_t modbus_answer(const uint8_t *frame, uint16_t length, uint8_t *answer)
{
    uint8_t function = frame[1];
    const uint8_t *body = frame + 2;
    uint16_t size = 2;
    uint8_t exception = ILLEGAL_FUNCTION;
    if (frame[0] != UNIT || function == 0 || function >= NO_FUNCTION)
        return 0;
    length -= 4;
    if (function == READ)
        exception = serve_read(body, length, answer, &size);
    else if (function == WRITE_ONE)
        exception = serve_write_one(body, length);
    else if (function == WRITE)
        exception = serve_write(body, length, answer, &size);
    else if (function == WRITE_READ)
        exception = serve_write_read(body, length, answer, &size);
    answer[0] = UNIT;
    answer[1] = function;
    if (!exception)
        return size;
    answer[1] |= NO_FUNCTION;
    answer[2] = exception;
    return 3;
}
