/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Storage inside the guest: ext4 on a loop device over a file in tmpfs. A disk of the host would
 * respond at varying times, so no run would be repeatable. A tmpfs alone makes hardly any requests
 * to the object allocators. The program mke2fs gets fixed identifiers instead of random ones.
 */
#include "guest.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE "/tmp/storage"
#define DEVICE "/dev/loop0"
#define MOUNTED "/data"

static void attach(void) {
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0 || (access(DEVICE, F_OK) != 0 && ioctl(control, LOOP_CTL_ADD, 0) < 0)) {
        fail("a loop device");
    }
    close(control);
    int image = open(IMAGE, O_RDWR | O_CLOEXEC);
    int loop = open(DEVICE, O_RDWR | O_CLOEXEC);
    if (image < 0 || loop < 0 || ioctl(loop, LOOP_SET_FD, image) != 0) {
        fail("storage on a loop device");
    }
    close(image);
    close(loop);
}

static const char* mountDevice(void) {
    if (mount(DEVICE, MOUNTED, "ext4", MS_NOATIME, NULL) != 0) {
        fail("mounting ext4");
    }
    return MOUNTED;
}

const char* mountStorage(uint64_t mebibytes) {
    char* const words[] = {"mke2fs",
                           "-q",
                           "-F",
                           "-t",
                           "ext4",
                           "-U",
                           "6d1f0b52-8a35-4f0e-9c8e-2f6b1a7d4c10",
                           "-E",
                           "hash_seed=0b6f9d3e-51c2-4a78-8f1d-93e7a5c0d264,lazy_itable_init=0",
                           IMAGE,
                           NULL};
    int image = open(IMAGE, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    if (image < 0 || ftruncate(image, (off_t)(mebibytes << 20)) != 0) {
        fail("the file for the storage");
    }
    close(image);
    if (runProgram("/sbin/mke2fs", words, 0) != 0) {
        fail("mke2fs");
    }
    attach();
    mkdir(MOUNTED, 0700);
    return mountDevice();
}

const char* remountStorage(void) {
    if (umount(MOUNTED) != 0) {
        fail("the end of the use of ext4");
    }
    return mountDevice();
}
