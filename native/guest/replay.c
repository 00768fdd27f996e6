/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Has the kernel replay recorded allocation requests, and sends what it reports. The kernel must be
 * built with patches/linux-6.1/replay.patch. The host puts the requests into the initial files.
 */
#include "guest.h"

#include <string.h>

#define REPLAY "/proc/heapwright_replay"
enum { ROOM = 1 << 18 };

void replay(void) {
    static char report[ROOM];
    if (writeText(REPLAY, "/replay.bin") != 0) {
        fail("the replay of /replay.bin");
    }
    if (readText(REPLAY, report, sizeof report) <= 0) {
        fail(REPLAY);
    }
    char* rest = report;
    for (char* line = NULL; (line = strsep(&rest, "\n")) != NULL;) {
        if (*line != '\0') {
            beginRecord("output");
            addText("line", line);
            endRecord();
        }
    }
}
