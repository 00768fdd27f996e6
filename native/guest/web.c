/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A small web server under load. Workers accept connections on a socket of the machine and read a
 * request of HTTP/1.0. They send a file of an ext4 file system, and append a line to a log. Clients
 * connect anew for each request, and compare the bytes of the answer with its stated length. The
 * sockets are of the family AF_UNIX, as between a proxy and its server: the kernel has no TCP.
 */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT = 512, PIECE = 16 << 10, LEAST = 200, MOST = 48 << 10, QUEUE = 64 };

static uint64_t pages;

static void nameOfPage(char* path, size_t room, uint64_t page) {
    snprintf(path, room, "pages/%03llu.html", (unsigned long long)page);
}

/* Most pages are small, as on most sites: the square of a uniform share of the largest size. */
static void makePages(void) {
    static char content[MOST];
    char path[TEXT];
    memset(content, 'x', sizeof content);
    if (mkdir("pages", 0755) != 0) {
        fail("the folder of the pages");
    }
    for (uint64_t page = 0; page < pages; ++page) {
        uint64_t share = draw(256);
        size_t size = LEAST + (size_t)(share * share * (MOST - LEAST) >> 16);
        nameOfPage(path, sizeof path, page);
        int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        if (file < 0 || write(file, content, size) != (ssize_t)size) {
            fail(path);
        }
        close(file);
    }
}

static struct sockaddr_un address(void) {
    struct sockaddr_un made = {.sun_family = AF_UNIX};
    strcpy(made.sun_path, "/tmp/web");
    return made;
}

static int listening(void) {
    struct sockaddr_un at = address();
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server < 0 || bind(server, (struct sockaddr*)&at, sizeof at) != 0 ||
        listen(server, QUEUE) != 0) {
        fail("the socket of the server");
    }
    return server;
}

/* Sends a text as a whole. Returns 0 or -1. */
static int say(int connection, const char* text, size_t size) {
    while (size > 0) {
        ssize_t sent = send(connection, text, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return -1;
        }
        text += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

static void answer(int connection, int log) {
    char request[TEXT];
    char text[TEXT];
    struct stat status;
    ssize_t got = read(connection, request, sizeof request - 1);
    request[got > 0 ? got : 0] = '\0';
    char* path = strchr(request, '/');
    int file = -1;
    if (path != NULL) {
        path[strcspn(path, " \r\n")] = '\0';
        file = open(path + 1, O_RDONLY | O_CLOEXEC);
    }
    if (file < 0 || fstat(file, &status) != 0) {
        static const char missing[] = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n";
        say(connection, missing, sizeof missing - 1);
        return;
    }
    size_t left = (size_t)status.st_size;
    int length =
        snprintf(text, sizeof text,
                 "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: %zu\r\n\r\n", left);
    int whole = say(connection, text, (size_t)length);
    while (whole == 0 && left > 0) {
        ssize_t sent = sendfile(connection, file, NULL, left);
        if (sent <= 0) {
            break;
        }
        left -= (size_t)sent;
    }
    close(file);
    length = snprintf(text, sizeof text, "GET %s 200 %zu\n", path, (size_t)status.st_size - left);
    if (write(log, text, (size_t)length) != length) {
        _exit(1);
    }
}

static _Noreturn void serve(int server) {
    int log = open("access.log", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int connection = accept4(server, NULL, NULL, SOCK_CLOEXEC);
        if (connection >= 0) {
            answer(connection, log);
            close(connection);
        }
    }
}

/* One request. Returns 0 if the answer has all bytes that it states. */
static int request(uint64_t page) {
    static char answered[PIECE];
    char text[TEXT];
    char path[TEXT / 2];
    struct sockaddr_un at = address();
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0 || connect(connection, (struct sockaddr*)&at, sizeof at) != 0) {
        return -1;
    }
    nameOfPage(path, sizeof path, page);
    int length = snprintf(text, sizeof text, "GET /%s HTTP/1.0\r\nHost: guest\r\n\r\n", path);
    say(connection, text, (size_t)length);
    size_t used = 0;
    size_t expected = 0;
    for (;;) {
        ssize_t got = read(connection, answered, sizeof answered - 1);
        if (got <= 0) {
            break;
        }
        if (used == 0) {
            answered[got] = '\0';
            const char* stated = strstr(answered, "Content-Length: ");
            const char* body = strstr(answered, "\r\n\r\n");
            if (strncmp(answered, "HTTP/1.0 200", 12) != 0 || stated == NULL || body == NULL) {
                break;
            }
            expected = (size_t)(body + 4 - answered) + strtoull(stated + 16, NULL, 10);
        }
        used += (size_t)got;
    }
    close(connection);
    return expected > 0 && used == expected ? 0 : -1;
}

static _Noreturn void ask(uint64_t client, uint64_t times) {
    seedDraws(number("seed", 1) + (client << 32));
    for (uint64_t at = 0; at < times; ++at) {
        /* The smaller of two draws: some pages are requested more often. */
        uint64_t one = draw(pages);
        uint64_t two = draw(pages);
        if (request(one < two ? one : two) != 0) {
            _exit(1);
        }
    }
    _exit(0);
}

/* A worker ends only if it fails. */
static void watch(const pid_t* workers, uint64_t count) {
    for (uint64_t at = 0; at < count; ++at) {
        if (waitpid(workers[at], NULL, WNOHANG) != 0) {
            errno = EIO;
            fail("a worker of the web server");
        }
    }
}

/* Samples until all clients ended. Returns how many of them failed. */
static uint64_t awaitClients(const pid_t* all, uint64_t workers, uint64_t count, uint64_t everyMs) {
    const pid_t* clients = all + workers;
    uint64_t failed = 0;
    for (uint64_t at = 0; at < count;) {
        int status = 0;
        watch(all, workers);
        pid_t ended = waitpid(clients[at], &status, WNOHANG);
        if (ended == clients[at]) {
            failed += status != 0;
            ++at;
        } else {
            usleep((useconds_t)(everyMs * 1000));
            sample("web");
        }
    }
    return failed;
}

void web(void) {
    uint64_t workers = number("workers", 4);
    uint64_t count = number("clients", 8);
    uint64_t times = number("requests", 100);
    pages = number("pages", 120);
    pid_t* all = calloc(workers + count, sizeof *all);
    if (all == NULL || chdir(mountStorage(number("storage_mib", 48))) != 0) {
        fail("the storage");
    }
    makePages();
    sample("pages");
    int server = listening();
    uint64_t begun = now();
    for (uint64_t at = 0; at < workers + count; ++at) {
        all[at] = fork();
        if (all[at] == 0) {
            if (at < workers) {
                serve(server);
            }
            close(server);
            ask(at - workers, times);
        }
        if (all[at] < 0) {
            fail("a process of the server or a client");
        }
    }
    close(server); /* so that a client without a worker ends, too */
    uint64_t failed = awaitClients(all, workers, count, number("sample_ms", 20));
    uint64_t ended = now();
    watch(all, workers);
    for (uint64_t at = 0; at < workers; ++at) {
        kill(all[at], SIGKILL);
        waitpid(all[at], NULL, 0);
    }
    if (failed > 0) {
        errno = EIO;
        fail("an answer of the web server");
    }
    beginRecord("phase");
    addText("phase", "served");
    addNumber("ns", ended - begun);
    endRecord();
    sample("served");
    free(all);
}
