/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * System calls with lists of buffers. Each buffer is reported before the call and after it: the
 * kernel accesses it in between, while other threads continue.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

void heapwrightTouch(const void* address);

static void touchVector(const struct iovec* vector, size_t count) {
    for (size_t i = 0; vector != NULL && i < count; ++i) {
        if (vector[i].iov_len != 0) {
            heapwrightTouch(vector[i].iov_base);
        }
    }
}

static void touchMessage(const struct msghdr* message) {
    if (message == NULL) {
        return;
    }
    touchVector(message->msg_iov, message->msg_iovlen);
    heapwrightTouch(message->msg_name);
    heapwrightTouch(message->msg_control);
}

static void touchMessages(const struct mmsghdr* messages, unsigned count) {
    for (unsigned i = 0; messages != NULL && i < count; ++i) {
        touchMessage(&messages[i].msg_hdr);
    }
}

/* The next definition of the routine, looked up at the first call. */
static void* behind(const char* name, void** place) {
    if (*place == NULL) {
        *place = dlsym(RTLD_NEXT, name);
    }
    return *place;
}

#define VECTOR(name, parameters, types, arguments)                                                 \
    ssize_t name parameters {                                                                      \
        static void* place;                                                                        \
        ssize_t(*routine) types;                                                                   \
        void* const found = behind(#name, &place);                                                 \
        memcpy(&routine, &found, sizeof found);                                                    \
        touchVector(vector, count > 0 ? (size_t)count : 0);                                        \
        const ssize_t result = routine arguments;                                                  \
        touchVector(vector, count > 0 ? (size_t)count : 0);                                        \
        return result;                                                                             \
    }
#define VECTOR_AT(name)                                                                            \
    VECTOR(name, (int file, const struct iovec* vector, int count, off_t at),                      \
           (int, const struct iovec*, int, off_t), (file, vector, count, at))
#define VECTOR_AT_2(name)                                                                          \
    VECTOR(name, (int file, const struct iovec* vector, int count, off_t at, int flags),           \
           (int, const struct iovec*, int, off_t, int), (file, vector, count, at, flags))

VECTOR(readv, (int file, const struct iovec* vector, int count), (int, const struct iovec*, int),
       (file, vector, count))
VECTOR(writev, (int file, const struct iovec* vector, int count), (int, const struct iovec*, int),
       (file, vector, count))
VECTOR_AT(preadv)
VECTOR_AT(preadv64)
VECTOR_AT(pwritev)
VECTOR_AT(pwritev64)
VECTOR_AT_2(preadv2)
VECTOR_AT_2(preadv64v2)
VECTOR_AT_2(pwritev2)
VECTOR_AT_2(pwritev64v2)

#define MESSAGE(name, result_t, touch, parameters, types, arguments)                               \
    result_t name parameters {                                                                     \
        static void* place;                                                                        \
        result_t(*routine) types;                                                                  \
        void* const found = behind(#name, &place);                                                 \
        memcpy(&routine, &found, sizeof found);                                                    \
        touch;                                                                                     \
        const result_t result = routine arguments;                                                 \
        touch;                                                                                     \
        return result;                                                                             \
    }

MESSAGE(sendmsg, ssize_t, touchMessage(message),
        (int file, const struct msghdr* message, int flags), (int, const struct msghdr*, int),
        (file, message, flags))
MESSAGE(recvmsg, ssize_t, touchMessage(message), (int file, struct msghdr* message, int flags),
        (int, struct msghdr*, int), (file, message, flags))
MESSAGE(sendmmsg, int, touchMessages(messages, count),
        (int file, struct mmsghdr* messages, unsigned count, int flags),
        (int, struct mmsghdr*, unsigned, int), (file, messages, count, flags))
MESSAGE(recvmmsg, int, touchMessages(messages, count),
        (int file, struct mmsghdr* messages, unsigned count, int flags, struct timespec* timeout),
        (int, struct mmsghdr*, unsigned, int, struct timespec*),
        (file, messages, count, flags, timeout))
