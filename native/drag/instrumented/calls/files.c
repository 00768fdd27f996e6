/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads and writes of the program's objects by the system and by the C library's streams. They may
 * wait, so they are recorded when they return.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#undef fread_unlocked
#undef fwrite_unlocked

ssize_t pread64(int file, void* bytes, size_t size, off64_t at);
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at);
ssize_t __read_chk(int file, void* bytes, size_t size, size_t room);
ssize_t __recv_chk(int socket, void* bytes, size_t size, size_t room, int flags);
char* __fgets_chk(char* text, size_t room, int size, FILE* stream);
size_t __fread_chk(void* bytes, size_t room, size_t size, size_t count, FILE* stream);
ssize_t __getdelim(char** line, size_t* room, int end, FILE* stream);

#pragma GCC visibility push(default)

/* Result name(parameters), with bytes and a size. */
#define MOVES(Result, name, parameters, arguments)                                                 \
    Result name parameters {                                                                       \
        BEHIND(name);                                                                              \
        Result const result = next arguments;                                                      \
        touchSome(bytes, size);                                                                    \
        return result;                                                                             \
    }

MOVES(ssize_t, read, (int file, void* bytes, size_t size), (file, bytes, size))
MOVES(ssize_t, write, (int file, const void* bytes, size_t size), (file, bytes, size))
MOVES(ssize_t, pread, (int file, void* bytes, size_t size, off_t at), (file, bytes, size, at))
MOVES(ssize_t, pwrite, (int file, const void* bytes, size_t size, off_t at),
      (file, bytes, size, at))
MOVES(ssize_t, pread64, (int file, void* bytes, size_t size, off64_t at), (file, bytes, size, at))
MOVES(ssize_t, pwrite64, (int file, const void* bytes, size_t size, off64_t at),
      (file, bytes, size, at))
MOVES(ssize_t, __read_chk, (int file, void* bytes, size_t size, size_t room),
      (file, bytes, size, room))
MOVES(ssize_t, recv, (int socket, void* bytes, size_t size, int flags),
      (socket, bytes, size, flags))
MOVES(ssize_t, __recv_chk, (int socket, void* bytes, size_t size, size_t room, int flags),
      (socket, bytes, size, room, flags))
MOVES(ssize_t, send, (int socket, const void* bytes, size_t size, int flags),
      (socket, bytes, size, flags))
MOVES(size_t, fread, (void* bytes, size_t size, size_t count, FILE* stream),
      (bytes, size, count, stream))
MOVES(size_t, __fread_chk, (void* bytes, size_t room, size_t size, size_t count, FILE* stream),
      (bytes, room, size, count, stream))
MOVES(size_t, fread_unlocked, (void* bytes, size_t size, size_t count, FILE* stream),
      (bytes, size, count, stream))
MOVES(size_t, fwrite, (const void* bytes, size_t size, size_t count, FILE* stream),
      (bytes, size, count, stream))
MOVES(size_t, fwrite_unlocked, (const void* bytes, size_t size, size_t count, FILE* stream),
      (bytes, size, count, stream))

/* Result name(parameters), with a string as argument or result. */
#define READS(Result, name, parameters, arguments)                                                 \
    Result name parameters {                                                                       \
        BEHIND(name);                                                                              \
        Result const result = next arguments;                                                      \
        touch(text);                                                                               \
        return result;                                                                             \
    }

READS(int, puts, (const char* text), (text))
READS(int, fputs, (const char* text, FILE* stream), (text, stream))
READS(int, fputs_unlocked, (const char* text, FILE* stream), (text, stream))
READS(char*, fgets, (char* text, int size, FILE* stream), (text, size, stream))
READS(char*, fgets_unlocked, (char* text, int size, FILE* stream), (text, size, stream))
READS(char*, __fgets_chk, (char* text, size_t room, int size, FILE* stream),
      (text, room, size, stream))

static void touchPieces(const struct iovec* pieces, size_t count) {
    touchSome(pieces, count);
    for (size_t i = 0; i < count; ++i) {
        touchSome(pieces[i].iov_base, pieces[i].iov_len);
    }
}

#define MOVES_PIECES(name, parameters, arguments)                                                  \
    ssize_t name parameters {                                                                      \
        BEHIND(name);                                                                              \
        const ssize_t result = next arguments;                                                     \
        touchPieces(pieces, count > 0 ? (size_t)count : 0);                                        \
        return result;                                                                             \
    }

MOVES_PIECES(readv, (int file, const struct iovec* pieces, int count), (file, pieces, count))
MOVES_PIECES(writev, (int file, const struct iovec* pieces, int count), (file, pieces, count))
MOVES_PIECES(preadv, (int file, const struct iovec* pieces, int count, off_t at),
             (file, pieces, count, at))
MOVES_PIECES(pwritev, (int file, const struct iovec* pieces, int count, off_t at),
             (file, pieces, count, at))

#define MOVES_MESSAGE(name, Message)                                                               \
    ssize_t name(int socket, Message* message, int flags) {                                        \
        BEHIND(name);                                                                              \
        const ssize_t result = next(socket, message, flags);                                       \
        touch(message);                                                                            \
        touch(message->msg_name);                                                                  \
        touch(message->msg_control);                                                               \
        touchPieces(message->msg_iov, message->msg_iovlen);                                        \
        return result;                                                                             \
    }

MOVES_MESSAGE(recvmsg, struct msghdr)
MOVES_MESSAGE(sendmsg, const struct msghdr)

ssize_t recvfrom(int socket, void* bytes, size_t size, int flags, __SOCKADDR_ARG from,
                 socklen_t* length) {
    BEHIND(recvfrom);
    const ssize_t result = next(socket, bytes, size, flags, from, length);
    touchSome(bytes, size);
    touch(from.__sockaddr__);
    return result;
}

ssize_t sendto(int socket, const void* bytes, size_t size, int flags, __CONST_SOCKADDR_ARG to,
               socklen_t length) {
    BEHIND(sendto);
    const ssize_t result = next(socket, bytes, size, flags, to, length);
    touchSome(bytes, size);
    touch(to.__sockaddr__);
    return result;
}

/* The C library allocates the line for the caller. */
#define READS_LINE(name, parameters, arguments)                                                    \
    ssize_t name parameters {                                                                      \
        BEHIND(name);                                                                              \
        ON_BEHALF;                                                                                 \
        const ssize_t result = next arguments;                                                     \
        touch(line);                                                                               \
        touch(room);                                                                               \
        touch(*line);                                                                              \
        return result;                                                                             \
    }

READS_LINE(getline, (char** line, size_t* room, FILE* stream), (line, room, stream))
READS_LINE(getdelim, (char** line, size_t* room, int end, FILE* stream), (line, room, end, stream))
READS_LINE(__getdelim, (char** line, size_t* room, int end, FILE* stream),
           (line, room, end, stream))
