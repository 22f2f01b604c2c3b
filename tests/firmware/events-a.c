/* The events of the profile A core: a line is the event's number and its payload in hexadecimal, `-` for none. Behind `h` the
 * stub has heard half a frame before. */
#include "../../firmware/profile-a/mcpx_a.h"
#include "lines.h"
#include "pins.h"

static void say(char *line)
{
    uint8_t bytes[256];
    char *word = strtok(line, " ");
    uint8_t event_id;
    unsigned length;
    if (word[0] == 'h') {
        mcpx_a_take(0x7E);
        word = strtok(NULL, " ");
    }
    event_id = (uint8_t)atoi(word);
    length = from_hex(strtok(NULL, " "), bytes, sizeof bytes);
    printf("%u ", mcpx_a_event(event_id, bytes, (uint8_t)length));
    print_hex(sent, sent_length);
}

int main(void)
{
    return for_every_line(say);
}
