/* Collectives over windows of shared memory, beside memory of the program's own, and the life of such windows. The argument says
   whether others map what lies in them once more: 1 for yes. */
#include "memory.h"
#include <pthread.h>
#include <sys/mman.h>

static int lent;

/* How many mappings have the byte at this address, by device, inode and offset. */
static int mappings(const void *address) {
    char *text = malloc(1 << 22), id[2][100], at[8];
    FILE *maps = fopen("/proc/self/maps", "r");
    long length = fread(text, 1, (1 << 22) - 1, maps), found = 0;
    text[length] = 0;
    fclose(maps);
    unsigned long page = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (char *line = text; *line; line = strchr(line, '\n') + 1) {
            unsigned long low, high, offset, inode;
            char device[20];
            if (sscanf(line, "%lx-%lx %7s %lx %19s %lu", &low, &high, at, &offset, device, &inode) != 6) continue;
            snprintf(id[pass], sizeof id[pass], "%s %lu", device, inode);
            if (pass == 0 && low <= (unsigned long)address && (unsigned long)address < high) {
                page = offset + ((unsigned long)address - low);
                break;
            }
            if (pass == 1 && !strcmp(id[0], id[1]) && offset <= page && page < offset + high - low) found++;
        }
    }
    free(text);
    return found;
}

static int64_t *allocate(long bytes, MPI_Comm comm, int apart, MPI_Win *window) {
    MPI_Info info;
    int64_t *base = NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false");
    doing = "MPI_Win_allocate_shared";
    check(MPI_Win_allocate_shared(bytes, 1, info, comm, &base, window) == MPI_SUCCESS, bytes);
    MPI_Info_free(&info);
    return base;
}

