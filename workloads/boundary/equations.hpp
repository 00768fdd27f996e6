// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The dense equations of a sphere at potential 1. For each panel, the sum over all panels of charge
// density × ∫ dA / distance is 1. Except for the table of pointers, all memory is allocated from
// the allocator under test. Sums have a fixed order, so the result does not depend on the number of
// threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

struct Point {
    double x, y, z;
};

class Equations {
public:
    static constexpr std::uint64_t width = 24; ///< columns of a block, and rows of a diagonal one

    Equations(std::uint64_t panels, std::uint64_t seed);
    Equations(const Equations&) = delete;
    Equations& operator=(const Equations&) = delete;

    /// Computes a thread's rows: every `threads`-th.
    void enter(unsigned thread, unsigned threads);
    /// Factorises a thread's diagonal blocks (Cholesky).
    void precondition(unsigned thread, unsigned threads);

    // Conjugate gradients. There is a barrier between any two calls; one thread calls `begin` and
    // `advance`.
    void begin();
    void multiply(unsigned thread, unsigned threads);
    void advance();
    bool solved() const { return solved_; }

    double charge() const;
    std::uint64_t objects() const { return objects_.load(std::memory_order_relaxed); }
    void clear();

private:
    /// The quadrature points of a panel: side × side. The nearer the other panel, the more.
    Point* spread(std::uint64_t panel, unsigned side);
    double entry(std::uint64_t row, std::uint64_t column);
    double* newVector(std::uint64_t length);
    void apply(const double* from, double* to) const;
    double dot(const double* one, const double* other) const;
    std::uint64_t blocks() const { return (panels_ + width - 1) / width; }
    std::uint64_t lengthOf(std::uint64_t block) const {
        return block + 1 == blocks() ? panels_ - block * width : width;
    }

    std::uint64_t panels_;
    double area_;    ///< of each panel
    Point* centre_;  ///< of each panel
    double turn_;    ///< start of the spiral of panels, from the seed
    double*** rows_; ///< by row and block of columns
    double** factors_;
    double* density_ = nullptr;
    double* residual_ = nullptr;
    double* direction_ = nullptr;
    double* product_ = nullptr; ///< of the matrix with the direction, of this step
    double rho_ = 0;
    bool solved_ = false;
    std::atomic<std::uint64_t> objects_{0};
};

} // namespace heapwright::workloads
