/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A session whose memory is freed at once, but that also frees single objects before: Fibonacci
 * numbers of any length, in a separate reap inside that of the session. With a region all numbers
 * would stay until the end. */
#include <heapwright/c/reap.h>

#include <stdio.h>
#include <string.h>

/* A number in decimal digits, the last first. */
struct number {
    size_t length;
    char digits[];
};

static struct number* number_of(struct heapwright_reap* reap, size_t length) {
    struct number* const made = heapwright_reap_malloc(reap, sizeof *made + length);
    if (made != NULL) {
        made->length = length;
    }
    return made;
}

static struct number* sum(struct heapwright_reap* reap, const struct number* a,
                          const struct number* b) {
    struct number* const made = number_of(reap, b->length + 1); /* b is the longer one */
    if (made == NULL) {
        return NULL;
    }
    int carry = 0;
    for (size_t i = 0; i < b->length; ++i) {
        const int digit = b->digits[i] + (i < a->length ? a->digits[i] : 0) + carry;
        made->digits[i] = (char)(digit % 10);
        carry = digit / 10;
    }
    made->digits[b->length] = (char)carry;
    made->length -= carry == 0;
    return made;
}

/* The first and the last digits of the nth number, and what memory that took. */
static int show(struct heapwright_reap* session, int n) {
    struct heapwright_reap* const numbers = heapwright_reap_create(session);
    struct number* before = numbers == NULL ? NULL : number_of(numbers, 1);
    struct number* now = numbers == NULL ? NULL : number_of(numbers, 1);
    if (before == NULL || now == NULL) {
        return 0;
    }
    before->digits[0] = now->digits[0] = 1;
    for (int i = 2; i < n; ++i) {
        struct number* const next = sum(numbers, before, now);
        if (next == NULL) {
            return 0;
        }
        heapwright_reap_free(numbers, before); /* and it serves the number after the next */
        before = now;
        now = next;
    }
    const char* const digits = now->digits;
    printf("F(%d) has %zu digits: %d%d%d...%d%d%d\n", n, now->length, digits[now->length - 1],
           digits[now->length - 2], digits[now->length - 3], digits[2], digits[1], digits[0]);
    const size_t used = heapwright_reap_memory_used(numbers);
    printf("  in %s memory\n", used < 40000 ? "little" : "much");
    char* const note = heapwright_reap_malloc(session, 20);
    if (note != NULL) {
        snprintf(note, 20, "number %d", n);
        printf("  the session keeps \"%s\"\n", note);
    }
    heapwright_reap_destroy(numbers); /* or with the session */
    return 1;
}

int main(void) {
    struct heapwright_reap* const session = heapwright_reap_create(NULL);
    const int fine = session != NULL && show(session, 100) && show(session, 5000);
    heapwright_reap_destroy(session);
    return fine ? 0 : 1;
}
