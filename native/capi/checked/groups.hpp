// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reaps and regions of the checking library. The two differ only in their names, and single objects
// of a region are not freed. Every call passes the name of the function for the message that ends
// the program:
//
//   heapwright: reap_free(): double free
//   heapwright: reap_free(): free after clear            the clearing of the reap freed the object
//   heapwright: reap_free(): object of another reap      or of a region
//   heapwright: reap_free(): pointer inside an object
//   heapwright: reap_free(): invalid pointer
//   heapwright: reap_free(): overflow                    the bytes behind the object were changed
//   heapwright: reap_malloc(): destroyed reap            also: destroyed twice
//   heapwright: reap_malloc(): reap destroyed with its parent
//   heapwright: reap_malloc(): not a reap
//   heapwright: free(): use after free                   found when the memory is freed, or at the
//                                                        end of the program
//
// Functions other than a free report a freed object as `use of a freed object`. Any thread may call
// at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright::capi::checked {

enum class Kind : std::uint8_t { reap, region };

/// Returns the handle that C code uses. Null if there is no memory.
[[nodiscard]] void* create(Kind kind, const void* parent, std::string_view routine) noexcept;
void destroy(Kind kind, const void* handle, std::string_view routine) noexcept;
void clear(Kind kind, const void* handle, std::string_view routine) noexcept;
[[nodiscard]] void* parentOf(Kind kind, const void* handle, std::string_view routine) noexcept;

/// Returns null if there is no memory, or if the alignment is not a power of two.
[[nodiscard]] void* allocate(Kind kind, const void* handle, std::size_t align, std::size_t size,
                             std::string_view routine) noexcept;
void free(Kind kind, const void* handle, void* object, std::string_view routine) noexcept;
/// Always moves the object, so that later uses of the old one are detected.
[[nodiscard]] void* reallocate(Kind kind, const void* handle, void* object, std::size_t size,
                               std::string_view routine) noexcept;

[[nodiscard]] std::size_t sizeOf(Kind kind, const void* handle, const void* object,
                                 std::string_view routine) noexcept;
[[nodiscard]] bool owns(Kind kind, const void* handle, const void* address,
                        std::string_view routine) noexcept;
[[nodiscard]] std::size_t memoryOf(Kind kind, const void* handle,
                                   std::string_view routine) noexcept;

} // namespace heapwright::capi::checked
