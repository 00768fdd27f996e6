// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Something for a compiler to do: the library's containers, templates that call each other, lambdas
// and virtual functions, none of which is ever run.
#include <memory>
#include <string>
#include <vector>

namespace shapes {

class Shape {
public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
    virtual std::string name() const = 0;
};

template <int Corners>
class Polygon : public Shape {
public:
    explicit Polygon(std::vector<double> sides) : sides_(std::move(sides)) {}
    double area() const override {
        double sum = 0;
        for (const double side : sides_) {
            sum += side * Corners / 4;
        }
        return sum;
    }
    std::string name() const override { return std::to_string(Corners) + "-gon"; }

private:
    std::vector<double> sides_;
};

template <int Corners>
std::unique_ptr<Shape> make(int corners) {
    if constexpr (Corners > 2) {
        return corners == Corners
                   ? std::make_unique<Polygon<Corners>>(std::vector<double>(Corners, 1.0))
                   : make<Corners - 1>(corners);
    } else {
        return nullptr;
    }
}

std::string largest(const std::vector<int>& corners) {
    std::unique_ptr<Shape> found;
    for (const int each : corners) {
        auto shape = make<12>(each);
        if (shape && (!found || shape->area() > found->area())) {
            found = std::move(shape);
        }
    }
    return found ? found->name() : std::string{};
}

} // namespace shapes
