/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: holds a process at its end, after its own destructors, so that another process can
 * read its memory. It connects to the socket that HEAPWRIGHT_HOLD names, and waits until the
 * listener closes the connection. It allocates nothing. Without a listener, the process ends as
 * usual. `_exit` and signals bypass it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int connectTo(const char* path) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address.sun_path) {
        return -1;
    }
    strcpy(address.sun_path, path);
    const int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (line >= 0 && connect(line, (const struct sockaddr*)&address, sizeof address) != 0) {
        close(line);
        return -1;
    }
    return line;
}

__attribute__((destructor)) static void hold(void) {
    const int before = errno;
    const char* const path = getenv("HEAPWRIGHT_HOLD");
    const int line = path != NULL ? connectTo(path) : -1;
    if (line >= 0) {
        /* Needed on systems where only a parent may trace a process. */
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        struct timespec now = {0, 0};
        clock_gettime(CLOCK_REALTIME, &now);
        const int64_t said[2] = {getpid(), (int64_t)now.tv_sec * 1000000000 + now.tv_nsec};
        char answer = 0;
        if (write(line, said, sizeof said) == (ssize_t)sizeof said) {
            while (read(line, &answer, 1) < 0 && errno == EINTR) {
            }
        }
        close(line);
    }
    errno = before;
}
