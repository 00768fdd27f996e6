// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve.hpp.
#include "serve.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace heapwright::harness {

namespace {

struct Head {
    std::uint32_t bytes;
    std::uint32_t arguments;
    std::uint32_t variables;
};

constexpr std::uint32_t mostBytes = 1U << 28;

struct Request {
    std::string text;
    std::vector<char*> arguments; ///< each list ends with null
    std::vector<char*> variables;
    int descriptor = -1;
};

bool readAll(int descriptor, char* to, std::size_t size) {
    while (size > 0) {
        const ssize_t got = read(descriptor, to, size);
        if (got <= 0 && !(got < 0 && errno == EINTR)) {
            return false;
        }
        const std::size_t step = got > 0 ? static_cast<std::size_t>(got) : 0;
        to += step;
        size -= step;
    }
    return true;
}

/// The head, and the descriptor that comes with its first byte.
bool readHead(int socket, Head& head, int& passed) {
    iovec place{&head, sizeof head};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &place;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = 0;
    do {
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    const cmsghdr* const sent = got > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
    if (sent == nullptr || sent->cmsg_type != SCM_RIGHTS) {
        return false;
    }
    std::memcpy(&passed, CMSG_DATA(sent), sizeof passed);
    const auto first = static_cast<std::size_t>(got);
    return readAll(socket, reinterpret_cast<char*>(&head) + first, sizeof head - first);
}

/// Points at each text, so many of them; null where the next one would begin if there are fewer.
char* pointAtEach(std::vector<char*>& list, std::uint32_t count, char* at, const char* end) {
    for (std::uint32_t index = 0; index < count && at != nullptr; ++index) {
        char* const zero =
            static_cast<char*>(std::memchr(at, 0, static_cast<std::size_t>(end - at)));
        list.push_back(at);
        at = zero != nullptr ? zero + 1 : nullptr;
    }
    list.push_back(nullptr);
    return at;
}

bool readRequest(int socket, Request& request) {
    Head head{};
    if (!readHead(socket, head, request.descriptor) || head.bytes > mostBytes) {
        return false;
    }
    request.text.resize(head.bytes);
    if (!readAll(socket, request.text.data(), head.bytes)) {
        return false;
    }
    char* const begin = request.text.data();
    const char* const end = begin + head.bytes;
    char* const after = pointAtEach(request.arguments, head.arguments, begin, end);
    return after != nullptr &&
           pointAtEach(request.variables, head.variables, after, end) != nullptr;
}

/// In the new process: what a program that is executed finds, and no trace of the server.
void beginAnew(int socket, Request& request) {
    setsid();
    dup2(request.descriptor, 2);
    close(request.descriptor);
    close(socket);
    environ = request.variables.data();
}

} // namespace

int serve(int descriptor, Once once) {
    const int socket = fcntl(descriptor, F_DUPFD_CLOEXEC, 3); // above the standard streams
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, descriptor);
    close(nothing);
    for (;;) {
        Request request;
        if (socket < 0 || !readRequest(socket, request)) {
            return 0;
        }
        while (waitpid(-1, nullptr, WNOHANG) >
               0) { // its result was its end; its number is free now
        }
        const pid_t pid = fork();
        if (pid == 0) {
            beginAnew(socket, request);
            const auto count = static_cast<int>(request.arguments.size()) - 1;
            _exit(once(count, request.arguments.data()));
        }
        const std::int32_t answer = pid > 0 ? pid : -errno;
        close(request.descriptor);
        if (send(socket, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer) {
            return 0;
        }
    }
}

} // namespace heapwright::harness
