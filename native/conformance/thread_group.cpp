// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See thread_group.hpp.
#include "thread_group.hpp"

namespace conformance {

ThreadGroup::ThreadGroup(std::size_t stack) {
    ::pthread_attr_init(&attributes_);
    if (stack != 0) {
        require(::pthread_attr_setstacksize(&attributes_, stack) == 0, "pthread_attr_setstacksize");
    }
}

int ThreadGroup::add(Work* work) {
    require(count_ < most, "too many threads in a group");
    const int error =
        ::pthread_create(&threads_[count_], &attributes_, work, hide(&threads_[count_]));
    if (error == 0) {
        ++count_;
    }
    return error;
}

void ThreadGroup::join() {
    while (count_ > 0) {
        ::pthread_join(threads_[--count_], nullptr);
    }
}

void runThreads(std::size_t count, Work* work, std::size_t stack) {
    ThreadGroup group(stack);
    for (std::size_t i = 0; i < count; ++i) {
        require(group.add(work) == 0, "pthread_create");
    }
    group.join();
}

void Gate::wait() {
    ::pthread_mutex_lock(&mutex_);
    ++waiting_;
    ::pthread_cond_broadcast(&changed_);
    while (!open_) {
        ::pthread_cond_wait(&changed_, &mutex_);
    }
    ::pthread_mutex_unlock(&mutex_);
}

void Gate::expect(std::size_t count) {
    ::pthread_mutex_lock(&mutex_);
    while (waiting_ < count) {
        ::pthread_cond_wait(&changed_, &mutex_);
    }
    ::pthread_mutex_unlock(&mutex_);
}

void Gate::open() {
    ::pthread_mutex_lock(&mutex_);
    open_ = true;
    ::pthread_cond_broadcast(&changed_);
    ::pthread_mutex_unlock(&mutex_);
}

std::size_t* ExchangeTable::tryMake(std::size_t size) {
    auto* object = static_cast<std::size_t*>(std::malloc(sizeof(std::size_t) + size));
    if (object != nullptr) {
        *object = size;
        fill(object + 1, size, 7);
    }
    return object;
}

std::size_t* ExchangeTable::make(std::size_t size) {
    std::size_t* object = tryMake(size);
    require(object != nullptr, "malloc gave nothing");
    return object;
}

void ExchangeTable::checkAndFree(std::size_t* object) {
    if (object != nullptr) {
        requireFilled(object + 1, *object, 7);
        std::free(object);
    }
}

void ExchangeTable::clear() {
    for (std::size_t i = 0; i < places; ++i) {
        put(i, nullptr);
    }
}

} // namespace conformance
