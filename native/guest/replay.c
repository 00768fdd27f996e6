/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Has the kernel replay recorded allocation requests, and sends what it reports. The kernel must be
 * built with patches/linux-6.1/replay.patch. The host puts the requests into the initial files.
 */
#include "guest.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define REPLAY "/proc/heapwright_replay"
enum { ROOM = 128 };

/* Sends each line of the kernel's report. A report has one for each mark, without a limit. */
static void sendReport(void) {
    char line[ROOM];
    FILE* report = fopen(REPLAY, "re");
    if (report == NULL) {
        fail("the report of the replay");
    }
    while (fgets(line, sizeof line, report) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        beginRecord("output");
        addText("line", line);
        endRecord();
    }
    if (ferror(report) != 0) {
        fail("the report of the replay");
    }
    fclose(report);
}

void replay(void) {
    if (access(REPLAY, W_OK) != 0) {
        fail("this kernel was built without the replay");
    }
    if (writeText(REPLAY, "/replay.bin") != 0) {
        fail("the replay of /replay.bin");
    }
    sendReport();
}
