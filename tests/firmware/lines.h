/* A line in, a line out, and a fresh board for every one: the child of a fork. */
#ifndef LINES_H
#define LINES_H

#include "hex.h"

#include <sys/wait.h>
#include <unistd.h>

static void print_hex(const uint8_t *bytes, unsigned length)
{
    while (length--)
        printf("%02x", *bytes++);
}

/* Gives every line of standard input to `board` in a process of its own; exits with 1 where one of them failed. */
static int for_every_line(void (*board)(char *line))
{
    static char line[LINE_MAX_CHARS];
    while (fgets(line, sizeof line, stdin)) {
        int status;
        fflush(stdout);
        if (fork() == 0) {
            board(strtok(line, "\n"));
            printf("\n");
            exit(0);
        }
        wait(&status);
        if (status != 0)
            return 1;
    }
    return 0;
}

#endif
