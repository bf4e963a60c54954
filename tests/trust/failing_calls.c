/* A file system on which one call fails. Loaded with LD_PRELOAD; tests/trust/test_failing_disk.py builds and steers it.

   Calls on files in one folder are counted by kind. The call with the chosen number, or this call and all that follow,
   fails with an error number, kills the process, or writes only half. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, WRITE, FSYNC, FLOCK, RENAME, LINK, CHMOD, MKDIR, UNLINK, KINDS };
enum { KILL = -1, HALF = -2 };

static char folder[PATH_MAX];
static size_t folder_length;
static int chosen_kind = -1, chosen_number, chosen_error, and_later;
static int counts[KINDS];

/* Count the calls on files in a folder from now on. Call `number` of a kind fails with `error`, or not at all if the kind is -1. */
void arm(const char *path, int kind, int number, int error, int later) {
    snprintf(folder, sizeof folder, "%s", path);
    folder_length = strlen(folder);
    chosen_kind = kind, chosen_number = number, chosen_error = error, and_later = later;
    memset(counts, 0, sizeof counts);
}

void disarm(void) { folder_length = 0; }

int count(int kind) { return counts[kind]; }

static int is_inside(const char *path) {
    return folder_length && path && !strncmp(path, folder, folder_length);
}

static int is_open_inside(int descriptor) {
    char link[64], path[PATH_MAX];
    if (!folder_length)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return is_inside(path);
}

/* Count a call. Return 0 if it may run, 1 if it must fail with errno set, HALF if it must write half. */
static int meet(enum kind kind, int inside) {
    if (!inside)
        return 0;
    int number = ++counts[kind];
    if ((int)kind != chosen_kind || number < chosen_number || (number > chosen_number && !and_later))
        return 0;
    if (chosen_error == KILL)
        kill(getpid(), SIGKILL);
    if (chosen_error == HALF)
        return number == chosen_number ? HALF : 0;
    errno = chosen_error;
    return 1;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define OPENING(name)                                                                                                  \
    int name(const char *path, int flags, ...) {                                                                       \
        REAL(name);                                                                                                    \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = va_arg(rest, mode_t);                                                                            \
        va_end(rest);                                                                                                  \
        return meet(OPEN, is_inside(path)) ? -1 : real(path, flags, mode);                                             \
    }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name)                                                                                               \
    int name(int at, const char *path, int flags, ...) {                                                               \
        REAL(name);                                                                                                    \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t mode = va_arg(rest, mode_t);                                                                            \
        va_end(rest);                                                                                                  \
        return meet(OPEN, is_inside(path)) ? -1 : real(at, path, flags, mode);                                         \
    }
OPENING_AT(openat)
OPENING_AT(openat64)

ssize_t write(int descriptor, const void *bytes, size_t size) {
    REAL(write);
    switch (meet(WRITE, is_open_inside(descriptor))) {
    case 1:
        return -1;
    case HALF:
        return real(descriptor, bytes, (size + 1) / 2);
    }
    return real(descriptor, bytes, size);
}

#define FIRST_IS_DESCRIPTOR(kind, name, parameters, arguments)                                                         \
    int name parameters {                                                                                              \
        REAL(name);                                                                                                    \
        return meet(kind, is_open_inside(descriptor)) ? -1 : real arguments;                                           \
    }
FIRST_IS_DESCRIPTOR(FSYNC, fsync, (int descriptor), (descriptor))
FIRST_IS_DESCRIPTOR(FSYNC, fdatasync, (int descriptor), (descriptor))
int flock(int, int);
FIRST_IS_DESCRIPTOR(FLOCK, flock, (int descriptor, int how), (descriptor, how))
FIRST_IS_DESCRIPTOR(CHMOD, fchmod, (int descriptor, mode_t mode), (descriptor, mode))

#define HAS_PATH(kind, name, parameters, arguments, path)                                                              \
    int name parameters {                                                                                              \
        REAL(name);                                                                                                    \
        return meet(kind, is_inside(path)) ? -1 : real arguments;                                                      \
    }
HAS_PATH(RENAME, rename, (const char *from, const char *to), (from, to), to)
HAS_PATH(RENAME, renameat, (int at, const char *from, int at_to, const char *to), (at, from, at_to, to), to)
HAS_PATH(LINK, link, (const char *from, const char *to), (from, to), to)
HAS_PATH(LINK, linkat, (int at, const char *from, int at_to, const char *to, int how), (at, from, at_to, to, how), to)
HAS_PATH(LINK, symlink, (const char *from, const char *to), (from, to), to)
HAS_PATH(CHMOD, chmod, (const char *path, mode_t mode), (path, mode), path)
HAS_PATH(CHMOD, fchmodat, (int at, const char *path, mode_t mode, int how), (at, path, mode, how), path)
HAS_PATH(MKDIR, mkdir, (const char *path, mode_t mode), (path, mode), path)
HAS_PATH(UNLINK, unlink, (const char *path), (path), path)
HAS_PATH(UNLINK, unlinkat, (int at, const char *path, int how), (at, path, how), path)
