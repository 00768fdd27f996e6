// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A variable that threads share without a lock: `std::atomic` with explicit memory orders. It
// reports each access (`events.hpp`), so that a counting build can count it and a scheduled build
// can try every order.
// Cost: none over `std::atomic`.
#pragma once

#include <heapwright/platform/fetch_add.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/events.hpp>

#include <atomic>

namespace heapwright {

template <class T>
class SharedWord {
    static_assert(std::atomic<T>::is_always_lock_free,
                  "a hidden lock is unsafe in handlers and forks");

public:
    constexpr SharedWord() noexcept : value_(T{}) {}
    constexpr explicit SharedWord(T value) noexcept : value_(value) {}
    SharedWord(const SharedWord&) = delete;
    SharedWord& operator=(const SharedWord&) = delete;
    ~SharedWord() = default;

    [[nodiscard]] T load(std::memory_order order) const noexcept {
        note(Event::load, &value_);
        return value_.load(order);
    }

    void store(T value, std::memory_order order) noexcept {
        note(Event::store, &value_);
        value_.store(value, order);
    }

    T exchange(T value, std::memory_order order) noexcept {
        note(Event::readModifyWrite, &value_);
        return value_.exchange(value, order);
    }

    /// Stores `desired` if the value is `expected`. Otherwise stores the value in `expected`. Never
    /// fails spuriously.
    bool compareExchange(T& expected, T desired, std::memory_order success,
                         std::memory_order failure) noexcept {
        note(Event::readModifyWrite, &value_);
        return value_.compare_exchange_strong(expected, desired, success, failure);
    }

    T fetchAdd(T value, std::memory_order order) noexcept
        requires requires(std::atomic<T> a) { a.fetch_add(T{}); }
    {
        note(Event::readModifyWrite, &value_);
        return value_.fetch_add(value, order);
    }

    /// As `fetchAdd` in relaxed order. While the process has one thread, the step is atomic for
    /// signal handlers only, which costs less.
    /// Pre: no signal handler starts a thread.
    T fetchAddNearHandlers(T value) noexcept
        requires(sizeof(T) == 8) && requires(std::atomic<T> a) { a.fetch_add(T{}); }
    {
        note(Event::readModifyWrite, &value_);
        return platform::singleThreaded() ? platform::fetchAddAlone(value_, value)
                                          : value_.fetch_add(value, std::memory_order_relaxed);
    }

    T fetchSub(T value, std::memory_order order) noexcept
        requires requires(std::atomic<T> a) { a.fetch_sub(T{}); }
    {
        note(Event::readModifyWrite, &value_);
        return value_.fetch_sub(value, order);
    }

    T fetchOr(T value, std::memory_order order) noexcept
        requires requires(std::atomic<T> a) { a.fetch_or(T{}); }
    {
        note(Event::readModifyWrite, &value_);
        return value_.fetch_or(value, order);
    }

    T fetchAnd(T value, std::memory_order order) noexcept
        requires requires(std::atomic<T> a) { a.fetch_and(T{}); }
    {
        note(Event::readModifyWrite, &value_);
        return value_.fetch_and(value, order);
    }

private:
    std::atomic<T> value_;
};

} // namespace heapwright
