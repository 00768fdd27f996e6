// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The settings of granary, one set for each process. They are words that any layer reads when it
// needs them, and that may change at any time. docs/reference/granary.md lists their names, values
// and meaning. The environment sets them: `HEAPWRIGHT_GRANARY="return=2s,statistics=exit"`.
//
// The environment is read at the first use of a setting, even in the first malloc of the process. A
// program with more rights than its user does not read it. An invalid setting is reported in one
// line on stderr and has no effect. Nothing allocates.
// Cost: to read a setting, a load of its word and one to check that the environment was read.
#pragma once

#include <heapwright/core/prefix.hpp>
#include <heapwright/platform/environment.hpp>
#include <heapwright/platform/output.hpp>
#include <heapwright/platform/signal_names.hpp>
#include <heapwright/structure/extent/purge_policy.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>
#include <heapwright/structure/settings/setting_text.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heapwright {

class GranarySettings {
public:
    static constexpr std::string_view variable = "HEAPWRIGHT_GRANARY";
    static constexpr std::uint32_t defaultDelay = 250;
    static constexpr std::size_t longestValue = 255;
    using Text = FixedText<longestValue>;

    enum class Answer : std::uint8_t { set, unknownName, wrongValue };
    /// When a background thread returns memory while the program makes no requests: never, while
    /// much memory waits in a process that has threads, or always.
    enum class Background : std::uint8_t { off, automatic, on };
    /// How statistics are written: for people, as JSON, or in the text format of Prometheus.
    enum class Format : std::uint8_t { table, json, openMetrics };
    /// With `automatic`, more than this is much memory.
    static constexpr std::size_t muchWaiting = 1 * MiB;

    // --- for the layers ---

    /// The delay before free memory is returned, in milliseconds
    /// (structure/extent/purge_policy.hpp).
    [[nodiscard]] static std::uint32_t returnDelay() noexcept { return read(delay_); }
    [[nodiscard]] static bool hugePages() noexcept { return read(huge_); }
    [[nodiscard]] static Background background() noexcept { return read(background_); }
    /// Whether statistics are printed at exit; on which signal, 0 for none; in which format.
    [[nodiscard]] static bool printsAtExit() noexcept { return read(atExit_); }
    [[nodiscard]] static int printsOnSignal() noexcept { return read(signal_); }
    [[nodiscard]] static Format format() noexcept { return read(format_); }
    /// One of this many counted requests gets a guarded page; 0: none
    /// (layers/observe/guard_sample_heap.hpp). Whether a signal handler reports faults there.
    [[nodiscard]] static std::uint32_t guardInterval() noexcept { return read(guard_); }
    [[nodiscard]] static bool guardReports() noexcept { return read(guardReports_); }
    /// The mean distance of two sampled bytes; 0: no samples (native/sampled/).
    [[nodiscard]] static std::uint64_t sampleBytes() noexcept { return read(sample_); }
    /// The destination of statistics: "stderr", the number of a descriptor, or a path.
    [[nodiscard, gnu::cold]] static Text target() noexcept {
        readOnce();
        const Guard<FutexLock> hold(lock_);
        return target_;
    }

    /// Called by the heap after memory became free: `bytes` wait for their return; `first`: none
    /// did before. Notifies the background thread by the function given to `setWaker`, when the
    /// first memory waits and while much waits.
    static void memoryWaits(bool first, std::size_t bytes) noexcept {
        const bool much = bytes > muchWaiting;
        if ((first || much) && background_.load(std::memory_order_relaxed) != Background::off) {
            if (const Waker wake = waker_.load(std::memory_order_acquire)) {
                wake(first, much);
            }
        }
    }
    using Waker = void (*)(bool first, bool much) noexcept;
    static void setWaker(Waker wake) noexcept { waker_ = wake; }

    // --- for the user ---

    [[gnu::cold]] static Answer set(std::string_view name, std::string_view value) noexcept {
        readOnce();
        return change(name, value);
    }

