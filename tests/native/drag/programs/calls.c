/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Objects whose last use is by a routine of the C library, one after the other, and objects that
 * such routines make for the program. Returns how many things went wrong.
 */
#define _GNU_SOURCE
#include "use.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

enum { count = 12, size = 100 };

static char* objects[count];

/* Time goes on. */
static void fill(void) {
    use(malloc(1000));
}

static int wrong(int is) {
    return is ? 1 : 0;
}

static int useThem(FILE* file) {
    char room[200];
    struct stat told;
    int sum = 0;
    fill();
    sum += wrong(snprintf(room, sizeof room, "%d %s %5.2f %p %ls|", 1, objects[0], 2.0,
                          (void*)objects[1], L"wide") < 10);
    fill();
    sum += wrong(snprintf(room, sizeof room, "%2$s %1$d", 7, objects[2]) != 5);
    fill();
    sum += wrong(snprintf(objects[3], size, "%s", "text") != 4);
    fill();
    sum += wrong(fputs(objects[4], file) < 0);
    fill();
    sum += wrong(fwrite(objects[5], 1, 3, file) != 3);
    fill();
    rewind(file);
    sum += wrong(fgets(objects[6], 3, file) == NULL);
    fill();
    sum += wrong(memchr(objects[7], 'b', size) == NULL);
    fill();
    sum += wrong(strtod(objects[8], NULL) != 0);
    fill();
    sum += wrong(stat(objects[9], &told) == 0);
    fill();
    sum += wrong(strncmp(objects[10], "ab", 2) != 0);
    fill();
    memmove(room, objects[11], 5);
    return sum;
}

/* Each is used 2000 bytes after it was made. */
static int makeThem(FILE* file) {
    char* line = NULL;
    size_t room = 0;
    char* const copy = strdup("copy");
    char* const part = strndup("a part of it", 6);
    char* made = NULL;
    int sum = wrong(asprintf(&made, "%d and %s", 5, copy) != 10);
    char* const folder = getcwd(NULL, 0);
    char* const whole = realpath("/", NULL);
    rewind(file);
    sum += wrong(getline(&line, &room, file) < 2);
    fill();
    fill();
    sum += wrong(copy[0] != 'c') + wrong(part[5] != 't') + wrong(made[0] != '5');
    sum += wrong(folder[0] != '/') + wrong(whole[0] != '/') + wrong(line[0] != 'a');
    free(copy);
    free(part);
    free(made);
    free(folder);
    free(whole);
    free(line);
    return sum;
}

int main(void) {
    for (int i = 0; i < count; ++i) {
        objects[i] = malloc(size);
        strcpy(objects[i], "abc");
    }
    FILE* const file = tmpfile();
    if (file == NULL) {
        return 100;
    }
    const int sum = useThem(file) + makeThem(file);
    fclose(file);
    return sum;
}
