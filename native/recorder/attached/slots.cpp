// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See slots.hpp.
#include "slots.hpp"

#include "entry.hpp"

#include <heapwright/platform/pages.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

extern "C" {
void cfree(void*) noexcept;
void free_sized(void*, std::size_t) noexcept;
void free_aligned_sized(void*, std::size_t, std::size_t) noexcept;
}

namespace heapwright::recorder::attached {

namespace {

struct Routine {
    const char* name;
    std::uintptr_t ours;
    std::uintptr_t theirs; ///< 0: the process has no such function
};

template <class Function>
std::uintptr_t addressOf(Function* function) noexcept {
    return reinterpret_cast<std::uintptr_t>(function);
}

Routine routines[] = {
    {"malloc", addressOf(&::malloc), 0},
    {"free", addressOf(&::free), 0},
    {"calloc", addressOf(&::calloc), 0},
    {"realloc", addressOf(&::realloc), 0},
    {"reallocarray", addressOf(&::reallocarray), 0},
    {"memalign", addressOf(&::memalign), 0},
    {"aligned_alloc", addressOf(&::aligned_alloc), 0},
    {"posix_memalign", addressOf(&::posix_memalign), 0},
    {"valloc", addressOf(&::valloc), 0},
    {"pvalloc", addressOf(&::pvalloc), 0},
    {"cfree", addressOf(&::cfree), 0},
    {"free_sized", addressOf(&::free_sized), 0},
    {"free_aligned_sized", addressOf(&::free_aligned_sized), 0},
    {"dlclose", addressOf(&::dlclose), 0},
};

struct Slot {
    std::uintptr_t* at;
    std::uintptr_t before;
};

constinit FutexLock lock;
constinit Slot* slots = nullptr;
constinit std::size_t room = 0;
constinit std::atomic<std::size_t> used{0};

/// The tables of one object.
struct Object {
    std::uintptr_t base = 0;
    std::uintptr_t begin = 0; ///< of its first segment
    std::uintptr_t end = 0;
    std::uintptr_t sealedBegin = 0;
    std::uintptr_t sealedEnd = 0;
    const Elf64_Rela* jumps = nullptr;
    std::size_t jumpCount = 0;
    const Elf64_Rela* others = nullptr;
    std::size_t otherCount = 0;
    const Elf64_Sym* symbols = nullptr;
    const char* names = nullptr;

    explicit Object(const dl_phdr_info& info) noexcept : base(info.dlpi_addr) {
        const Elf64_Dyn* dynamic = nullptr;
        begin = ~std::uintptr_t{0};
        for (int i = 0; i < info.dlpi_phnum; ++i) {
            const Elf64_Phdr& part = info.dlpi_phdr[i];
            const std::uintptr_t at = base + part.p_vaddr;
            if (part.p_type == PT_DYNAMIC) {
                dynamic = reinterpret_cast<const Elf64_Dyn*>(at);
            } else if (part.p_type == PT_LOAD) {
                begin = at < begin ? at : begin;
                end = at + part.p_memsz > end ? at + part.p_memsz : end;
            } else if (part.p_type == PT_GNU_RELRO) {
                sealedBegin = at & ~(platform::pageSize() - 1);
                sealedEnd = (at + part.p_memsz) & ~(platform::pageSize() - 1);
            }
        }
        for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
            read(*dynamic);
        }
    }

    /// The loader has made the addresses of most objects absolute, but not of the kernel's.
    template <class Pointer>
    Pointer pointer(std::uintptr_t value) const noexcept {
        return reinterpret_cast<Pointer>(value < base ? base + value : value);
    }

    void read(const Elf64_Dyn& entry) noexcept {
        const std::uintptr_t value = entry.d_un.d_ptr;
        switch (entry.d_tag) {
        case DT_JMPREL:
            jumps = pointer<const Elf64_Rela*>(value);
            break;
        case DT_PLTRELSZ:
            jumpCount = value / sizeof(Elf64_Rela);
            break;
        case DT_RELA:
            others = pointer<const Elf64_Rela*>(value);
            break;
        case DT_RELASZ:
            otherCount = value / sizeof(Elf64_Rela);
            break;
        case DT_SYMTAB:
            symbols = pointer<const Elf64_Sym*>(value);
            break;
        case DT_STRTAB:
            names = pointer<const char*>(value);
            break;
        default:
            break;
        }
    }

    bool holds(std::uintptr_t address) const noexcept { return address >= begin && address < end; }

    bool isSealed(const void* at) const noexcept {
        const auto address = reinterpret_cast<std::uintptr_t>(at);
        return address >= sealedBegin && address < sealedEnd;
    }
};

/// Makes the page of a word writable for the time of one write.
class Writable {
public:
    Writable(const Object& object, std::uintptr_t* at) noexcept : sealed_(object.isSealed(at)) {
        page_ = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at) &
                                        ~(platform::pageSize() - 1));
        ok_ = !sealed_ || ::mprotect(page_, platform::pageSize(), PROT_READ | PROT_WRITE) == 0;
    }
    Writable(const Writable&) = delete;
    Writable& operator=(const Writable&) = delete;
    ~Writable() {
        if (sealed_ && ok_) {
            ::mprotect(page_, platform::pageSize(), PROT_READ);
        }
    }
    explicit operator bool() const noexcept { return ok_; }