    /// The value of a setting as text; nothing if there is none of that name.
    [[nodiscard]] static std::optional<Text> get(std::string_view name) noexcept {
        readOnce();
        const Setting* const setting = find(name);
        return setting == nullptr ? std::nullopt : std::optional(setting->tell());
    }

    /// Runs `visit` on each setting's name and value.
    template <class Visit>
    static void forEach(Visit visit) noexcept {
        readOnce();
        for (const Setting& setting : settings_) {
            visit(setting.name, setting.tell());
        }
    }

    /// Applies the settings in a text and reports invalid ones on stderr.
    [[gnu::cold]] static void take(std::string_view text) noexcept {
        forEachSetting(text, [](const SettingText& setting) {
            const Answer answer = change(setting.name, setting.value);
            if (answer != Answer::set) {
                complain(setting, answer);
            }
        });
    }

    /// Reads the environment if that was not done and it is available.
    static void readOnce() noexcept {
        if (stage_.load(std::memory_order_acquire) != Stage::done) [[unlikely]] {
            readEnvironment();
        }
    }

    /// Pre: the caller is the only thread, in the child after a fork.
    static void afterForkInChild() noexcept { lock_.reset(); }

    /// Resets all settings to their defaults, for tests.
    static void forget() noexcept {
        delay_ = defaultDelay;
        huge_ = true;
        atExit_ = guardReports_ = false;
        format_ = Format::table;
        guard_ = 0;
        sample_ = 0;
        background_ = Background::automatic;
        signal_ = 0;
        target_.clear();
        target_.put("stderr");
        stage_ = Stage::unread;
    }

private:
    enum class Stage : std::uint8_t { unread, reading, done };

    /// A setting: `take` parses and stores a value, and returns whether it was valid. `tell`
    /// returns the value as text.
    struct Setting {
        std::string_view name;
        std::string_view values; ///< the valid values, for the message about an invalid one
        bool (*take)(std::string_view value) noexcept;
        Text (*tell)() noexcept;
    };

    static const std::array<Setting, 8> settings_;

    template <class Value>
    [[nodiscard]] static Value read(const std::atomic<Value>& word) noexcept {
        readOnce();
        return word.load(std::memory_order_relaxed);
    }

    [[nodiscard]] static const Setting* find(std::string_view name) noexcept {
        for (const Setting& setting : settings_) {
            if (setting.name == name) {
                return &setting;
            }
        }
        return nullptr;
    }

    [[gnu::cold]] static Answer change(std::string_view name, std::string_view value) noexcept {
        const Setting* const setting = find(name);
        if (setting == nullptr) {
            return Answer::unknownName;
        }
        return setting->take(value) ? Answer::set : Answer::wrongValue;
    }

    [[gnu::cold, gnu::noinline]] static void readEnvironment() noexcept {
        Stage expected = Stage::unread;
        if (!stage_.compare_exchange_strong(expected, Stage::reading)) {
            return; // another thread reads it, or a layer asks during the reading
        }
        char** const texts = platform::environmentTexts();
        const std::string_view text = platform::variableIn(texts, variable);
        if (!text.empty() && !platform::runsSecurely()) {
            take(text);
        }
        stage_.store(texts == nullptr ? Stage::unread : Stage::done, std::memory_order_release);
    }

    [[gnu::cold, gnu::noinline]] static void complain(const SettingText& setting,
                                                      Answer answer) noexcept {
        FixedText<512> line;
        line.put("heapwright: ").put(variable).put(": ");
        if (answer == Answer::unknownName) {
            line.put("there is no setting '").put(firstOf(setting.name, 64)).put("'; there are ");
            for (const Setting& known : settings_) {
                line.put(known.name).put(&known == &settings_.back() ? "" : ", ");
            }
        } else {
            const Setting& known = *find(setting.name);
            line.put(known.name).put(" cannot be '").put(firstOf(setting.value, 64));
            line.put("', only ").put(known.values);
            line.put("; it stays ").put(firstOf(known.tell().view(), 64));
        }
        line.put('\n');
        platform::writeAll(2, line.view().data(), line.view().size());
    }

