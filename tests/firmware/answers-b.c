/* What the profile B stub answers. A line is the packets it hears, separated by spaces: `p` before them hands them over
 * as they are, `u` as bytes of a UART, which is what the answers are then too. */
#include "../../firmware/profile-b/mcpx_b.h"
#include "lines.h"
#include "pins.h"

static void hear_packet(const char *word)
{
    uint8_t bytes[256];
    unsigned length = from_hex(word, bytes, sizeof bytes);
    if (length > MCPX_B_PACKET)
        return;
    memcpy(mcpx_b_in, bytes, length);
    print_hex(mcpx_b_out, mcpx_b_answer((uint8_t)length));
    printf(" ");
}

static void hear_bytes(const char *word)
{
    static uint8_t bytes[LINE_MAX_CHARS / 2];
    unsigned at, length = from_hex(word, bytes, sizeof bytes);
    for (at = 0; at < length; at++)
        mcpx_b_take(bytes[at]);
}

static void hear(char *line)
{
    char *word = strtok(line, " ");
    char how = word[0];
    if (how == 'u')
        mcpx_b_announce();
    while ((word = strtok(NULL, " ")))
        (how == 'u' ? hear_bytes : hear_packet)(word);
    if (how == 'u')
        print_hex(sent, sent_length);
}

int main(void)
{
    return for_every_line(hear);
}
