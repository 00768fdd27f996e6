/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records go to the second serial line, and the console to the first, so that neither breaks the
 * other's lines. A record is one line, written with one call. The host accepts a last line without
 * its end. Text is escaped as in JSON. Characters outside ASCII become question marks.
 */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 8192, TAIL = 64 };
static char line[ROOM];
static size_t used;
static int records = -1;
static uint64_t opened;

uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

void openRecords(void) {
    struct termios raw;
    records = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (records >= 0 && tcgetattr(records, &raw) == 0) {
        cfmakeraw(&raw);
        tcsetattr(records, TCSANOW, &raw);
    }
    opened = now();
}

static void put(char character) {
    if (used + TAIL < ROOM) {
        line[used++] = character;
    }
}

static void putQuoted(const char* text) {
    put('"');
    for (; *text != '\0'; ++text) {
        unsigned char character = (unsigned char)*text;
        if (character == '"' || character == '\\') {
            put('\\');
            put((char)character);
        } else {
            put(character >= ' ' && character < 0x7f ? (char)character : '?');
        }
    }
    put('"');
}

static void putName(const char* name) {
    if (used > 1) {
        put(',');
    }
    putQuoted(name);
    put(':');
}

void beginRecord(const char* kind) {
    used = 0;
    put('{');
    addText("record", kind);
    addNumber("at_ns", now() - opened);
}

void addNumber(const char* name, uint64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    putName(name);
    for (const char* at = digits; *at != '\0'; ++at) {
        put(*at);
    }
}

void addText(const char* name, const char* value) {
    putName(name);
    putQuoted(value);
}

void sendBytes(const char* bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t written = write(records, bytes + done, size - done);
        if (written < 0 && errno != EINTR) {
            break; /* the output is gone */
        }
        done += written > 0 ? (size_t)written : 0;
    }
}

void endRecord(void) {
    line[used++] = '}';
    line[used++] = '\n';
    sendBytes(line, used);
}

void fail(const char* what) {
    const char* why = strerror(errno);
    beginRecord("failure");
    addText("what", what);
    addText("why", why);
    endRecord();
    leave();
}

void leave(void) {
    tcdrain(records);
    sync();
    reboot(RB_AUTOBOOT); /* the host's machine does not restart */
    for (;;) {
        pause();
    }
}
