/* The events of the profile B core, as packets and as they go over a UART: a line is the event's number and the map of its
 * values in hexadecimal. */
#include "../../firmware/profile-b/mcpx_b.h"
#include "lines.h"
#include "pins.h"

static void say(char *line)
{
    uint8_t *at = mcpx_b_event((uint8_t)atoi(strtok(line, " ")));
    uint8_t length = mcpx_b_seal(at + from_hex(strtok(NULL, " "), at, MCPX_B_EVENT_VALUES));
    print_hex(mcpx_b_out, length);
    mcpx_b_send(length);
    printf(" ");
    print_hex(sent, sent_length);
}

int main(void)
{
    return for_every_line(say);
}
