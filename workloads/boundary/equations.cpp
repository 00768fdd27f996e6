// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See equations.hpp. An entry is the mean of 1/distance over the points of both panels, times the
// area, so that the matrix is symmetric. A panel's effect on itself is that of a disc of its area.
#include "equations.hpp"

#include "support/calls.hpp"

#include <heapwright/core/random.hpp>

#include <cmath>

namespace heapwright::workloads {

namespace {

constexpr double pi = 3.14159265358979323846;

/// Points side by side on a square of the panel's size, tangent to the sphere.
Point offset(const Point& centre, double edge, unsigned side, unsigned number) {
    const double across = (0.5 + number % side) / side - 0.5;
    const double along = (0.5 + number / side) / side - 0.5; // NOLINT: rows are whole
    const double level = std::sqrt(centre.x * centre.x + centre.y * centre.y);
    const Point east =
        level > 1e-12 ? Point{-centre.y / level, centre.x / level, 0} : Point{1, 0, 0};
    const Point north = {centre.y * east.z - centre.z * east.y,
                         centre.z * east.x - centre.x * east.z,
                         centre.x * east.y - centre.y * east.x};
    return {centre.x + edge * (across * east.x + along * north.x),
            centre.y + edge * (across * east.y + along * north.y),
            centre.z + edge * (across * east.z + along * north.z)};
}

double distance(const Point& one, const Point& other) {
    const double x = one.x - other.x;
    const double y = one.y - other.y;
    const double z = one.z - other.z;
    return std::sqrt(x * x + y * y + z * z);
}

} // namespace

Equations::Equations(std::uint64_t panels, std::uint64_t seed)
    : panels_(panels), area_(4 * pi / static_cast<double>(panels)), centre_(nullptr),
      turn_(2 * pi * Random(seed).real()), rows_(nullptr), factors_(nullptr) {
    centre_ = static_cast<Point*>(allocate(panels * sizeof(Point)));
    rows_ = static_cast<double***>(allocateZeroed(panels, sizeof(double**)));
    factors_ = static_cast<double**>(allocateZeroed(blocks(), sizeof(double*)));
    objects_ = 3;
    // Fibonacci's spiral covers a sphere with panels of equal area.
    for (std::uint64_t at = 0; at < panels; ++at) {
        const double z = 1 - (2 * static_cast<double>(at) + 1) / static_cast<double>(panels);
        const double angle = turn_ + static_cast<double>(at) * pi * (3 - std::sqrt(5.0));
        const double across = std::sqrt(1 - z * z);
        centre_[at] = {across * std::cos(angle), across * std::sin(angle), z};
    }
}

Point* Equations::spread(std::uint64_t panel, unsigned side) {
    Point* const points = static_cast<Point*>(allocate(sizeof(Point) * side * side));
    for (unsigned number = 0; number < side * side; ++number) {
        points[number] = offset(centre_[panel], std::sqrt(area_), side, number);
    }
    return points;
}

double Equations::entry(std::uint64_t row, std::uint64_t column) {
    if (row == column) {
        return 2 * std::sqrt(pi * area_);
    }
    const double apart = distance(centre_[row], centre_[column]) / std::sqrt(area_);
    if (apart > 6) {
        return area_ / distance(centre_[row], centre_[column]);
    }
    const unsigned side = apart < 2 ? 4 : apart < 4 ? 3 : 2;
    // In one order for both panels of a pair, so that the two entries are equal to the last bit.
    Point* const lower = spread(row < column ? row : column, side);
    Point* const upper = spread(row < column ? column : row, side);
    const unsigned count = side * side;
    double sum = 0;
    for (unsigned one = 0; one < count; ++one) {
        for (unsigned other = 0; other < count; ++other) {
            sum += 1 / distance(lower[one], upper[other]);
        }
    }
    const double mean = sum / static_cast<double>(count * count);
    release(upper);
    release(lower);
    objects_.fetch_add(2, std::memory_order_relaxed);
    return area_ * mean;
}

void Equations::enter(unsigned thread, unsigned threads) {
    for (std::uint64_t row = thread; row < panels_; row += threads) {
        rows_[row] = static_cast<double**>(allocate(blocks() * sizeof(double*)));
        for (std::uint64_t block = 0; block < blocks(); ++block) {
            const std::uint64_t length = lengthOf(block);
            // The entries are first collected with their indices, then stored packed.
            double* const collected = newVector(length);
            auto* const place =
                static_cast<std::uint32_t*>(allocate(length * sizeof(std::uint32_t)));
            for (std::uint64_t at = 0; at < length; ++at) {
                place[at] = static_cast<std::uint32_t>(length - 1 - at);
                collected[place[at]] = entry(row, block * width + place[at]);
            }
            double* const kept = newVector(length);
            for (std::uint64_t at = 0; at < length; ++at) {
                kept[at] = collected[at];
            }
            release(place);
            release(collected);
            rows_[row][block] = kept;
        }
        objects_.fetch_add(1 + blocks(), std::memory_order_relaxed);
    }
}

void Equations::precondition(unsigned thread, unsigned threads) {
    for (std::uint64_t block = thread; block < blocks(); block += threads) {
        const std::uint64_t length = lengthOf(block);
        double* const factor = newVector(length * length);
        for (std::uint64_t row = 0; row < length; ++row) {
            for (std::uint64_t column = 0; column <= row; ++column) {
                double sum = rows_[block * width + row][block][column];
                for (std::uint64_t at = 0; at < column; ++at) {
                    sum -= factor[row * length + at] * factor[column * length + at];
                }
                factor[row * length + column] =
                    row == column ? std::sqrt(sum) : sum / factor[column * length + column];
            }
        }
        factors_[block] = factor;
    }
}

double* Equations::newVector(std::uint64_t length) {
    objects_.fetch_add(1, std::memory_order_relaxed);
    return static_cast<double*>(allocate(length * sizeof(double)));
}

/// Solves with the diagonal blocks alone: forwards, then backwards.
void Equations::apply(const double* from, double* to) const {
    for (std::uint64_t block = 0; block < blocks(); ++block) {
        const std::uint64_t length = lengthOf(block);
        const double* const factor = factors_[block];
        double* const part = to + block * width;
        for (std::uint64_t row = 0; row < length; ++row) {
            double sum = from[block * width + row];
            for (std::uint64_t at = 0; at < row; ++at) {
                sum -= factor[row * length + at] * part[at];
            }
            part[row] = sum / factor[row * length + row];
        }
        for (std::uint64_t row = length; row-- > 0;) {
            double sum = part[row];
            for (std::uint64_t at = row + 1; at < length; ++at) {
                sum -= factor[at * length + row] * part[at];
            }
            part[row] = sum / factor[row * length + row];
        }
    }
}

double Equations::dot(const double* one, const double* other) const {
    double sum = 0;
    for (std::uint64_t at = 0; at < panels_; ++at) {
        sum += one[at] * other[at];
    }
    return sum;
}

void Equations::begin() {
    density_ = newVector(panels_);
    residual_ = newVector(panels_);
    direction_ = newVector(panels_);
    product_ = newVector(panels_);
    for (std::uint64_t at = 0; at < panels_; ++at) {
        density_[at] = 0;
        residual_[at] = 1;
    }
    apply(residual_, direction_);
    rho_ = dot(residual_, direction_);
}

void Equations::multiply(unsigned thread, unsigned threads) {
    for (std::uint64_t row = thread; row < panels_; row += threads) {
        double sum = 0;
        for (std::uint64_t block = 0; block < blocks(); ++block) {
            const double* const entries = rows_[row][block];
            const double* const part = direction_ + block * width;
            for (std::uint64_t at = 0; at < lengthOf(block); ++at) {
                sum += entries[at] * part[at];
            }
        }
        product_[row] = sum;
    }
}

/// Each vector of a step is new, and those of the last step are freed.
void Equations::advance() {
    const double alpha = rho_ / dot(direction_, product_);
    double* const density = newVector(panels_);
    double* const residual = newVector(panels_);
    for (std::uint64_t at = 0; at < panels_; ++at) {
        density[at] = density_[at] + alpha * direction_[at];
        residual[at] = residual_[at] - alpha * product_[at];
    }
    double* const conditioned = newVector(panels_);
    apply(residual, conditioned);
    const double rho = dot(residual, conditioned);
    double* const direction = newVector(panels_);
    for (std::uint64_t at = 0; at < panels_; ++at) {
        direction[at] = conditioned[at] + rho / rho_ * direction_[at];
    }
    release(conditioned);
    release(density_);
    release(residual_);
    release(direction_);
    density_ = density;
    residual_ = residual;
    direction_ = direction;
    rho_ = rho;
    solved_ = dot(residual_, residual_) < 1e-20 * static_cast<double>(panels_);
}

double Equations::charge() const {
    double sum = 0;
    for (std::uint64_t at = 0; at < panels_; ++at) {
        sum += density_[at];
    }
    return sum * area_;
}

void Equations::clear() {
    for (std::uint64_t row = 0; row < panels_; ++row) {
        for (std::uint64_t block = 0; block < blocks(); ++block) {
            release(rows_[row][block]);
        }
        release(rows_[row]);
    }
    for (std::uint64_t block = 0; block < blocks(); ++block) {
        release(factors_[block]);
    }
    for (double* vector : {density_, residual_, direction_, product_}) {
        release(vector);
    }
    release(factors_);
    release(rows_);
    release(centre_);
}

} // namespace heapwright::workloads
