/* MPI's collectives, measured on request.
 *
 * Every rank connects to the socket DIR/socket, says its rank and process, and then sleeps in
 * read(2) until it is told what to do, so that ranks which would poll inside MPI use no CPU between
 * their rounds:
 *
 *   rank R N PID                                       <- hello
 *   check OPERATION COUNT ROUNDS SECONDS               -> ok | wrong TEXT
 *   time OPERATION COUNT PLACES WARM OPERATIONS LEAD COLD LOOSE SECONDS
 *                                                      -> times K, and K pairs of 8-byte numbers
 *
 * COUNT is in doubles; LEAD is how many nanoseconds before it a common start is agreed on, 0 for
 * none, since ranks leave a barrier one after the other; COLD is how many bytes of other memory
 * each rank goes through before an operation; LOOSE is 1 if operations run back to back, without a
 * barrier in between. A pair is when an operation began on this rank and how long it took, in
 * nanoseconds; barriers and loose operations come as one pair, for all. End of file ends the program,
 * and so does an alarm, should an order take longer than SECONDS: nobody is left behind. */
#define _GNU_SOURCE
#include "guard.h"
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum operation {
  BARRIER, BROADCAST, REDUCE, ALLREDUCE, SCATTER, GATHER, ALLGATHER, REDUCE_SCATTER, ALLTOALL, SCAN,
  EXSCAN, SCATTERV, GATHERV, ALLGATHERV, REDUCE_SCATTERV, ALLTOALLV, OPERATIONS
};

/* `in` and `out`: how many blocks of COUNT doubles a rank gives and gets, 0 for one per rank; the blocks of
 * operations on `v` are uneven. The root alone gives in a broadcast and a scatter, and gets in a reduce and a
 * gather; the first rank gets nothing in an exscan. */
static const struct { const char *name; int in, out; } operations[OPERATIONS] = {
    [BARRIER] = {"barrier", -1, -1},
    [BROADCAST] = {"broadcast", 1, 1},
    [REDUCE] = {"reduce", 1, 1},
    [ALLREDUCE] = {"allreduce", 1, 1},
    [SCATTER] = {"scatter", 0, 1},
    [GATHER] = {"gather", 1, 0},
    [ALLGATHER] = {"allgather", 1, 0},
    [REDUCE_SCATTER] = {"reduce_scatter", 0, 1},
    [ALLTOALL] = {"alltoall", 0, 0},
    [SCAN] = {"scan", 1, 1},
    [EXSCAN] = {"exscan", 1, 1},
    [SCATTERV] = {"scatterv", 0, 1},
    [GATHERV] = {"gatherv", 1, 0},
    [ALLGATHERV] = {"allgatherv", 1, 0},
    [REDUCE_SCATTERV] = {"reduce_scatterv", 0, 1},
    [ALLTOALLV] = {"alltoallv", 0, 0},
};

enum { ROOT = 0, LINE = 64 / sizeof(double) };

/* Buffers above this size are given back after each order: contestants that wait hold no memory. */
#define KEPT ((size_t)8 << 20)

static int rank, ranks, wire;
static const char *fault;

