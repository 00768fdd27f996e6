// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See serve.hpp.
#include "serve.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#ifndef MADV_POPULATE_WRITE // Linux 5.14
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

extern "C" const char __executable_start, etext, __data_start, end; // defined by the linker

namespace heapwright::runner {

namespace {

struct Head {
    std::uint32_t bytes;
    std::uint32_t arguments;
    std::uint32_t variables;
};

constexpr std::uint32_t mostBytes = 1U << 28;
constexpr std::ptrdiff_t stackOfARun = 64 << 10;

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

/// Reads the head, and the descriptor that comes with its first byte.
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

/// Stores pointers to `count` texts. Returns the position after them; null if there are fewer.
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

/// Touches the pages that a run will write and the code that it will execute, while no run is
/// measured. After a fork, each would otherwise cost the run a page fault.
void warmUp() {
    const auto populate = [](const void* from, const void* to, int how) {
        constexpr std::uintptr_t page = 4096;
        const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(from) & ~(page - 1);
        const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(to) + page - 1) & ~(page - 1);
        // On failure the pages fault later, as usual.
        madvise(reinterpret_cast<void*>(begin), end - begin, how);
    };
    const char* const frame = static_cast<const char*>(__builtin_frame_address(0));
    populate(&__executable_start, &etext, MADV_POPULATE_READ);
    populate(&__data_start, &end, MADV_POPULATE_WRITE);
    populate(&end, sbrk(0), MADV_POPULATE_WRITE);
    populate(frame - stackOfARun, frame, MADV_POPULATE_WRITE);
}

/// The process that stays and forks a spare process for each command.
class Server {
public:
    Server(int socket, void (*prepare)(), Once once)
        : socket_(socket), prepare_(prepare), once_(once) {
        sigset_t ends;
        sigemptyset(&ends);
        sigaddset(&ends, SIGCHLD);
        sigprocmask(SIG_BLOCK, &ends, &mask_);
        ended_ = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
    }

    void run() {
        int ends[2];
        if (socket_ < 0 || ended_ < 0 || pipe2(ends, O_CLOEXEC) != 0) {
            return;
        }
        taken_ = ends[0];
        take_ = ends[1];
        while (makeSpare() && awaitTaking() && awaitNeed()) {
        }
    }

private:
    /// Returns false if the client has closed the socket.
    bool makeSpare() {
        for (;;) {
            const pid_t self = getpid();
            spare_ = fork();
            if (spare_ == 0) {
                beSpare(self);
            }
            if (spare_ > 0) {
                return true;
            }
            const int error = errno;
            Request request;
            if (!readRequest(socket_, request)) {
                return false;
            }
            close(request.descriptor);
            if (!answer(-error)) {
                return false;
            }
        }
    }

    /// In the spare process: waits for a command and runs it.
    [[noreturn]] void beSpare(pid_t server) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // as long as it has no command
        if (getppid() != server) {
            _exit(0);
        }
        close(ended_);
        close(taken_);
        sigprocmask(SIG_SETMASK, &mask_, nullptr);
        setsid();
        warmUp();
        prepare_();
        Request request;
        if (!readRequest(socket_, request)) {
            _exit(0);
        }
        prctl(PR_SET_PDEATHSIG, 0);
        const char byte = 1;
        if (write(take_, &byte, 1) != 1 || !answer(getpid())) {
            _exit(0); // the client has gone, so a result is useless
        }
        beginAnew(request);
        const auto count = static_cast<int>(request.arguments.size()) - 1;
        _exit(once_(count, request.arguments.data()));
    }

    /// Restores the state that an executed program would find.
    void beginAnew(Request& request) const {
        dup2(request.descriptor, 2);
        close(request.descriptor);
        close(socket_);
        close(take_);
        environ = request.variables.data();
    }

    bool answer(std::int32_t number) const {
        return send(socket_, &number, sizeof number, MSG_NOSIGNAL) == sizeof number;
    }

    /// Waits until the spare process has a command. Returns false if the client has gone, or the
    /// spare has ended, perhaps with half a request. The client sees that from the end of this
    /// process.
    bool awaitTaking() {
        for (;;) {
            pollfd events[] = {{taken_, POLLIN, 0}, {socket_, 0, 0}, {ended_, POLLIN, 0}};
            if (poll(events, 3, -1) < 0) {
                continue;
            }
            char byte = 0;
            if ((events[0].revents & POLLIN) != 0 && read(taken_, &byte, 1) == 1) {
                // The client has the numbers of earlier runs already.
                while (waitpid(-1, nullptr, WNOHANG) > 0) {
                }
                return true;
            }
            siginfo_t dead{};
            if (waitid(P_PID, static_cast<id_t>(spare_), &dead, WEXITED | WNOHANG | WNOWAIT) != 0 ||
                dead.si_pid == spare_ || (events[1].revents & (POLLHUP | POLLERR)) != 0) {
                return false;
            }
            forgetEnds();
        }
    }

    /// Waits until a run is over, so that a new process is not forked during a measurement; or
    /// until there is another command. Returns false if the client has gone.
    bool awaitNeed() const {
        pollfd events[] = {{socket_, POLLIN, 0}, {ended_, POLLIN, 0}};
        while (poll(events, 2, -1) < 0) {
        }
        forgetEnds();
        return (events[0].revents & (POLLHUP | POLLERR)) == 0;
    }

    void forgetEnds() const {
        signalfd_siginfo info{};
        while (read(ended_, &info, sizeof info) == sizeof info) {
        }
    }

    int socket_;
    void (*prepare_)();
    Once once_;
    sigset_t mask_{};
    int ended_ = -1; ///< a process of the server has ended
    int taken_ = -1; ///< the spare process writes to it when it has a command
    int take_ = -1;
    pid_t spare_ = 0;
};

} // namespace

int serve(int descriptor, void (*prepare)(), Once once) {
    const int socket = fcntl(descriptor, F_DUPFD_CLOEXEC, 3); // above the standard streams
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, descriptor);
    close(nothing);
    Server(socket, prepare, once).run();
    return 0;
}

} // namespace heapwright::runner
