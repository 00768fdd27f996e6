// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs in C++ with structures of their own: thread pools, pools of std::pmr, coroutines,
// listeners, caches that forget by age, counts of references. A step takes 2 ms.
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <unordered_set>
#include <vector>

#include "pace.h"

namespace {

constexpr unsigned step_us = 2000, steps = 750;

/// Four threads that run what is in a queue.
class Workers {
public:
    Workers() {
        for (int i = 0; i < 4; ++i)
            threads_.emplace_back([this] { work(); });
    }
    ~Workers() {
        {
            const std::lock_guard lock(mutex_);
            over_ = true;
        }
        ready_.notify_all();
        for (std::thread& each : threads_)
            each.join();
    }
    void add(std::function<void()> task) {
        {
            const std::lock_guard lock(mutex_);
            tasks_.push_back(std::move(task));
        }
        ready_.notify_one();
    }

private:
    void work() {
        for (;;) {
            std::unique_lock lock(mutex_);
            ready_.wait(lock, [this] { return over_ || !tasks_.empty(); });
            if (tasks_.empty())
                return;
            const std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<std::function<void()>> tasks_;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

struct Answer {
    char content[500];
};

std::map<unsigned, std::shared_future<Answer>> answers;

PLACE void submit(Workers& workers, unsigned number) {
    const auto task = std::make_shared<std::packaged_task<Answer()>>([] { return Answer{}; });
    answers[number] = task->get_future().share();
    workers.add([task] { (*task)(); });
}

void pool_keeps_answers() {
    Workers workers;
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        submit(workers, i);
        pace(step_us);
    }
}

PLACE void run_task(unsigned number) {
    char* const scratch = TAKE(600);
    serve(number);
    if (number % 3 != 0)
        free(scratch);
}

void pool_loses() {
    Workers workers;
    for (unsigned i = 0; i < steps; ++i) {
        workers.add([i] { run_task(i); });
        pace(step_us);
    }
}

void pool_is_steady() {
    Workers workers;
    for (unsigned i = 0; i < steps; ++i) {
        workers.add([i, copy = std::string(i % 900, 'c')] { serve(i + copy.size() % 2); });
        pace(step_us);
    }
}

/// A coroutine that waits at its begin until it is resumed.
struct Stream {
    struct promise_type {
        Stream get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

PLACE Stream open_stream(unsigned number) {
    char buffer[400];
    touched(buffer, sizeof buffer);
    co_await std::suspend_always{};
    buffer[number % 400] = 0;
    touched(buffer, sizeof buffer);
}

void coroutines(bool lose) {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        Stream stream = open_stream(i);
        stream.handle.resume();
        if (!lose || i % 2 == 0)
            stream.handle.destroy();
        pace(step_us);
    }
}

std::pmr::unsynchronized_pool_resource items;
std::vector<void*> stored;

PLACE void store_item() {
    stored.push_back(touched(items.allocate(800), 800));
}

void pmr_pool_growing() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        store_item();
        pace(step_us);
    }
}

void pmr_released() {
    for (unsigned i = 0; i < steps; ++i) {
        std::pmr::monotonic_buffer_resource request(1024);
        std::pmr::vector<std::pmr::string> words(&request);
        for (unsigned word = 0; word < 40; ++word)
            words.emplace_back(40 + i % 50, 'w');
        pace(step_us);
    }
}

/// Listeners hold the subject that holds them.
struct Subject {
    std::vector<std::function<void()>> listeners;
    char content[700];
};

PLACE void make_subject() {
    const auto subject = std::make_shared<Subject>();
    subject->listeners.emplace_back([subject] { subject->content[0] = 1; });
    subject->listeners.emplace_back([subject] { subject->content[1] = 1; });
}

void listener_cycles() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        make_subject();
        pace(step_us);
    }
}

std::vector<std::function<std::size_t()>> listeners;

PLACE void subscribe(unsigned number) {
    listeners.emplace_back([text = std::string(600 + number % 9, 's')] { return text.size(); });
}

void forgotten_listeners() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        subscribe(i);
        pace(step_us);
    }
}

/// Entries live for 200 steps.
void forgets_by_age() {
    std::map<unsigned, std::pair<unsigned, std::string>> cache;
    for (unsigned i = 0; i < 2 * steps; ++i) {
        cache[i * 2654435761u] = {i, std::string(300 + i % 800, 'c')};
        if (i % 50 == 0)
            std::erase_if(cache, [i](const auto& each) { return each.second.first + 200 < i; });
        pace(step_us / 2);
    }
}

struct Counted {
    int references = 1;
    char content[900] = {};
};

PLACE Counted* acquire() {
    Counted* const made = new Counted;
    ++made->references; // for a second owner, which there is not
    return made;
}

void wrong_count() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        Counted* const object = acquire();
        if (--object->references == 0)
            delete object;
        pace(step_us);
    }
}

struct Record {
    std::string name;
    std::vector<int> values;
};

PLACE void build_record(unsigned number) {
    void* const room = malloc(sizeof(Record));
    auto* const record = new (room) Record{std::string(200 + number % 50, 'n'), {}};
    record->values.assign(50, 1);
    free(room); // without the destructor
}

