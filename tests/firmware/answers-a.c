/* What the profile A stub answers: a line is the bytes it hears, in hexadecimal. */
#include "../../firmware/profile-a/mcpx_a.h"
#include "lines.h"
#include "pins.h"

static void hear(char *line)
{
    static uint8_t bytes[LINE_MAX_CHARS / 2];
    unsigned at, length = line ? from_hex(line, bytes, sizeof bytes) : 0;
    for (at = 0; at < length; at++)
        mcpx_a_take(bytes[at]);
    print_hex(sent, sent_length);
}

int main(void)
{
    return for_every_line(hear);
}
