/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ends in the way of the argument, with one object of 1000 bytes that was used at once, and one of
 * 500 after it.
 */
#include "use.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(void) {
    const pid_t process = fork();
    if (process == 0) {
        for (int i = 0; i < 100; ++i) {
            use(malloc(10000));
        }
        _exit(0);
    }
    waitpid(process, NULL, 0);
}

int main(int count, char** words) {
    const char* const way = count > 1 ? words[1] : "nothing";
    if (strcmp(way, "nothing") == 0) {
        return 0;
    }
    use(malloc(1000));
    use(malloc(500));
    if (strcmp(way, "status") == 0) {
        return 3;
    } else if (strcmp(way, "abort") == 0) {
        abort();
    } else if (strcmp(way, "child") == 0) {
        child();
    } else if (strcmp(way, "exec") == 0) {
        execl("/bin/true", "true", (char*)NULL);
    } else if (strcmp(way, "_exit") == 0) {
        _exit(0);
    } else if (strcmp(way, "forever") == 0) {
        for (;;) {
            use(&count);
        }
    }
    return 0;
}
