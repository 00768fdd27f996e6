// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A large object, freed twice. Where it had a mapping of its own, that is gone.
// aborts: heapwright: free(): double free
// under lea: SIGSEGV
// under reap: SIGSEGV
// under concurrent: SIGSEGV
// under mtmalloc: SIGSEGV
// under private: SIGSEGV
// under ptmalloc2: SIGSEGV
// under ptmalloc3: SIGSEGV
// under serial: SIGSEGV
// under winxp: SIGSEGV
// under hoard: SIGSEGV
// under hoard-3.8: SIGSEGV
// under nedmalloc: SIGSEGV
// under miser: SIGSEGV
// under lkmalloc: SIGSEGV
// under thresholds: SIGSEGV
// under granary: SIGSEGV
#include <stdlib.h>

int main(void) {
    void* object = malloc(10000000);
    free(object);
    free(object);
    return 0;
}