private:
    bool sealed_;
    bool ok_ = false;
    void* page_;
};

/// An entry of an import table.
struct Entry {
    std::uintptr_t* at;
    bool isJump;        ///< it is for calls
    std::uintptr_t own; ///< the routine of this name in the same object; 0 without one
};

/// Calls `visit(entry, routine)` for each entry with the name of a routine.
template <class Visit>
void visit(const Object& object, const Elf64_Rela* list, std::size_t count, Visit visit) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const auto type = ELF64_R_TYPE(list[i].r_info);
        if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) {
            continue;
        }
        const Elf64_Sym& symbol = object.symbols[ELF64_R_SYM(list[i].r_info)];
        const char* const name = object.names + symbol.st_name;
        for (const Routine& routine : routines) {
            if (routine.theirs != 0 && std::strcmp(name, routine.name) == 0) {
                const std::uintptr_t own =
                    symbol.st_shndx == SHN_UNDEF ? 0 : object.base + symbol.st_value;
                visit(Entry{reinterpret_cast<std::uintptr_t*>(object.base + list[i].r_offset),
                            type == R_X86_64_JUMP_SLOT, own},
                      routine);
            }
        }
    }
}

template <class Visit>
void visitAll(const Object& object, Visit each) noexcept {
    if (object.symbols != nullptr && object.names != nullptr) {
        visit(object, object.jumps, object.jumps == nullptr ? 0 : object.jumpCount, each);
        visit(object, object.others, object.others == nullptr ? 0 : object.otherCount, each);
    }
}

/// Whether the entry leads to the allocator, or will when it is used for the first time. An address
/// in the object itself is that of the code which looks for the routine, or the object's own
/// routine. A library that was loaded with RTLD_DEEPBIND has the latter.
bool leadsToAllocator(const Object& object, std::uintptr_t value, const Entry& entry,
                      const Routine& routine) noexcept {
    return value == routine.theirs || (entry.isJump && object.holds(value) && value != entry.own);
}

bool isOurs(const Object& object) noexcept {
    return object.holds(addressOf(&redirect));
}

int countObject(dl_phdr_info* info, std::size_t, void* sum) noexcept {
    const Object object(*info);
    visitAll(object, [&](const Entry&, const Routine&) { ++*static_cast<std::size_t*>(sum); });
    return 0;
}

int redirectObject(dl_phdr_info* info, std::size_t, void*) noexcept {
    const Object object(*info);
    if (isOurs(object)) {
        return 0;
    }
    visitAll(object, [&](const Entry& entry, const Routine& routine) {
        const std::atomic_ref word(*entry.at);
        const std::uintptr_t before = word.load();
        const std::size_t count = used.load();
        if (count == room || !leadsToAllocator(object, before, entry, routine)) {
            return;
        }
        if (const Writable writable(object, entry.at); writable) {
            slots[count] = {entry.at, before};
            used.store(count + 1); // restorable before it is redirected
            word.store(routine.ours);
        }
    });
    return 0;
}

int restoreObject(dl_phdr_info* info, std::size_t, void*) noexcept {
    const Object object(*info);
    for (std::size_t i = 0; i < used.load(); ++i) {
        if (!object.holds(reinterpret_cast<std::uintptr_t>(slots[i].at))) {
            continue;
        }
        const std::atomic_ref word(*slots[i].at);
        for (const Routine& routine : routines) {
            if (word.load() == routine.ours) {
                if (const Writable writable(object, slots[i].at); writable) {
                    word.store(slots[i].before);
                }
            }
        }
    }
    return 0;
}

} // namespace

bool redirect() noexcept {
    for (Routine& routine : routines) {
        routine.theirs = addressOf(::dlsym(entry::allocatorScope, routine.name));
    }
    std::size_t count = 0;
    ::dl_iterate_phdr(&countObject, &count);
    const std::size_t page = platform::pageSize();
    const std::size_t bytes = ((count + 1) * sizeof(Slot) + page - 1) & ~(page - 1);
    slots = static_cast<Slot*>(platform::mapPages(bytes));
    if (slots == nullptr) {
        return false;
    }
    room = bytes / sizeof(Slot);
    const Guard guard(lock);
    ::dl_iterate_phdr(&redirectObject, nullptr);
    return true;
}

void restore() noexcept {
    const Guard guard(lock);
    ::dl_iterate_phdr(&restoreObject, nullptr);
}

unsigned redirected() noexcept {
    return static_cast<unsigned>(used.load());
}

void listEntries(Agreement& agreement) noexcept {
    for (const Routine& routine : routines) {
        agreement.entry[agreement.entries++] = ~routine.ours;
    }
}

} // namespace heapwright::recorder::attached