static void die(const char *what) {
  fprintf(stderr, "rank %d: %s: %s\n", rank, what, strerror(errno));
  _exit(3);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* What two looks at the clock take, which no operation is charged for. */
static int64_t clock_ns(void) {
  int64_t least = INT64_MAX;
  for (int i = 0; i < 1000; i++) {
    int64_t begin = now_ns(), took = now_ns() - begin;
    if (took < least) least = took;
  }
  return least;
}

static void say(const void *data, size_t bytes) {
  for (const char *at = data; bytes > 0;) {
    ssize_t sent = send(wire, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) _exit(3);
    at += sent;
    bytes -= (size_t)sent;
  }
}

static void say_line(const char *line) { say(line, strlen(line)); }

/* One order, without its newline; 0 at the end of file. */
static int hear(char *line, size_t room) {
  for (size_t used = 0; used + 1 < room;) {
    ssize_t got = read(wire, line + used, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    if (line[used] == '\n') {
      line[used] = 0;
      return 1;
    }
    used++;
  }
  return 0;
}

/* Operands are small whole numbers, whose sums are exact in any order. */
static double value(int of, int64_t number, size_t at) {
  return (double)((of * 131 + number * 17 + (int64_t)(at % 1021) * 7) % 1021);
}

/* The elements of all uneven blocks before block `k`: they rise evenly from none to twice `count`. */
static size_t before(size_t k, size_t count) {
  return ranks == 1 ? count * k : k == 0 ? 0 : count * k * (k - 1) / (size_t)(ranks - 1);
}

static size_t uneven(int k, size_t count) { return before((size_t)k + 1, count) - before((size_t)k, count); }

/* The elements of the block that `of` gives to `to`. */
static size_t block(enum operation operation, int of, int to, size_t count) {
  switch (operation) {
  case SCATTERV:
  case REDUCE_SCATTERV: return uneven(to, count);
  case GATHERV:
  case ALLGATHERV: return uneven(of, count);
  case ALLTOALLV: return uneven((of + to) % ranks, count);
  default: return count;
  }
}

/* What MPI is told of uneven blocks. */
static struct layout { int *counts, *starts; size_t all; } give, take;

/* All blocks that this rank gives, or gets: of `number` as in `operations`. */
static void lay_out(struct layout *layout, enum operation operation, int number, int gives, size_t count) {
  layout->counts = realloc(layout->counts, (size_t)ranks * sizeof(int));
  layout->starts = realloc(layout->starts, (size_t)ranks * sizeof(int));
  if (!layout->counts || !layout->starts) die("blocks");
  layout->all = 0;
  for (int k = 0; k < ranks; k++) {
    size_t length = gives ? block(operation, rank, k, count) : block(operation, k, rank, count);
    if (operation >= SCATTERV && layout->all > INT_MAX) {
      errno = EOVERFLOW;
      die("blocks that begin beyond what MPI counts");
    }
    layout->counts[k] = (int)length;
    layout->starts[k] = (int)layout->all;
    if (number == 0 || (number == 1 && k == 0)) layout->all += length;
  }
}

/* Reads and writes one word of each line of other memory, to drive all else out of caches. */
static void walk(int64_t bytes) {
  static volatile uint64_t *words;
  static int64_t there;
  if (there < bytes) {
    free((void *)words);
    words = calloc((size_t)bytes / 8 + 1, 8);
    if (!words) die("memory to walk through");
    there = bytes;
  }
  for (int64_t at = 0; at < bytes / 8; at += LINE) words[at]++;
}

/* Whether this rank has something to give. */
static int gives(enum operation operation) {
  return operation == BROADCAST || operation == SCATTER || operation == SCATTERV ? rank == ROOT : operation != BARRIER;
}

/* Whether this rank gets a result; a broadcast's root has its own data. */
static int gets(enum operation operation) {
  switch (operation) {
  case BARRIER: return 0;
  case BROADCAST: return rank != ROOT;
  case REDUCE:
  case GATHER:
  case GATHERV: return rank == ROOT;
  case EXSCAN: return rank > 0;
  default: return 1;
  }
}

struct buffers {
  double *in, *out;
  size_t in_count, out_count;
  int places;
};

static struct buffers kept;
static int kept_operation = -1;
static size_t kept_count;

static void release(void) {
  free(kept.in);
  free(kept.out);
  kept = (struct buffers){0};
  kept_operation = -1;
}

static double *room(size_t count) {
  void *memory = NULL;
  size_t bytes = (count + LINE) * sizeof(double);
  if (posix_memalign(&memory, 4096, bytes) != 0) {
    errno = ENOMEM;
    die("buffers");
  }
  memset(memory, 0, bytes);
  return memory;
}

static void prepare_buffers(enum operation operation, size_t count, int places) {
  if (kept_operation == (int)operation && kept_count == count && kept.places == places) return;
  release();
  lay_out(&give, operation, operations[operation].in, 1, count);
  lay_out(&take, operation, operations[operation].out, 0, count);
  kept.in_count = gives(operation) ? give.all : 0;
  kept.out_count = gets(operation) ? take.all : 0;
  kept.in = room(kept.in_count * (size_t)places);
  kept.out = room(kept.out_count * (size_t)places);
  kept.places = places;
  kept_operation = (int)operation;
  kept_count = count;
}

static void tidy_up(void) {
  if ((kept.in_count + kept.out_count) * (size_t)kept.places * sizeof(double) > KEPT) release();
}

static void perform(enum operation operation, double *in, double *out, int n) {
  MPI_Comm all = MPI_COMM_WORLD;
  switch (operation) {
  case BARRIER: MPI_Barrier(all); break;
  case BROADCAST: MPI_Bcast(rank == ROOT ? in : out, n, MPI_DOUBLE, ROOT, all); break;
  case REDUCE: MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, ROOT, all); break;
  case ALLREDUCE: MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, all); break;
  case SCATTER: MPI_Scatter(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, ROOT, all); break;
  case GATHER: MPI_Gather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, ROOT, all); break;
  case ALLGATHER: MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, all); break;
  case REDUCE_SCATTER: MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, all); break;
  case ALLTOALL: MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, all); break;
  case SCAN: MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, all); break;
  case EXSCAN: MPI_Exscan(in, out, n, MPI_DOUBLE, MPI_SUM, all); break;
  case SCATTERV:
    MPI_Scatterv(in, give.counts, give.starts, MPI_DOUBLE, out, (int)take.all, MPI_DOUBLE, ROOT, all);
    break;
  case GATHERV:
    MPI_Gatherv(in, (int)give.all, MPI_DOUBLE, out, take.counts, take.starts, MPI_DOUBLE, ROOT, all);
    break;
  case ALLGATHERV:
    MPI_Allgatherv(in, (int)give.all, MPI_DOUBLE, out, take.counts, take.starts, MPI_DOUBLE, all);
    break;
  case REDUCE_SCATTERV: MPI_Reduce_scatter(in, out, give.counts, MPI_DOUBLE, MPI_SUM, all); break;
  case ALLTOALLV:
    MPI_Alltoallv(in, give.counts, give.starts, MPI_DOUBLE, out, take.counts, take.starts, MPI_DOUBLE, all);
    break;
  case OPERATIONS: break;
  }
}

