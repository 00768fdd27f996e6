// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that obey orders, one at a time. They are real ones, with all that a heap keeps of a
// thread, and yet every history is the same each time. An order can end a thread. The next order to
// the same puppet starts another thread, which inherits what a heap lets it inherit.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

namespace heapwright::testing::promises {

class Puppets {
    struct Puppet {
        std::binary_semaphore begin{0};
        std::binary_semaphore done{0};
        std::function<void()> order; ///< none: to end
        std::thread thread;

        void serve() {
            for (;;) {
                begin.acquire();
                if (!order) {
                    return;
                }
                order();
                done.release();
            }
        }
    };

public:
    explicit Puppets(std::size_t count) {
        for (std::size_t each = 0; each < count; ++each) {
            puppets_.push_back(std::make_unique<Puppet>());
        }
    }
    Puppets(const Puppets&) = delete;
    Puppets& operator=(const Puppets&) = delete;
    ~Puppets() {
        for (std::size_t each = 0; each < puppets_.size(); ++each) {
            end(each);
        }
    }

    /// Has one of them do something, and waits for it.
    void run(std::size_t which, std::function<void()> order) {
        Puppet& puppet = *puppets_[which];
        if (!puppet.thread.joinable()) {
            puppet.thread = std::thread([&puppet] { puppet.serve(); });
        }
        puppet.order = std::move(order);
        puppet.begin.release();
        puppet.done.acquire();
    }

    /// Its thread ends, with its very last destructor.
    void end(std::size_t which) {
        Puppet& puppet = *puppets_[which];
        if (puppet.thread.joinable()) {
            puppet.order = nullptr;
            puppet.begin.release();
            puppet.thread.join();
        }
    }

private:
    std::vector<std::unique_ptr<Puppet>> puppets_;
};

} // namespace heapwright::testing::promises
