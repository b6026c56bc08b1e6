/* Modbus RTU requests of unit 1: functions 3, 6, 16 and 23. */
#ifndef MODBUS_H
#define MODBUS_H

#include <stdint.h>

/* Execute a frame with a right checksum; write the answer without its checksum into `answer` and
 * return its length, 0 for none. */
uint16_t modbus_answer(const uint8_t *frame, uint16_t length, uint8_t *answer);

#endif