/* What position `at` of this rank's result must hold. */
static double expected(enum operation operation, int64_t number, size_t at, size_t count) {
  int first = 0, last = -1;
  size_t from = at;
  switch (operation) {
  case BROADCAST: return value(ROOT, number, at);
  case SCATTER: return value(ROOT, number, (size_t)rank * count + at);
  case GATHER:
  case ALLGATHER: return value((int)(at / count), number, at % count);
  case ALLTOALL: return value((int)(at / count), number, (size_t)rank * count + at % count);
  case REDUCE:
  case ALLREDUCE: last = ranks - 1; break;
  case REDUCE_SCATTER: last = ranks - 1; from = (size_t)rank * count + at; break;
  case SCAN: last = rank; break;
  case EXSCAN: last = rank - 1; break;
  case SCATTERV: return value(ROOT, number, before((size_t)rank, count) + at);
  case REDUCE_SCATTERV: last = ranks - 1; from = before((size_t)rank, count) + at; break;
  case GATHERV:
  case ALLGATHERV:
  case ALLTOALLV: {
    int of = 0;
    while (at >= block(operation, of, rank, count)) at -= block(operation, of++, rank, count);
    for (int to = 0; operation == ALLTOALLV && to < rank; to++) at += block(operation, of, to, count);
    return value(of, number, at);
  }
  default: break;
  }
  double sum = 0;
  for (int of = first; of <= last; of++) sum += value(of, number, from);
  return sum;
}

