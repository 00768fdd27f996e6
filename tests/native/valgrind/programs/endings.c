/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * endings HOW: `forever` allocates without end. `status` exits with 3 and a message. `abort`
 * aborts. `children` allocates in children too, forked and executed, and prints the number of its
 * own operations. `nothing` never allocates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void use(int times) {
    for (int i = 0; i < times; ++i) {
        char* volatile object = malloc(32);
        object[0] = 1;
        free(object);
    }
}

static void say(int stream, const char* text) {
    if (write(stream, text, strlen(text)) < 0) {
        _exit(9);
    }
}

int main(int words, char** word) {
    const char* const how = words > 1 ? word[1] : "";
    if (strcmp(how, "nothing") == 0) {
        return 0;
    }
    use(10);
    while (strcmp(how, "forever") == 0) {
        use(10);
    }
    if (strcmp(how, "status") == 0) {
        say(2, "this is why\n");
        return 3;
    }
    if (strcmp(how, "abort") == 0) {
        abort();
    }
    if (strcmp(how, "children") == 0) {
        for (int i = 0; i < 2; ++i) {
            const pid_t child = fork();
            if (child == 0) {
                use(1000);
                if (i == 0) {
                    execl(word[0], word[0], "again", (char*)NULL);
                }
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
        say(1, "words before\n{\"workload\": \"endings\", \"operations\": 20}\n");
    }
    return 0;
}