/* The window is the library's: its flavour, its layout, and stores that the others see. */
static void window_is_whole(MPI_Win window, int64_t *base, long bytes, int apart) {
    int *flavour, flag, unit;
    MPI_Aint size;
    char *first, *part, *end = NULL;
    doing = "the flavour";
    MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, &flavour, &flag);
    check(flag && *flavour == MPI_WIN_FLAVOR_SHARED, 0);
    doing = "the layout";
    MPI_Win_shared_query(window, MPI_PROC_NULL, &size, &unit, &first);
    for (int rank = 0; rank < all; rank++) {
        MPI_Win_shared_query(window, rank, &size, &unit, &part);
        check(rank > 0 || part == first, 0);
        check(apart || !end || part == end, rank);
        /* Some libraries round parts that lie apart up to pages. */
        check(rank != me || (part == (char *)base && (size == bytes || (apart && size > bytes))), rank);
        end = part + size;
    }
    doing = "what others store";
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    base[0] = 4711 + me;
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window);
    for (int rank = 0; rank < all; rank++) {
        MPI_Win_shared_query(window, rank, &size, &unit, &part);
        check(*(int64_t *)part == 4711 + rank, rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(window);
}

/* Windows and private memory that comes to the same addresses, while another thread calls. */
static MPI_Comm others;
static void *beside(void *argument) {
    (void)argument;
    long n = 20000;
    for (int round = 0; round < 40; round++) {
        /* Of a length at which the system maps memory for it alone, perhaps where a window just was. */
        int64_t *in = malloc(n * 8), *out = malloc(n * all * 8);
        for (long i = 0; i < n; i++) in[i] = given(me, i, round);
        MPI_Allgather(in, n, MPI_INT64_T, out, n, MPI_INT64_T, others);
        for (long i = 0; i < n * all; i++)
            if (out[i] != given(i / n, i % n, round)) MPI_Abort(MPI_COMM_WORLD, 4);
        free(in), free(out);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, argc > 2 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    lent = argc > 1 && atoi(argv[1]);
    MPI_Win early, late, empty, half;

    /* Before there is a team, and after; parts that end at odd places, as their neighbours begin there. */
    long n = 30000, bytes = (n + n * all + 64) * 8;
    int64_t *base = allocate(bytes, MPI_COMM_WORLD, 0, &early);
    for (int i = 0; i < 5; i++) MPI_Barrier(MPI_COMM_WORLD);
    int64_t *second = allocate(bytes + 8 * me, MPI_COMM_WORLD, 1, &late);
    window_is_whole(early, base, bytes, 0);
    window_is_whole(late, second, bytes + 8 * me, 1);
    doing = "where the window lies";
    check(mappings(base) == 1 + lent, mappings(base));
    long lengths[] = {1, 100, 3000, 20001, 30000};
    for (int round = 0; round < 7; round++) {
        long skip = round % 7;
        collectives(MPI_COMM_WORLD, base + skip, base + n + 8, lengths[round % 5], round);
        collectives(MPI_COMM_WORLD, base + skip, second + skip, lengths[round % 5], round);
        int64_t *own = malloc(bytes);
        collectives(MPI_COMM_WORLD, me % 2 ? base + skip : own, me % 2 ? own + n : second, lengths[round % 5], round);
        free(own);
    }

    /* A rank lends what lies in another one's part. */
    doing = "another one's part";
    MPI_Aint size;
    int unit, next = (me + 1) % all;
    int64_t *part, *into = malloc(n * all * 8);
    MPI_Win_shared_query(early, next, &size, &unit, &part);
    for (long i = 0; i < n; i++) base[i] = given(me, i, 99);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allgather(part, n, MPI_INT64_T, into, n, MPI_INT64_T, MPI_COMM_WORLD);
    for (long i = 0; i < n * all; i++) check(into[i] == given((i / n + 1) % all, i % n, 99), i);

    /* Communicators of some of the members, of which some windows are. */
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, me > 0, -me, &some);
    int64_t *others_have_none = allocate(me > 0 ? bytes : 0, some, 0, &half);
    for (int round = 0; round < 6; round++) {
        if (me > 0) collectives(some, base, second, lengths[round % 5], round);
        if (me > 0) collectives(some, others_have_none, others_have_none + n, lengths[round % 5], round);
        collectives(MPI_COMM_WORLD, me > 0 ? others_have_none : base, second, lengths[round % 5], round);
    }
    MPI_Win_free(&half);
    MPI_Comm_free(&some);
    allocate(0, MPI_COMM_WORLD, 0, &empty);
    MPI_Win_free(&empty);
    /* Parts of nothing, and a window whose communicator goes first. */
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    int64_t *one = allocate(me == 0 ? (n * all + n) * 8 : 0, copy, 0, &half);
    MPI_Comm_free(&copy);
    if (me == 0) collectives(MPI_COMM_WORLD, one, one + n, 3000, 3);
    else collectives(MPI_COMM_WORLD, base, second, 3000, 3);
    MPI_Win_free(&half);

    /* Memory that comes where a window was is not taken for it, and windows leave nothing behind. */
    int open = 0;
    long before[2] = {0, 0};
    for (int round = 0; round < 12; round++) {
        if (round == 4) open = descriptors(), before[0] = field(0), before[1] = field(1);
        int64_t *base = allocate(n * 8, MPI_COMM_WORLD, 0, &half);
        doing = "a window's memory";
        for (long i = 0; i < n; i++) base[i] = given(me, i, round);
        MPI_Allgather(base, n, MPI_INT64_T, into, n, MPI_INT64_T, MPI_COMM_WORLD);
        for (long i = 0; i < n * all; i++) check(into[i] == given(i / n, i % n, round), i);
        MPI_Win_free(&half);
        /* The kernel is asked for memory at this place, and gives it elsewhere if another one has it. */
        doing = "memory where a window was";
        uintptr_t page = sysconf(_SC_PAGESIZE), start = (uintptr_t)base / page * page;
        char *pages = mmap((void *)start, n * 8 + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(pages != MAP_FAILED, round);
        int64_t *own = (int64_t *)(pages + ((uintptr_t)base - start));
        for (long i = 0; i < n; i++) own[i] = given(me, i, -round);
        MPI_Allgather(own, n, MPI_INT64_T, into, n, MPI_INT64_T, MPI_COMM_WORLD);
        for (long i = 0; i < n * all; i++) check(into[i] == given(i / n, i % n, -round), i);
        munmap(pages, n * 8 + page);
    }
    doing = "memory after many windows";
    check(descriptors() <= open, descriptors() - open);
    check(field(0) - before[0] < 8 << 20, field(0) - before[0]);
    check(field(1) - before[1] < 8 << 20, field(1) - before[1]);

    if (argc > 2 && level == MPI_THREAD_MULTIPLE) {
        pthread_t thread;
        MPI_Comm_dup(MPI_COMM_WORLD, &others);
        pthread_create(&thread, NULL, beside, NULL);
        for (int round = 0; round < 8; round++) {
            int64_t *base = allocate(20000 * 8, MPI_COMM_WORLD, 0, &half);
            memset(base, round, 20000 * 8);
            MPI_Win_free(&half);
        }
        pthread_join(thread, NULL);
        MPI_Comm_free(&others);
    }
    free(into);
    MPI_Win_free(&late);
    collectives(MPI_COMM_WORLD, base, base + n, n, 1);
    MPI_Win_free(&early);
    if (me == 0) printf("all right\n");
    MPI_Finalize();
    return 0;
}
