/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kernel objects that user space can create and remove. Each kind uses its own mixture of caches
 * and general sizes. The caches are those of inodes, directory entries, files, sockets and their
 * buffers, tasks and their address spaces. A general size is that of the arrays of a pipe. A
 * created process sleeps until it is killed.
 */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

const char* nameOf(enum kind kind) {
    static const char* const names[KINDS] = {
        [FILE_OBJECT] = "file", [PIPE] = "pipe",  [SOCKETS] = "socketpair", [EVENT] = "eventfd",
        [TIMER] = "timerfd",    [POLL] = "epoll", [PROCESS] = "fork"};
    return names[kind];
}

void makeFolders(void) {
    char path[] = "/tmp/objects/00";
    mkdir("/tmp/objects", 0700);
    for (int at = 0; at < 16; ++at) {
        path[sizeof path - 2] = "0123456789abcdef"[at];
        if (mkdir(path, 0700) != 0) {
            fail(path);
        }
    }
}

static void pathOf(char* path, size_t room, uint32_t name) {
    snprintf(path, room, "/tmp/objects/%02x/%06x", name & 0xf, name);
}

static int makeFile(struct object* object) {
    static uint32_t names;
    static const char content[200];
    char path[64];
    object->name = names++;
    pathOf(path, sizeof path, object->name);
    object->one = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (object->one < 0) {
        return -1;
    }
    return write(object->one, content, sizeof content) < 0 && errno != ENOSPC ? -1 : 0;
}

static int makePair(struct object* object, enum kind kind) {
    static const char message[300];
    int ends[2];
    int made = kind == PIPE
                   ? pipe2(ends, O_CLOEXEC | O_NONBLOCK)
                   : socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
    if (made != 0) {
        return -1;
    }
    object->one = ends[0];
    object->two = ends[1];
    if (draw(2) == 0) { /* queued data takes kernel memory, too */
        return write(ends[1], message, sizeof message) < 0 ? -1 : 0;
    }
    return 0;
}

static int makeProcess(struct object* object) {
    object->one = fork();
    if (object->one == 0) {
        for (;;) {
            pause();
        }
    }
    return object->one < 0 ? -1 : 0;
}

int makeObject(struct object* object, enum kind kind) {
    int result = 0;
    *object = (struct object){.one = -1, .two = -1, .kind = (uint8_t)kind};
    switch (kind) {
    case FILE_OBJECT:
        result = makeFile(object);
        break;
    case PIPE:
    case SOCKETS:
        result = makePair(object, kind);
        break;
    case EVENT:
        object->one = eventfd(0, EFD_CLOEXEC);
        break;
    case TIMER:
        object->one = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        break;
    case POLL:
        object->one = epoll_create1(EPOLL_CLOEXEC);
        break;
    default:
        result = makeProcess(object);
    }
    object->live = object->one >= 0;
    if (result != 0 || !object->live) {
        int why = errno;
        removeObject(object);
        errno = why;
        return -1;
    }
    return 0;
}

void removeObject(struct object* object) {
    if (!object->live) {
        return;
    }
    object->live = 0;
    if (object->kind == PROCESS) {
        kill(object->one, SIGKILL);
        while (waitpid(object->one, NULL, 0) < 0 && errno == EINTR) {
        }
        return;
    }
    close(object->one);
    if (object->two >= 0) {
        close(object->two);
    }
    if (object->kind == FILE_OBJECT) {
        char path[64];
        pathOf(path, sizeof path, object->name);
        unlink(path);
    }
}
