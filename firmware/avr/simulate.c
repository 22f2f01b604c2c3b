/* Runs a firmware image in simavr with its line on a Unix socket, no faster than the chip would:
 * `simulate ELF SOCKET-PATH uart|spi`. Waits for one connection before it starts, ends with it, and then prints how
 * many bytes of stack were used. With `spi`, the socket carries transactions: how many bytes (two bytes, high one
 * first), and the bytes. Chip select goes down before the first and up after the last; for each one comes back. */
#define _GNU_SOURCE
#include <simavr/avr_adc.h>
#include <simavr/avr_ioport.h>
#include <simavr/avr_spi.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FREQUENCY 16000000
#define PAINT 0xA5
#define SENSOR_MILLIVOLTS 2500
/* Between two bytes fed in: a byte at 38400 baud; what spec/devices.md leaves an SPI stub. */
#define UART_CYCLES (FREQUENCY / 3840)
#define SPI_CYCLES (FREQUENCY / 1000000 * 40)

static avr_t *avr;
static int line = -1;
static int is_spi;
static avr_irq_t *input, *chip_select, *sensor;

static void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static int accept_one(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int door = socket(AF_UNIX, SOCK_STREAM, 0), peer;
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        give_up(path);
    }
    strcpy(address.sun_path, path);
    if (bind(door, (struct sockaddr *)&address, sizeof address) != 0 || listen(door, 1) != 0)
        give_up(path);
    peer = accept(door, NULL, NULL);
    if (peer < 0)
        give_up("accept");
    close(door);
    return peer;
}

static void send_out(struct avr_irq_t *irq, uint32_t value, void *param)
{
    uint8_t byte = (uint8_t)value;
    (void)irq;
    (void)param;
    if (write(line, &byte, 1) != 1 && errno != EPIPE && errno != ECONNRESET)
        give_up("write");
}

static void feed_sensor(struct avr_irq_t *irq, uint32_t value, void *param)
{
    (void)irq;
    (void)value;
    (void)param;
    avr_raise_irq(sensor, SENSOR_MILLIVOLTS);
}

/* The simulator would sleep here; we are paced by the loop below. */
static void no_sleep(struct avr_t *one, avr_cycle_count_t cycles)
{
    (void)one;
    (void)cycles;
}

static void connect_pins(void)
{
    uint32_t flags = 0;
    avr_irq_t *output;
    if (is_spi) {
        input = avr_io_getirq(avr, AVR_IOCTL_SPI_GETIRQ(0), SPI_IRQ_INPUT);
        output = avr_io_getirq(avr, AVR_IOCTL_SPI_GETIRQ(0), SPI_IRQ_OUTPUT);
        chip_select = avr_io_getirq(avr, AVR_IOCTL_IOPORT_GETIRQ('B'), 2);
        avr_raise_irq(chip_select, 1);
    } else {
        avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
        input = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_INPUT);
        output = avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT);
    }
    avr_irq_register_notify(output, send_out, NULL);
    sensor = avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0);
    avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER), feed_sensor, NULL);
}

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What a byte from the line is on SPI: part of a transaction's length, or the next one clocked in. */
static void clock_in(uint8_t byte)
{
    static unsigned left, length_bytes;
    if (length_bytes < 2) {
        /* Up for as long as two bytes take: the last one has been fetched by now. */
        avr_raise_irq(chip_select, 1);
        left = left << 8 | byte;
        length_bytes++;
        if (length_bytes == 2)
            avr_raise_irq(chip_select, left == 0);
    } else {
        avr_raise_irq(input, byte);
        left--;
    }
    if (length_bytes == 2 && left == 0)
        length_bytes = 0;
}

/* Takes a byte from the line if the chip may have its next one; 0 where the line is closed. */
static int feed(void)
{
    static avr_cycle_count_t next;
    uint8_t byte;
    ssize_t got;
    if (avr->cycle < next)
        return 1;
    got = recv(line, &byte, 1, MSG_DONTWAIT);
    if (got == 0)
        return 0;
    if (got < 0)
        return errno == EAGAIN;
    if (is_spi)
        clock_in(byte);
    else
        avr_raise_irq(input, byte);
    next = avr->cycle + (is_spi ? SPI_CYCLES : UART_CYCLES);
    return 1;
}

/* The stack grows down from the end of RAM: used is what lies above the first 32 painted bytes in a row. */
static unsigned stack_used(void)
{
    unsigned at = avr->ramend, run = 0;
    while (at > 0x100 && run < 32)
        run = avr->data[at--] == PAINT ? run + 1 : 0;
    return avr->ramend - at - run;
}

static void run(void)
{
    double began = now_seconds();
    for (;;) {
        avr_cycle_count_t until = avr->cycle + FREQUENCY / 10000;
        double ahead;
        while (avr->cycle < until) {
            int state = avr_run(avr);
            if (state == cpu_Done || state == cpu_Crashed) {
                fputs("simulate: the firmware has stopped\n", stderr);
                exit(1);
            }
        }
        if (!feed())
            return;
        ahead = (double)avr->cycle / FREQUENCY - (now_seconds() - began);
        if (ahead > 0.001) {
            struct pollfd one = { .fd = line, .events = POLLIN };
            poll(&one, 1, (int)(ahead * 1000));
        }
    }
}

int main(int count, char **arguments)
{
    elf_firmware_t firmware = { 0 };
    if (count != 4) {
        fputs("usage: simulate ELF SOCKET-PATH uart|spi\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    is_spi = strcmp(arguments[3], "spi") == 0;
    if (elf_read_firmware(arguments[1], &firmware) != 0)
        give_up(arguments[1]);
    avr = avr_make_mcu_by_name("atmega328p");
    if (!avr)
        give_up("atmega328p");
    avr_init(avr);
    avr->log = LOG_ERROR;
    firmware.frequency = FREQUENCY;
    firmware.vcc = firmware.avcc = firmware.aref = 5000;
    avr_load_firmware(avr, &firmware);
    avr->frequency = FREQUENCY;
    avr->sleep = no_sleep;
    memset(avr->data + 0x100, PAINT, avr->ramend - 0x100 + 1);
    connect_pins();
    line = accept_one(arguments[2]);
    run();
    printf("{\"stack\": %u}\n", stack_used());
    return 0;
}