    // --- each setting ---

    [[gnu::cold]] static bool takeSwitch(std::atomic<bool>& word, std::string_view value) noexcept {
        if (value != "on" && value != "off") {
            return false;
        }
        word = value == "on";
        return true;
    }
    [[gnu::cold]] static Text tellSwitch(const std::atomic<bool>& word) noexcept {
        return Text().put(word ? "on" : "off");
    }

    static constexpr std::array<Choice<Background>, 3> backgrounds = {
        {{"auto", Background::automatic}, {"on", Background::on}, {"off", Background::off}}};
    [[gnu::cold]] static bool takeBackground(std::string_view value) noexcept {
        const auto chosenOne = chosen(value, backgrounds);
        background_ = chosenOne.value_or(background_);
        return chosenOne.has_value();
    }
    [[gnu::cold]] static Text tellBackground() noexcept {
        const Background now = background_;
        return Text().put(now == Background::on ? "on" : now == Background::off ? "off" : "auto");
    }

    [[gnu::cold]] static bool takeDelay(std::string_view value) noexcept {
        constexpr std::array<Choice<std::uint32_t>, 2> words = {
            {{"at-once", purgeAtOnce}, {"never", purgeNever}}};
        auto delay = chosen(value, words);
        delay = delay ? delay : milliseconds(value);
        delay_ = delay.value_or(delay_);
        return delay.has_value();
    }
    [[gnu::cold]] static Text tellDelay() noexcept {
        const std::uint32_t delay = delay_;
        switch (delay) {
        case purgeAtOnce:
            return Text().put("at-once");
        case purgeNever:
            return Text().put("never");
        default:
            return Text().putNumber(delay).put("ms");
        }
    }

    /// off, exit, signal:NAME, exit+signal:NAME
    [[gnu::cold]] static bool takeStatistics(std::string_view value) noexcept {
        constexpr std::string_view onSignal = "signal:";
        const bool both = beginsWith(value, "exit+");
        const bool atExit = both || value == "exit";
        value.remove_prefix(both ? 5 : 0);
        int signal = 0;
        if (beginsWith(value, onSignal)) {
            signal = platform::signalNamed(restOf(value, onSignal.size()));
        }
        const bool known = signal != 0 || (!both && (value == "exit" || value == "off"));
        if (known) {
            atExit_ = atExit;
            signal_ = signal;
        }
        return known;
    }
    [[gnu::cold]] static Text tellStatistics() noexcept {
        const bool atExit = atExit_;
        const int signal = signal_;
        Text text;
        text.put(atExit ? "exit" : signal == 0 ? "off" : "");
        if (signal != 0) {
            text.put(atExit ? "+signal:" : "signal:").put(platform::nameOfSignal(signal));
        }
        return text;
    }

    /// off, N, N+report
    [[gnu::cold]] static bool takeGuard(std::string_view value) noexcept {
        constexpr std::string_view reports = "+report";
        const bool report = value.size() > reports.size() &&
                            restOf(value, value.size() - reports.size()) == reports;
        value.remove_suffix(report ? reports.size() : 0);
        std::uint32_t interval = 0;
        if (value != "off" || report) {
            if (value.empty() || value.size() > 9) {
                return false;
            }
            for (const char digit : value) {
                if (digit < '0' || digit > '9') {
                    return false;
                }
                interval = 10 * interval + static_cast<std::uint32_t>(digit - '0');
            }
            if (interval == 0) {
                return false;
            }
        }
        guard_ = interval;
        guardReports_ = report;
        return true;
    }
    [[gnu::cold]] static Text tellGuard() noexcept {
        const std::uint32_t interval = guard_;
        return interval == 0 ? Text().put("off")
                             : Text().putNumber(interval).put(guardReports_ ? "+report" : "");
    }

