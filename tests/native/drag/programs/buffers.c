/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Objects whose last use is by the kernel. They are buffers, parts of lists of buffers, a path, and
 * memory that a system call fills in.
 */
#define _GNU_SOURCE
#include "use.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { count = 8, size = 200 };

static char* buffers[count];

static void fill(void) {
    use(malloc(300));
}

static ssize_t onMessage(ssize_t (*routine)(int, struct msghdr*, int), int file, void* buffer) {
    struct iovec part = {buffer, size};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    return routine(file, &message, 0);
}

static ssize_t sendIt(int file, struct msghdr* message, int flags) {
    return sendmsg(file, message, flags);
}

static int useThem(int null, int zero) {
    struct iovec two[2];
    int wrong = 0;
    fill();
    wrong += write(null, buffers[0], size) != size;
    fill();
    wrong += read(zero, buffers[1], size) != size;
    fill();
    two[0] = (struct iovec){&two, 8};
    two[1] = (struct iovec){buffers[2], size};
    wrong += writev(null, two, 2) != size + 8;
    fill();
    two[1].iov_base = buffers[3];
    wrong += readv(zero, two + 1, 1) != size;
    return wrong;
}

static int useOthers(const int* sockets) {
    int wrong = 0;
    fill();
    wrong += onMessage(sendIt, sockets[0], buffers[4]) != size;
    fill();
    wrong += onMessage(recvmsg, sockets[1], buffers[5]) != size;
    fill();
    wrong += access(buffers[6], F_OK) != 0;
    fill();
    wrong += stat("/dev/null", (struct stat*)(void*)buffers[7]) != 0;
    return wrong;
}

int main(void) {
    int sockets[2];
    const int null = open("/dev/null", O_WRONLY);
    const int zero = open("/dev/zero", O_RDONLY);
    if (null < 0 || zero < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) {
        return 1;
    }
    for (int i = 0; i < count; ++i) {
        buffers[i] = malloc(size);
        memcpy(buffers[i], "/dev/null", 10);
    }
    const int wrong = useThem(null, zero) + useOthers(sockets);
    for (int i = 0; i < count; ++i) {
        free(buffers[i]);
    }
    return wrong;
}
