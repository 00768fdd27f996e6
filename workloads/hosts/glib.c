/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses GLib's slices: a simulation of stations that pass parcels on.
 *
 *     glib-host STEPS
 *
 * Parcels wait in a tree by their due time. Each has a list of the stations that it has visited and
 * one of its pieces. Stations have queues. Tree nodes, lists, queues and the parcels are slices.
 * G_SLICE=always-malloc in the environment makes GLib allocate all of them by malloc. Since GLib
 * 2.76, slices always use malloc, so the program refuses to run there.
 *
 * Prints a sum over the delivered parcels, which depends on STEPS only. Exit status: 2 if the
 * command line is invalid, 3 if there are no slices.
 */
#include <glib.h>

#include <stdio.h>
#include <stdlib.h>

enum { STATIONS = 64, LIVE = 20000, PIECES = 6 };

struct parcel {
    guint64 due;
    guint64 number;
    GSList* seen;
    GList* pieces;
};

struct world {
    GTree* waiting; /* by due time, then number */
    GQueue* stations[STATIONS];
    guint64 random;
    guint64 made;
    guint64 sum;
};

static guint64 draw(struct world* world, guint64 below) {
    world->random = world->random * 6364136223846793005u + 1442695040888963407u;
    return (world->random >> 33) % below;
}

static gint by_time(gconstpointer one, gconstpointer other, gpointer unused) {
    const struct parcel* a = one;
    const struct parcel* b = other;
    (void)unused;
    if (a->due != b->due)
        return a->due < b->due ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void send_one(struct world* world, guint64 now) {
    struct parcel* parcel = g_slice_new0(struct parcel);
    const guint64 pieces = 1 + draw(world, PIECES);
    parcel->number = ++world->made;
    parcel->due = now + 1 + draw(world, 1000);
    for (guint64 each = 0; each < pieces; ++each)
        parcel->pieces = g_list_prepend(parcel->pieces, GSIZE_TO_POINTER(draw(world, 500) + 1));
    g_tree_insert(world->waiting, parcel, parcel);
}

static void deliver(struct world* world, struct parcel* parcel) {
    for (const GList* each = parcel->pieces; each != NULL; each = each->next)
        world->sum += GPOINTER_TO_SIZE(each->data);
    world->sum += g_slist_length(parcel->seen) * parcel->number % 97;
    g_list_free(parcel->pieces);
    g_slist_free(parcel->seen);
    g_slice_free(struct parcel, parcel);
}

/* The earliest of the parcels; the tree visits them in order. */
static gboolean first(gpointer key, gpointer value, gpointer found) {
    (void)value;
    *(struct parcel**)found = key;
    return TRUE;
}

static void hand_on(struct world* world, struct parcel* parcel) {
    const guint64 station = draw(world, STATIONS);
    GQueue* queue = world->stations[station];
    parcel->seen = g_slist_prepend(parcel->seen, GSIZE_TO_POINTER(station + 1));
    g_queue_push_tail(queue, parcel);
    if (g_queue_get_length(queue) > 8) {
        struct parcel* next = g_queue_pop_head(queue);
        next->due = parcel->due + 1 + draw(world, 1000);
        g_tree_insert(world->waiting, next, next);
    }
}

static void step(struct world* world) {
    struct parcel* parcel = NULL;
    guint64 now;
    g_tree_foreach(world->waiting, first, &parcel);
    g_tree_remove(world->waiting, parcel);
    now = parcel->due;
    if (draw(world, 4) == 0) {
        deliver(world, parcel);
        send_one(world, now);
    } else {
        hand_on(world, parcel);
        if ((guint64)g_tree_nnodes(world->waiting) < LIVE)
            send_one(world, now);
    }
}

static gboolean drop(gpointer key, gpointer value, gpointer world) {
    (void)value;
    deliver(world, key);
    return FALSE;
}

static void end(struct world* world) {
    g_tree_foreach(world->waiting, drop, world);
    g_tree_destroy(world->waiting);
    for (guint at = 0; at < STATIONS; ++at) {
        struct parcel* parcel;
        while ((parcel = g_queue_pop_head(world->stations[at])) != NULL)
            deliver(world, parcel);
        g_queue_free(world->stations[at]);
    }
}

int main(int argc, char** argv) {
    struct world world = {NULL, {NULL}, 2002, 0, 0};
    char* rest = NULL;
    const unsigned long steps = argc == 2 ? strtoul(argv[1], &rest, 10) : 0;
    if (steps == 0 || *rest != '\0' || argv[1][0] == '-') {
        fputs("usage: glib-host STEPS\n", stderr);
        return 2;
    }
    if (glib_major_version > 2 || glib_minor_version >= 76) {
        fprintf(stderr, "glib-host: GLib %u.%u has no slices of its own\n", glib_major_version,
                glib_minor_version);
        return 3;
    }
    world.waiting = g_tree_new_with_data(by_time, NULL);
    for (guint at = 0; at < STATIONS; ++at)
        world.stations[at] = g_queue_new();
    for (guint at = 0; at < LIVE; ++at)
        send_one(&world, 0);
    for (unsigned long each = 0; each < steps; ++each)
        step(&world);
    end(&world);
    printf("%" G_GUINT64_FORMAT "\n", world.sum);
    return 0;
}