/* A barrier is checked by clocks, which all cores share: nobody leaves before the last has come. */
static int check_barrier(int64_t rounds, char *answer, size_t size) {
  int right = 1;
  for (int64_t number = 1; number <= rounds; number++) {
    if (number % ranks == rank) usleep(200);
    int64_t times[2] = {now_ns(), 0}, last = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    times[1] = now_ns();
    MPI_Allreduce(&times[0], &last, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (fault && !strcmp(fault, "barrier") && rank == ranks - 1) times[1] = last - 1;
    if (times[1] < last && right) {
      snprintf(answer, size, "wrong rank %d left barrier %lld before the last rank had come\n", rank,
               (long long)number);
      right = 0;
    }
  }
  return right;
}

static void check(enum operation operation, size_t count, int64_t rounds) {
  char answer[256] = "ok\n";
  int right = 1;
  if (operation == BARRIER) {
    check_barrier(rounds, answer, sizeof answer);
    say_line(answer);
    return;
  }
  prepare_buffers(operation, count, 1);
  for (int64_t number = 1; number <= rounds; number++) {
    for (size_t at = 0; at < kept.in_count; at++) kept.in[at] = value(rank, number, at);
    for (size_t at = 0; at < kept.out_count; at++) kept.out[at] = -1;
    if (number % (8 * ranks) == rank) usleep(200);
    perform(operation, kept.in, kept.out, (int)count);
    if (!gets(operation)) continue;
    if (fault && !strcmp(fault, operations[operation].name) && kept.out_count > 0)
      kept.out[kept.out_count - 1] += 1;
    for (size_t at = 0; at < kept.out_count && right; at++) {
      double wanted = expected(operation, number, at, count);
      if (kept.out[at] == wanted) continue;
      snprintf(answer, sizeof answer, "wrong %s %lld gave rank %d %g at position %zu, expected %g\n",
               operations[operation].name, (long long)number, rank, kept.out[at], at, wanted);
      right = 0;
    }
  }
  tidy_up();
  MPI_Barrier(MPI_COMM_WORLD);
  say_line(answer);
}

/* The input is fresh in this rank's cache: one number of each line changes. */
static void touch(double *data, size_t count, int64_t number) {
  for (size_t at = 0; at < count; at += LINE) data[at] = (double)(number & 1023);
}

static void measure(enum operation operation, size_t count, int places, int64_t warm,
                    int64_t times, int64_t lead, int64_t cold, int loose) {
  static int64_t number;
  prepare_buffers(operation, count, places);
  int64_t entries = operation == BARRIER || loose ? 1 : times;
  struct { int64_t begin, took; } *log = malloc((size_t)(entries + 1) * sizeof *log);
  int64_t clock = clock_ns();
  if (!log) die("times");
  if (operation == BARRIER) {
    for (int64_t i = 0; i < warm; i++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    log[0].begin = now_ns();
    for (int64_t i = 0; i < times; i++) MPI_Barrier(MPI_COMM_WORLD);
    log[0].took = now_ns() - log[0].begin;
  }
  for (int64_t i = -warm; operation != BARRIER && i < times; i++, number++) {
    size_t place = (size_t)(number % places);
    double *in = kept.in + place * kept.in_count, *out = kept.out + place * kept.out_count;
    if (loose && i == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      log[0].begin = now_ns();
    }
    touch(in, kept.in_count, number);
    if (loose) {
      perform(operation, in, out, (int)count);
      continue;
    }
    if (lead == 0) walk(cold);
    MPI_Barrier(MPI_COMM_WORLD);
    if (lead > 0) {
      int64_t start = now_ns() + lead;
      MPI_Bcast(&start, 1, MPI_INT64_T, ROOT, MPI_COMM_WORLD);
      walk(cold);
      while (now_ns() < start) {}
    }
    int64_t begin = now_ns();
    perform(operation, in, out, (int)count);
    int64_t end = now_ns() - begin - clock;
    if (i < 0) continue;
    log[i].begin = begin;
    log[i].took = end > 1 ? end : 1;
  }
  if (operation != BARRIER && loose) log[0].took = now_ns() - log[0].begin;
  MPI_Barrier(MPI_COMM_WORLD);
  tidy_up();
  char line[64];
  snprintf(line, sizeof line, "times %lld\n", (long long)entries);
  say_line(line);
  say(log, (size_t)entries * sizeof *log);
  free(log);
}

static enum operation named(const char *name) {
  int at = 0;
  while (at < OPERATIONS && strcmp(operations[at].name, name)) at++;
  return (enum operation)at;
}

static void obey(const char *line) {
  char verb[16] = "", name[32] = "";
  long long n[8] = {0};
  sscanf(line, "%15s %31s %lld %lld %lld %lld %lld %lld %lld %lld", verb, name, &n[0], &n[1], &n[2],
         &n[3], &n[4], &n[5], &n[6], &n[7]);
  enum operation operation = named(name);
  int checks = !strcmp(verb, "check") && n[1] > 0 && n[2] > 0;
  int times = !strcmp(verb, "time") && n[1] > 0 && n[2] >= 0 && n[3] > 0 && n[4] >= 0 && n[5] >= 0 && n[7] > 0;
  if (operation == OPERATIONS || n[0] < 0 || n[0] > INT32_MAX || !(checks || times)) {
    say_line("wrong order not understood\n");
    return;
  }
  alarm((unsigned)(checks ? n[2] : n[7]));
  if (checks)
    check(operation, (size_t)n[0], n[1]);
  else
    measure(operation, (size_t)n[0], (int)n[1], n[2], n[3], n[4], n[5], n[6] != 0);
  alarm(0);
}

/* Pins to the entry of a list PU,PU,... that this rank has in turn: exactly where the others run. */
static void pin(const char *list, int mine) {
  int pus[1024], many = 0;
  for (const char *at = list; *at && many < 1024; at += *at == ',') {
    char *end;
    pus[many++] = (int)strtol(at, &end, 10);
    if (end == at) break;
    at = end;
  }
  if (many == 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(pus[mine % many], &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) die("sched_setaffinity");
}

/* The rank before MPI knows it, so that memory is first touched where it is used. */
static int early_rank(void) {
  const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (getenv(names[i])) return atoi(getenv(names[i]));
  return -1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s DIR [PU,PU,...]\n", argv[0]);
    return 2;
  }
  start_guard();
  alarm(60);
  fault = getenv("CORECAST_PEER_FAULT");
  int early = early_rank();
  if (argc > 2 && early >= 0) pin(argv[2], early);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 2) pin(argv[2], rank);
  MPI_Barrier(MPI_COMM_WORLD);
  note_shared();
  wire = socket(AF_UNIX, SOCK_STREAM, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", argv[1]);
  if (wire < 0 || connect(wire, (struct sockaddr *)&address, sizeof address) != 0) die("socket");
  char line[256];
  snprintf(line, sizeof line, "rank %d %d %ld\n", rank, ranks, (long)getpid());
  say_line(line);
  alarm(0);
  while (hear(line, sizeof line)) obey(line);
  /* All ranks are told to end at the same place; should one be missing, nobody waits for ever. */
  alarm(10);
  MPI_Finalize();
  return 0;
}
