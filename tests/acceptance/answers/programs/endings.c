/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A leak and a growth, each under several endings of the process. `leak-exit` loses blocks and
 * calls _exit; `growth-exit` keeps them in a list that a global pointer reaches.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "pace.h"

struct Node {
    struct Node* next;
    char content[1000];
};

static KEPT struct Node* list;

static PLACE void forget(void) {
    TAKE(sizeof(struct Node));
}

static PLACE void remember(void) {
    struct Node* node = (struct Node*)TAKE(sizeof *node);
    node->next = list;
    list = node;
}

static void work(int lose) {
    for (unsigned i = 0; i < 750; ++i) {
        serve(i);
        if (lose) {
            forget();
        } else {
            remember();
        }
        pace(2000);
    }
    wipe();
}

static void* work_on(void* lose) {
    work(lose != NULL);
    return NULL;
}

int main(int words, char** word) {
    if (words != 3) {
        return 2;
    }
    if (strcmp(word[2], "thread-exit") == 0) { /* the main thread ends before the other one */
        pthread_t other;
        void* const lose = strcmp(word[1], "leak") == 0 ? &list : NULL;
        pthread_create(&other, NULL, work_on, lose);
        pthread_exit(NULL);
    }
    work(strcmp(word[1], "leak") == 0);
    const char* ending = word[2];
    if (strcmp(ending, "_exit") == 0) {
        _exit(0);
    }
    if (strcmp(ending, "abort") == 0) {
        signal(SIGABRT, SIG_DFL);
        abort();
    }
    if (strcmp(ending, "term") == 0) {
        raise(SIGTERM);
    }
    if (strcmp(ending, "kill") == 0) {
        raise(SIGKILL);
    }
    if (strcmp(ending, "status") == 0) {
        return 3;
    }
    if (strcmp(ending, "free") == 0) {
        while (list != NULL) {
            struct Node* node = list;
            list = node->next;
            free(node);
        }
    }
    return 0;
}
