// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// All reaps and regions of the process, live or ended: two maps behind one lock. A handle is two
// words for the header's inline functions, which see no memory there. The last 65,536 ended handles
// are kept, so that they are recognised.
#include <capi/checked/groups.hpp>

#include <capi/checked/objects.hpp>
#include <heapwright/core/address.hpp>
#include <heapwright/core/immortal.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/structure/map/address_map.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <bit>
#include <cstdlib>
#include <cstring>

namespace heapwright::capi::checked {
namespace {

enum class End : std::uint8_t { none, destroyed, withParent };

struct Group {
    Address handle;
    Kind kind;
    End end;
    Group* parent;
    Group* children; ///< newest first
    Group* next;     ///< of the same parent; after its end, of all ended groups
    Group* previous;
    Life<Group>* objects; ///< live objects
    std::size_t bytes;    ///< sum of their sizes
};

using Object = Life<Group>;
using Groups = AddressMap<Group>;

/// The words that the inline functions read.
struct Handle {
    std::uintptr_t next = 0;
    std::uintptr_t end = 0;
};

struct World {
    FutexLock lock;
    Groups groups;
    Objects<Group> objects;
    Group* oldest = nullptr; ///< of the ended groups
    Group* newest = nullptr;
    std::size_t ended = 0;
};

constexpr std::size_t mostEnded = 65'536;
constexpr std::size_t mostAlignment = 1 * GiB;

constinit Immortal<World> immortal;

World& world() noexcept {
    return immortal.object;
}

using Hold = Guard<FutexLock>;

/// At the end of the program: checks the freed objects that were not checked yet.
[[gnu::destructor]] void checkAtTheEnd() noexcept {
    const Hold hold(world().lock);
    world().objects.checkWaiting();
}

Group& alive(Kind kind, const void* handle, std::string_view routine) noexcept {
    Groups::Entry* const entry = world().groups.find(addressOf(handle));
    const bool reap = kind == Kind::reap;
    if (entry == nullptr || entry->value.kind != kind) {
        platform::abortWithMessage(routine, reap ? "not a reap" : "not a region");
    }
    if (entry->value.end == End::destroyed) {
        platform::abortWithMessage(routine, reap ? "destroyed reap" : "destroyed region");
    }
    if (entry->value.end == End::withParent) {
        platform::abortWithMessage(routine, reap ? "reap destroyed with its parent"
                                                 : "region destroyed with its parent");
    }
    return entry->value;
}

/// The live object of a group at an address. Any other address ends the program.
Object& liveObject(const Group& group, const void* address, bool freeing,
                   std::string_view routine) noexcept {
    Object* const object = world().objects.at(address);
    if (object == nullptr) {
        const bool inside = world().objects.around(address) != nullptr;
        platform::abortWithMessage(routine,
                                   inside ? "pointer inside an object" : "invalid pointer");
    }
    if (object->fate == Fate::freed) {
        platform::abortWithMessage(routine, freeing ? "double free" : "use of a freed object");
    }
    if (object->fate == Fate::cleared) {
        platform::abortWithMessage(routine, freeing ? "free after clear" : "use after clear");
    }
    if (object->group != &group) {
        platform::abortWithMessage(routine, object->group->kind == Kind::reap
                                                ? "object of another reap"
                                                : "object of a region");
    }
    Objects<Group>::checkBehind(*object, routine);
    return *object;
}

void join(Group& group, Group* parent) noexcept {
    if (parent == nullptr) {
        return;
    }
    group.parent = parent;
    group.next = parent->children;
    if (group.next != nullptr) {
        group.next->previous = &group;
    }
    parent->children = &group;
}

void leave(Group& group) noexcept {
    if (group.parent == nullptr) {
        return;
    }
    (group.previous != nullptr ? group.previous->next : group.parent->children) = group.next;
    if (group.next != nullptr) {
        group.next->previous = group.previous;
    }
}

void endObjects(Group& group, std::string_view routine) noexcept {
    while (group.objects != nullptr) {
        world().objects.end(*group.objects, group.objects, Fate::cleared, routine);
    }
    group.bytes = 0;
}

/// Forgets the handle that ended first.
void forgetOne() noexcept {
    Groups::Entry* const entry = world().groups.find(world().oldest->handle);
    world().oldest = world().oldest->next;
    --world().ended;
    world().groups.remove(entry);
    std::free(pointerTo(entry->start));
    world().groups.release(entry);
}

/// Pre: the group has no children.
void endGroup(Group& group, End how, std::string_view routine) noexcept {
    leave(group);
    endObjects(group, routine);
    group.end = how;
    group.next = nullptr;
    (world().oldest != nullptr ? world().newest->next : world().oldest) = &group;
    world().newest = &group;
    if (++world().ended > mostEnded) {
        forgetOne();
    }
}

Group* innermost(Group* group) noexcept {
    while (group->children != nullptr) {
        group = group->children;
    }
    return group;
}

/// Ends all groups inside, children first.
void endChildren(Group& group, std::string_view routine) noexcept {
    for (Group* at = innermost(&group); at != &group;) {
        Group* const parent = at->parent;
        endGroup(*at, End::withParent, routine);
        at = innermost(parent);
    }
}

} // namespace

void* create(Kind kind, const void* parent, std::string_view routine) noexcept {
    const platform::ErrnoKeeper keeper;
    const Hold hold(world().lock);
    Group* const above = parent == nullptr ? nullptr : &alive(kind, parent, routine);
    Groups::Entry* const entry = world().groups.reserve();
    if (entry == nullptr) {
        return nullptr;
    }
    void* const handle = std::malloc(sizeof(Handle));
    if (handle == nullptr) {
        world().groups.release(entry);
        return nullptr;
    }
    ::new (handle) Handle{};
    entry->value =
        Group{addressOf(handle), kind, End::none, nullptr, nullptr, nullptr, nullptr, nullptr, 0};
    join(entry->value, above);
    world().groups.insert(entry, addressOf(handle), sizeof(Handle));
    return handle;
}

void destroy(Kind kind, const void* handle, std::string_view routine) noexcept {
    const Hold hold(world().lock);
    Group& group = alive(kind, handle, routine);
    endChildren(group, routine);
    endGroup(group, End::destroyed, routine);
}

void clear(Kind kind, const void* handle, std::string_view routine) noexcept {
    const Hold hold(world().lock);
    Group& group = alive(kind, handle, routine);
    endChildren(group, routine);
    endObjects(group, routine);
}

void* parentOf(Kind kind, const void* handle, std::string_view routine) noexcept {
    const Hold hold(world().lock);
    const Group* const parent = alive(kind, handle, routine).parent;
    return parent == nullptr ? nullptr : pointerTo(parent->handle);
}

void* allocate(Kind kind, const void* handle, std::size_t align, std::size_t size,
               std::string_view routine) noexcept {
    const platform::ErrnoKeeper keeper;
    const Hold hold(world().lock);
    Group& group = alive(kind, handle, routine);
    if (!std::has_single_bit(align) || align > mostAlignment) {
        return nullptr;
    }
    void* const object = world().objects.make(group, group.objects, align, size);
    group.bytes += object == nullptr ? 0 : size;
    return object;
}

void free(Kind kind, const void* handle, void* object, std::string_view routine) noexcept {
    const Hold hold(world().lock);
    Group& group = alive(kind, handle, routine);
    if (object == nullptr) {
        return;
    }
    Object& live = liveObject(group, object, true, routine);
    group.bytes -= live.size;
    world().objects.end(live, group.objects, Fate::freed, routine);
}

void* reallocate(Kind kind, const void* handle, void* object, std::size_t size,
                 std::string_view routine) noexcept {
    if (object == nullptr) {
        return allocate(kind, handle, minAlignment, size, routine);
    }
    const std::size_t have = sizeOf(kind, handle, object, routine);
    void* const place = allocate(kind, handle, minAlignment, size, routine);
    if (place != nullptr) {
        std::memcpy(place, object, have < size ? have : size);
        free(kind, handle, object, routine);
    }
    return place;
}

std::size_t sizeOf(Kind kind, const void* handle, const void* object,
                   std::string_view routine) noexcept {
    const Hold hold(world().lock);
    return liveObject(alive(kind, handle, routine), object, false, routine).size;
}

bool owns(Kind kind, const void* handle, const void* address, std::string_view routine) noexcept {
    const Hold hold(world().lock);
    const Group& group = alive(kind, handle, routine);
    const Object* const object = world().objects.around(address);
    return object != nullptr && object->group == &group;
}

std::size_t memoryOf(Kind kind, const void* handle, std::string_view routine) noexcept {
    const Hold hold(world().lock);
    return alive(kind, handle, routine).bytes;
}

} // namespace heapwright::capi::checked