void no_destructor() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        build_record(i);
        pace(step_us);
    }
}

std::unordered_set<std::string> names;

PLACE void intern(unsigned number) {
    names.insert(std::to_string(number) + std::string(400, 'n'));
}

void interned_names() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        intern(i);
        pace(step_us);
    }
}

thread_local std::map<unsigned, std::string> local;

PLACE void cache_locally(unsigned number) {
    local[number] = std::string(500, 'l');
}

void caches_of_threads() {
    std::vector<std::thread> threads;
    for (unsigned each = 0; each < 3; ++each)
        threads.emplace_back([] {
            for (unsigned i = 0; i < steps; ++i) {
                serve(i);
                cache_locally(i);
                pace(step_us);
            }
        });
    for (std::thread& each : threads)
        each.join();
}

/// The last two seconds of samples.
void sliding_window() {
    std::deque<std::string> window;
    for (unsigned i = 0; i < 2 * steps; ++i) {
        window.emplace_back(200 + i % 300, 'w');
        if (window.size() > 400)
            window.pop_front();
        pace(step_us / 2);
    }
}

/// Through which all of the program allocates.
PLACE char* take(std::size_t size) {
    return TAKE(size);
}

PLACE void drip() {
    take(24);
}

PLACE char* make_message(unsigned random) {
    return take(1000 + random % 5000);
}

/// A few small blocks are lost among many large ones that come and go.
void small_drops() {
    std::vector<char*> messages;
    unsigned random = 1;
    for (unsigned i = 0; i < 2 * steps; ++i) {
        random = random * 1103515245 + 12345;
        messages.push_back(make_message(random >> 8));
        if (messages.size() > 500) {
            char*& any = messages[(random >> 16) % messages.size()];
            free(any);
            any = messages.back();
            messages.pop_back();
        }
        if (i % 10 == 0)
            drip();
        pace(step_us / 2);
    }
    for (char* each : messages)
        free(each);
}

PLACE void hold_on_the_stack() {
    char* mine[200];
    for (char*& each : mine)
        each = TAKE(1000);
    for (;;) {
        __asm__ volatile("" : : "r"(mine) : "memory");
        pace(50000);
    }
}

void held_by_stacks() {
    for (int i = 0; i < 4; ++i)
        std::thread(hold_on_the_stack).detach();
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        pace(step_us);
    }
}

PLACE void lose_entry() {
    TAKE(700);
}

/// As a program that becomes a daemon.
void closed_descriptors() {
    for (int descriptor = 3; descriptor < 1024; ++descriptor)
        close(descriptor);
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        lose_entry();
        pace(step_us);
    }
}

/* Debug information alone names these two: the compiler puts both into their caller. */
[[gnu::always_inline]] inline void copy_header(unsigned number) {
    TAKE(500 + number % 2);
}

[[gnu::always_inline]] inline void parse_request(unsigned number) {
    copy_header(number);
}

void inlined_loss() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        parse_request(i);
        pace(step_us);
    }
}

/* The compiler joins the two calls in their caller, in which both functions are inlined. */
[[gnu::always_inline]] inline char* make_circle() {
    return TAKE(300);
}

[[gnu::always_inline]] inline char* make_square() {
    return TAKE(700);
}

void one_kind_kept() {
    for (unsigned i = 0; i < steps; ++i) {
        serve(i);
        char* const shape = i % 2 ? make_circle() : make_square();
        if (i % 2 == 0)
            free(shape);
        pace(step_us);
    }
}

thread_local std::string trace;

PLACE void append_trace(unsigned number) {
    trace.append(300, static_cast<char>('a' + number % 26));
}

/// The buffers of the threads double one after the other.
void traces_of_threads() {
    std::vector<std::thread> threads;
    for (unsigned each = 0; each < 4; ++each)
        threads.emplace_back([each] {
            usleep(each * step_us);
            for (unsigned i = 0; i < steps; ++i) {
                serve(i);
                append_trace(i);
                pace(step_us + 20 * each);
            }
        });
    for (std::thread& each : threads)
        each.join();
}

} // namespace

SCENARIOS({"pool-keeps-answers", pool_keeps_answers}, {"pool-loses", pool_loses},
          {"pool-is-steady", pool_is_steady}, {"coroutines-lost", [] { coroutines(true); }},
          {"coroutines-ended", [] { coroutines(false); }}, {"pmr-pool-growing", pmr_pool_growing},
          {"pmr-released", pmr_released}, {"listener-cycles", listener_cycles},
          {"forgotten-listeners", forgotten_listeners}, {"forgets-by-age", forgets_by_age},
          {"wrong-count", wrong_count}, {"no-destructor", no_destructor},
          {"interned-names", interned_names}, {"caches-of-threads", caches_of_threads},
          {"sliding-window", sliding_window}, {"small-drops", small_drops},
          {"held-by-stacks", held_by_stacks}, {"closed-descriptors", closed_descriptors},
          {"inlined-loss", inlined_loss}, {"one-kind-kept", one_kind_kept},
          {"traces-of-threads", traces_of_threads})
