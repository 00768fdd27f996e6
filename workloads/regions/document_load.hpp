// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A server's work with documents, in any arena. Each request has an arena inside the session's, and
// in that another one for what only reading and writing need. A note of each document stays in the
// session. The result is the sum of all output.
#pragma once

#include "documents.hpp"
#include "json_tree.hpp"

namespace heapwright::workloads {

template <class Arena>
class DocumentLoad {
public:
    DocumentLoad() = default;
    DocumentLoad(const DocumentLoad&) = delete;
    DocumentLoad& operator=(const DocumentLoad&) = delete;
    ~DocumentLoad() { end(); }

    /// Reads a document, tidies it and writes it. With `again`, reads the output and does the same,
    /// which must change nothing. Returns false if it is no JSON, or the output has changed.
    bool serve(const TextPiece& document, bool again = false) {
        Arena request(session_);
        bool fine = false;
        {
            Arena scratch(request);
            Growing<Arena> out(scratch);
            fine = handle(document, request, scratch, out);
            if (fine && again) {
                Growing<Arena> second(scratch);
                fine = handle({out.text(), out.length()}, request, scratch, second) &&
                       out.length() == second.length() &&
                       std::memcmp(out.text(), second.text(), out.length()) == 0;
            }
            note(out);
            objects_ += out.objects();
        }
        return fine;
    }

    /// Frees all that the session has kept.
    void end() {
        if constexpr (!Arena::bulk) {
            for (Note* each = notes_; each != nullptr;) {
                Note* const next = each->next;
                session_.free(each);
                each = next;
            }
        }
        notes_ = nullptr;
        session_.clear();
    }

    [[nodiscard]] std::uint64_t objects() const { return objects_; }
    [[nodiscard]] std::uint64_t sum() const { return sum_; }

private:
    struct Note {
        Note* next;
        std::uint64_t sum;
    };

    bool handle(const TextPiece& document, Arena& request, Arena& scratch, Growing<Arena>& out) {
        Names<Arena> names(request);
        json::Parser<Arena> parser(request, scratch, names);
        json::Tree<Arena> tree(request);
        json::Value* const value = parser.parse(document.begin, document.length);
        if (value != nullptr) {
            tree.tidy(value);
            tree.write(value, out);
        }
        objects_ += names.objects() + parser.objects() + tree.objects();
        if constexpr (!Arena::bulk) {
            if (value != nullptr) {
                json::freeTree(request, value);
            }
            names.freeAll();
        }
        return value != nullptr;
    }

    void note(const Growing<Arena>& out) {
        std::uint64_t sum = sum_;
        for (std::size_t at = 0; at < out.length(); ++at) {
            sum = (sum ^ static_cast<unsigned char>(out.text()[at])) * 0x100000001b3U;
        }
        notes_ = make<Note>(session_, notes_, sum);
        ++objects_;
        sum_ = sum;
    }

    Arena session_;
    Note* notes_ = nullptr;
    std::uint64_t objects_ = 0;
    std::uint64_t sum_ = 0xcbf29ce484222325U;
};

} // namespace heapwright::workloads