    /// off, or a number of bytes. Only the environment sets it, because the estimates need one
    /// distance for all samples of a process.
    [[gnu::cold]] static bool takeSample(std::string_view value) noexcept {
        if (stage_ == Stage::done) {
            return false;
        }
        const auto bytes = value == "off" ? std::optional<std::uint64_t>(0) : byteCount(value);
        sample_ = bytes.value_or(sample_);
        return bytes.has_value();
    }
    [[gnu::cold]] static Text tellSample() noexcept {
        std::uint64_t bytes = sample_;
        if (bytes == 0) {
            return Text().put("off");
        }
        std::size_t unit = 0;
        for (; unit < 4 && bytes % 1024 == 0; ++unit) {
            bytes /= 1024;
        }
        constexpr std::array<std::string_view, 5> units = {"", "K", "M", "G", "T"};
        return Text().putNumber(bytes).put(units[unit]);
    }

    static constexpr std::array<Choice<Format>, 3> formats = {
        {{"table", Format::table}, {"json", Format::json}, {"openmetrics", Format::openMetrics}}};
    [[gnu::cold]] static bool takeFormat(std::string_view value) noexcept {
        const auto chosenOne = chosen(value, formats);
        format_ = chosenOne.value_or(format_);
        return chosenOne.has_value();
    }
    [[gnu::cold]] static Text tellFormat() noexcept {
        const Format now = format_;
        return Text().put(now == Format::table  ? "table"
                          : now == Format::json ? "json"
                                                : "openmetrics");
    }
    [[gnu::cold]] static bool takeTarget(std::string_view value) noexcept {
        if (value.empty() || value.size() > longestValue - 24) { // a process number may be inserted
            return false;
        }
        const Guard<FutexLock> hold(lock_);
        target_.clear();
        target_.put(value);
        return true;
    }
    [[gnu::cold]] static Text tellTarget() noexcept {
        const Guard<FutexLock> hold(lock_);
        return target_;
    }

    static inline constinit std::atomic<Stage> stage_{Stage::unread};
    static inline constinit std::atomic<std::uint32_t> delay_{defaultDelay};
    static inline constinit std::atomic<bool> huge_{true};
    static inline constinit std::atomic<Background> background_{Background::automatic};
    static inline constinit std::atomic<bool> atExit_{false};
    static inline constinit std::atomic<Format> format_{Format::table};
    static inline constinit std::atomic<int> signal_{0};
    static inline constinit std::atomic<std::uint32_t> guard_{0};
    static inline constinit std::atomic<bool> guardReports_{false};
    static inline constinit std::atomic<std::uint64_t> sample_{0};
    static inline constinit std::atomic<Waker> waker_{nullptr};
    static inline constinit FutexLock lock_; ///< for values of more than one word
    static inline constinit Text target_ = Text().put("stderr");
};

inline constexpr std::array<GranarySettings::Setting, 8> GranarySettings::settings_ = {
    {{"return", "a time as 250ms or 2s, at-once or never", &takeDelay, &tellDelay},
     {"background", "auto, on or off", &takeBackground, &tellBackground},
     {"huge-pages", "on or off",
      [](std::string_view value) noexcept { return takeSwitch(huge_, value); },
      []() noexcept { return tellSwitch(huge_); }},
     {"guard", "off, a number as 1000 or a number with a report as 1000+report", &takeGuard,
      &tellGuard},
     {"sample", "off or a number of bytes as 512K, before the program starts", &takeSample,
      &tellSample},
     {"statistics", "off, exit, signal:NAME or exit+signal:NAME", &takeStatistics, &tellStatistics},
     {"format", "table, json or openmetrics", &takeFormat, &tellFormat},
     {"to", "stderr, the number of a descriptor or a path of up to 231 bytes", &takeTarget,
      &tellTarget}}};

static_assert(PurgePolicy<GranarySettings>);

} // namespace heapwright
