/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Budgets of memory in tests with GoogleTest (C++17):
 *
 *     TEST(Filter, ProcessesWithoutAllocation) {
 *         HEAPWRIGHT_SKIP_UNLESS_COUNTING();
 *         HEAPWRIGHT_EXPECT_ALLOCATIONS(0) {
 *             filter.process(block);
 *         }
 *     }
 *
 * An exceeded budget is a failure of the test at this line, as with EXPECT_LE. The block may be
 * left in any way, also by an exception. Start the tests with `heapwright limit -- ./tests`.
 * Otherwise HEAPWRIGHT_SKIP_UNLESS_COUNTING skips the test, and without it the budget is not
 * checked. limit.h defines the figures.
 */
#ifndef HEAPWRIGHT_C_LIMIT_GOOGLETEST_H
#define HEAPWRIGHT_C_LIMIT_GOOGLETEST_H

#include <gtest/gtest.h>
#include <heapwright/c/limit.h>

namespace heapwright {

class ExpectedLimit {
public:
    ExpectedLimit(const char* file, int line, const char* what, std::int64_t limit)
        : scope_(heapwright_limit_begin(file, line, what, limit)) {}
    ExpectedLimit(const ExpectedLimit&) = delete;
    ExpectedLimit& operator=(const ExpectedLimit&) = delete;
    ~ExpectedLimit() {
        char fault[128];
        if (heapwright_limit_end(&scope_, fault, sizeof fault) != 0) {
            ADD_FAILURE_AT(scope_.file, scope_.line) << fault;
        }
    }

private:
    heapwright_limit_scope scope_;
};

} // namespace heapwright

#define HEAPWRIGHT_SKIP_UNLESS_COUNTING()                                                          \
    if (heapwright_limit_counting() == 0)                                                          \
    GTEST_SKIP() << "nothing is counted: start the tests with `heapwright limit -- PROGRAM`"

#define HEAPWRIGHT_EXPECT_LIMIT(what, limit)                                                       \
    if (::heapwright::ExpectedLimit heapwrightLimit(__FILE__, __LINE__, what,                      \
                                                    static_cast<std::int64_t>(limit));             \
        true)

#define HEAPWRIGHT_EXPECT_ALLOCATIONS(limit) HEAPWRIGHT_EXPECT_LIMIT("allocations", limit)
#define HEAPWRIGHT_EXPECT_BYTES(limit) HEAPWRIGHT_EXPECT_LIMIT("bytes", limit)
#define HEAPWRIGHT_EXPECT_PEAK(limit) HEAPWRIGHT_EXPECT_LIMIT("peak", limit)
#define HEAPWRIGHT_EXPECT_KEPT(limit) HEAPWRIGHT_EXPECT_LIMIT("kept", limit)

#endif
