// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a program sees of its signal handlers, with which others run between; and stacks made by
// one.
#define _GNU_SOURCE
#include "scenes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>

// --- what the program sees -----------------------------------------------------------------------

static volatile sig_atomic_t seen = 0;
static void* volatile seen_context;
static volatile int seen_code;
static void plain(int number) {
    seen = number;
}
static void other(int number) {
    seen = -number;
}
static void informed(int number, siginfo_t* info, void* context) {
    seen = info->si_signo == number ? number : 0;
    seen_code = info->si_code;
    seen_context = context;
}

static struct sigaction asked(int number) {
    struct sigaction action;
    CHECK(sigaction(number, NULL, &action) == 0);
    return action;
}

static int masks(int number, int other_number) {
    const struct sigaction action = asked(number);
    return sigismember(&action.sa_mask, other_number);
}

static void answers(void) {
    struct sigaction action;
    struct sigaction old;
    CHECK(asked(SIGUSR1).sa_handler == SIG_DFL);
    memset(&action, 0, sizeof action);
    action.sa_handler = &plain;
    sigaddset(&action.sa_mask, SIGHUP);
    CHECK(sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == SIG_DFL);
    CHECK(asked(SIGUSR1).sa_handler == &plain && (asked(SIGUSR1).sa_flags & SA_SIGINFO) == 0);
    CHECK(masks(SIGUSR1, SIGHUP) == 1);
    raise(SIGUSR1);
    CHECK(seen == SIGUSR1);

    action.sa_sigaction = &informed;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    CHECK(sigaction(SIGUSR1, &action, &old) == 0 && old.sa_handler == &plain);
    CHECK((old.sa_flags & SA_SIGINFO) == 0);
    old = asked(SIGUSR1);
    CHECK(old.sa_sigaction == &informed && (old.sa_flags & SA_SIGINFO) &&
          (old.sa_flags & SA_ONSTACK));
    seen = 0;
    CHECK(sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 5}) == 0);
    CHECK(seen == SIGUSR1 && seen_code == SI_QUEUE && seen_context != NULL);

    // What was answered can be set again.
    CHECK(sigaction(SIGUSR1, &old, NULL) == 0 && asked(SIGUSR1).sa_sigaction == &informed);

    // Once.
    action.sa_handler = &plain;
    action.sa_flags = (int)SA_RESETHAND;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    raise(SIGUSR2);
    CHECK(seen == SIGUSR2 && asked(SIGUSR2).sa_handler == SIG_DFL);

    // signal and its kin.
    CHECK(signal(SIGUSR1, &plain) == (void (*)(int))(void*)&informed);
    CHECK(signal(SIGUSR1, &other) == &plain && (asked(SIGUSR1).sa_flags & SA_RESTART));
    CHECK(masks(SIGUSR1, SIGUSR1) == 1);
    raise(SIGUSR1);
    CHECK(seen == -SIGUSR1);
    CHECK(siginterrupt(SIGUSR1, 1) == 0 && (asked(SIGUSR1).sa_flags & SA_RESTART) == 0);
    CHECK(asked(SIGUSR1).sa_handler == &other);
    CHECK(signal(SIGUSR1, &plain) == &other && (asked(SIGUSR1).sa_flags & SA_RESTART) == 0);
    CHECK(siginterrupt(SIGUSR1, 0) == 0 && (asked(SIGUSR1).sa_flags & SA_RESTART) != 0);
    CHECK(signal(SIGUSR1, SIG_IGN) == &plain && asked(SIGUSR1).sa_handler == SIG_IGN);
    raise(SIGUSR1);
    CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
    extern void (*sysv_signal(int, void (*)(int)))(int);
    CHECK(sysv_signal(SIGUSR1, &plain) == SIG_DFL);
    old = asked(SIGUSR1);
    CHECK(old.sa_handler == &plain && (old.sa_flags & SA_NODEFER) &&
          (old.sa_flags & (int)SA_RESETHAND));
    raise(SIGUSR1);
    CHECK(asked(SIGUSR1).sa_handler == SIG_DFL);

    extern void (*sigset(int, void (*)(int)))(int);
    void (*const hold)(int) = (void (*)(int))2;
    CHECK(sigset(SIGUSR1, &plain) == SIG_DFL && asked(SIGUSR1).sa_handler == &plain);
    CHECK(sigset(SIGUSR1, hold) == &plain);
    seen = 0;
    raise(SIGUSR1);
    CHECK(seen == 0);
    CHECK(sigset(SIGUSR1, &other) == hold && seen == -SIGUSR1); // it came when it was let in

    // What is refused changes nothing.
    errno = 0;
    CHECK(signal(SIGKILL, &plain) == SIG_ERR && errno == EINVAL);
    errno = 0;
    CHECK(signal(0, &plain) == SIG_ERR && errno == EINVAL);
    errno = 0;
    CHECK(signal(4711, &plain) == SIG_ERR && errno == EINVAL);
    errno = 0;
    CHECK(sigaction(SIGSTOP, &action, NULL) == -1 && errno == EINVAL);
    errno = 0;
    CHECK(sigaction(-1, NULL, &old) == -1 && errno == EINVAL);
    CHECK(asked(SIGUSR1).sa_handler == &other);
    errno = 5;
    CHECK(signal(SIGUSR1, &other) == &other && errno == 5);

    // The C library sets and restores what it finds.
    CHECK(signal(SIGINT, &plain) == SIG_DFL);
    CHECK(system("exit 3") == 3 << 8);
    CHECK(asked(SIGINT).sa_handler == &plain);
    seen = 0;
    raise(SIGINT);
    CHECK(seen == SIGINT);
    const pid_t child = fork();
    if (child == 0) {
        seen = 0;
        raise(SIGINT);
        _exit(seen == SIGINT ? 0 : 1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

// --- children of vfork, which share all memory ---------------------------------------------------

static atomic_long handled_in_parent;
static atomic_bool over;

static void parents_handler(int number) {
    (void)number;
    free(malloc(200));
    atomic_fetch_add(&handled_in_parent, 1);
}

static void* sending(void* parent) {
    while (!atomic_load(&over)) {
        pthread_kill(*(pthread_t*)parent, SIGUSR1);
        raise(SIGPIPE);
        free(malloc(3000));
        usleep(50);
    }
    return NULL;
}

static void vforks(void) {
    install(SIGUSR1, &parents_handler, SA_RESTART);
    install(SIGPIPE, &parents_handler, SA_RESTART);
    pthread_t self = pthread_self();
    pthread_t sender;
    CHECK(pthread_create(&sender, NULL, &sending, &self) == 0);
    for (long i = 0; i < count; ++i) {
        const pid_t child = vfork();
        if (child == 0) {
            signal(SIGPIPE, SIG_DFL);
            signal(SIGUSR1, SIG_IGN);
            struct sigaction action;
            memset(&action, 0, sizeof action);
            action.sa_handler = SIG_DFL;
            sigaction(SIGUSR1, &action, NULL);
            execl("/bin/true", "true", (char*)NULL);
            _exit(9);
        }
        int status = 0;
        while (waitpid(child, &status, 0) != child) {
        }
        CHECK(status == 0);
        CHECK(asked(SIGPIPE).sa_handler == &parents_handler);
        CHECK(asked(SIGUSR1).sa_handler == &parents_handler);
    }
    atomic_store(&over, 1);
    pthread_join(sender, NULL);
    CHECK(atomic_load(&handled_in_parent) > 0);
}

// --- coroutines made with an alternate stack -----------------------------------------------------

enum { COROUTINES = 8, STACK = 256 * 1024 };
static sigjmp_buf scheduler, started[COROUTINES];
static char* stacks[COROUTINES];
static volatile int being_made;
static volatile long turns[COROUTINES];

static void coroutine(int number) {
    struct object* volatile held = NULL;
    for (;;) {
        if (held != NULL) {
            unmade(held);
        }
        held = made(some_size((uint32_t)turns[number]), (uintptr_t)number);
        turns[number] = turns[number] + 1;
        if (sigsetjmp(started[number], 1) == 0) {
            siglongjmp(scheduler, 1);
        }
    }
}

static void making_handler(int unused) {
    (void)unused;
    const volatile int number = being_made;
    if (sigsetjmp(started[number], 1) == 0) {
        return; // the stack is left as it is, to be jumped back into
    }
    coroutine(number);
}

static void plain_handler(int number) {
    (void)number;
    unmade(made(100, 0x33));
}

static void coroutines(void) {
    for (int i = 0; i < COROUTINES; ++i) {
        stacks[i] = malloc(STACK);
        CHECK(stacks[i] != NULL);
        const stack_t alternate = {.ss_sp = stacks[i], .ss_size = STACK, .ss_flags = 0};
        const stack_t none = {.ss_sp = NULL, .ss_size = 0, .ss_flags = SS_DISABLE};
        being_made = i;
        install(SIGUSR1, &making_handler, SA_ONSTACK);
        CHECK(sigaltstack(&alternate, NULL) == 0);
        raise(SIGUSR1);
        CHECK(sigaltstack(&none, NULL) == 0);
    }
    install(SIGUSR2, &plain_handler, SA_NODEFER);
    for (volatile long i = 0; i < count; ++i) {
        if (sigsetjmp(scheduler, 1) == 0) {
            siglongjmp(started[i % COROUTINES], 1);
        }
        if (i % 7 == 0) {
            raise(SIGUSR2);
        }
    }
    for (int i = 0; i < COROUTINES; ++i) {
        CHECK(turns[i] >= count / COROUTINES);
    }
}

int main(int argc, char** argv) {
    static const struct scene scenes[] = {
        {"answers", &answers}, {"coroutines", &coroutines}, {"vforks", &vforks}};
    return play(scenes, sizeof scenes / sizeof *scenes, argc, argv);
}
