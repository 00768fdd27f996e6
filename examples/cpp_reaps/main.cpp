// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reaps in C++. One holds the memory of a request, with containers that grow and shrink, and has an
// inner reap for each part. Several threads fill another one.
#include <heapwright/allocators/arenas.hpp>

#include <iostream>
#include <list>
#include <memory_resource>
#include <string>
#include <thread>
#include <vector>

using namespace heapwright;

namespace {

struct Point { // needs no destructor: it may go with its reap
    int x;
    int y;
};

void request() {
    Reap reap;
    std::pmr::list<std::pmr::string> window(&reap);
    for (int i = 0; i < 100'000; ++i) { // the reap stays small: what goes serves what comes
        window.emplace_back("a line of text that does not fit into the string itself");
        if (window.size() > 10) {
            window.pop_front();
        }
    }
    std::cout << "in the window: " << window.size() << " lines\n";

    Reap part(reap); // inside: cleared with it, or before
    const Point* const point = part.make<Point>(3, 4);
    std::pmr::vector<int> numbers({1, 2, 3}, &part);
    std::cout << "the part has a point at " << point->x << ", " << point->y << " and "
              << numbers.size() << " numbers; it " << (part.isInside(reap) ? "is" : "is not")
              << " inside\n";
} // everything goes here, the containers first

void threads() {
    SharedReap shared;
    std::vector<std::thread> crew;
    for (int thread = 0; thread < 4; ++thread) {
        crew.emplace_back([&shared] {
            SharedReap mine(shared); // no other thread needs it
            std::pmr::vector<std::pmr::string> kept(&mine);
            for (int i = 0; i < 1000; ++i) {
                kept.emplace_back("another line that does not fit into the string itself");
                shared.free(shared.malloc(100));
            }
        });
    }
    for (std::thread& thread : crew) {
        thread.join();
    }
    std::cout << "four threads have used it\n";
}

} // namespace

int main() {
    request();
    threads();
}
