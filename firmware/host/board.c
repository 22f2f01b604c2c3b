/* The host as a board: the line is a Unix socket, the pins are variables. `PROGRAM SOCKET-PATH` waits for one
 * connection, runs as long as that lasts, and ends. SIGUSR1 closes its thermal switch, SIGUSR2 opens it. */
#define _POSIX_C_SOURCE 200809L
#include "../demo/board.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int line = -1;
static uint8_t led;
static volatile sig_atomic_t is_hot;

static void turn_switch(int number)
{
    is_hot = number == SIGUSR1;
}

/* Called before main with its arguments: the demonstration's main takes none. */
__attribute__((constructor)) static void open_line(int count, char **arguments)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    /* A signal does not end the wait for a byte. */
    struct sigaction turning = { .sa_handler = turn_switch, .sa_flags = SA_RESTART };
    int door = socket(AF_UNIX, SOCK_STREAM, 0);
    if (count != 2 || strlen(arguments[1]) >= sizeof address.sun_path) {
        fputs("usage: PROGRAM SOCKET-PATH\n", stderr);
        exit(2);
    }
    strcpy(address.sun_path, arguments[1]);
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGUSR1, &turning, NULL);
    sigaction(SIGUSR2, &turning, NULL);
    if (bind(door, (struct sockaddr *)&address, sizeof address) != 0 || listen(door, 1) != 0) {
        perror(arguments[1]);
        exit(1);
    }
    line = accept(door, NULL, NULL);
    close(door);
}

void board_start(void)
{
}

uint8_t board_read(void)
{
    uint8_t byte;
    if (read(line, &byte, 1) != 1)
        exit(0);
    return byte;
}

void board_write(uint8_t byte)
{
    if (write(line, &byte, 1) != 1)
        exit(0);
}

uint16_t board_sensor(void)
{
    return 2150;
}

void board_set_led(uint8_t is_on)
{
    led = is_on;
}

uint8_t board_led(void)
{
    return led;
}

void board_release(uint16_t amount)
{
    (void)amount;
}

uint8_t board_is_hot(void)
{
    return is_hot != 0;
}
