/* Operations in flight: every one of them, several at a time, waited for in another order. */
#include "check.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { COUNT = 1000, RANKS = 3 };

typedef struct {
  corecast_member_t *member;
  uint64_t data[16][COUNT * RANKS], out[16][COUNT * RANKS];
  size_t counts[RANKS], at[RANKS];
  int calls;
} room;

static void add(void *into, const void *with, size_t count, void *context) {
  uint64_t *a = into;
  const uint64_t *b = with;
  (void)context;
  for (size_t i = 0; i < count; i++) a[i] += b[i];
}

static void *elsewhere(void *flight) {
  REFUSED(corecast_flight_progress(flight), CORECAST_STATUS_BUSY, "thread");
  REFUSED(corecast_start_barrier(flight, NULL), CORECAST_STATUS_BUSY, "thread");
  return NULL;
}

static void body(const corecast_flight_t *flight, void *context) {
  room *r = context;
  size_t rank = corecast_member_rank(r->member);
  corecast_request_t *requests[12];
  for (int i = 0; i < 16; i++)
    for (size_t j = 0; j < COUNT * RANKS; j++) r->data[i][j] = value(rank + 10 * (size_t)i, j);
  for (size_t i = 0; i < RANKS; i++) r->counts[i] = 10 * i, r->at[i] = 100 * i;

  REFUSED(corecast_start_broadcast(flight, RANKS, r->data[0], 8, NULL), CORECAST_STATUS_INVALID,
          "root 3");
  REFUSED(corecast_barrier(r->member), CORECAST_STATUS_BUSY, "already");
  pthread_t thread;
  union {
    const corecast_flight_t *given;
    void *taken;
  } handle = {flight};
  CHECK(pthread_create(&thread, NULL, elsewhere, handle.taken) == 0);
  CHECK(pthread_join(thread, NULL) == 0);

  size_t bytes = COUNT * sizeof(uint64_t);
  corecast_element_t u64 = CORECAST_ELEMENT_U64;
  const corecast_operator_t *sum = CORECAST_OPERATOR_SUM;
  corecast_operator_t *own;
  OK(corecast_operator_new(add, NULL, sizeof(uint64_t), false, &own));
  OK(corecast_start_barrier(flight, &requests[0]));
  OK(corecast_start_broadcast(flight, 1, r->data[0], bytes, &requests[1]));
  OK(corecast_start_scatter(flight, 2, r->data[1], r->out[1], bytes, &requests[2]));
  OK(corecast_start_gather(flight, 0, r->data[2], r->out[2], bytes, &requests[3]));
  OK(corecast_start_allgather(flight, r->data[3], r->out[3], bytes, &requests[4]));
  OK(corecast_start_alltoall(flight, r->data[4], r->out[4], bytes, &requests[5]));
  OK(corecast_start_reduce(flight, 2, r->data[5], COUNT, u64, sum, &requests[6]));
  /* The operation keeps what it needs of an operator. */
  OK(corecast_start_allreduce(flight, r->data[6], COUNT, CORECAST_ELEMENT_OWN, own, &requests[7]));
  REFUSED(corecast_start_allreduce(flight, r->data[6], COUNT, CORECAST_ELEMENT_F32, own, NULL),
          CORECAST_STATUS_INVALID, "elements of 8 bytes");
  OK(corecast_operator_free(own));
  REFUSED(corecast_start_scan(flight, r->data[7], COUNT, CORECAST_ELEMENT_OWN, sum, NULL),
          CORECAST_STATUS_INVALID, "sum is built in");
  OK(corecast_start_scan(flight, r->data[7], COUNT, u64, sum, &requests[8]));
  OK(corecast_start_exscan(flight, r->data[8], COUNT, u64, sum, &requests[9]));
  OK(corecast_start_allgatherv(flight, r->data[9], r->counts[rank], r->out[9], r->counts, r->at,
                               sizeof(uint64_t), &requests[10]));
  OK(corecast_start_reduce_scatter(flight, r->data[10], COUNT, r->out[10], u64, sum,
                                   &requests[11]));
  OK(corecast_flight_progress(flight));
  bool done = false;
  while (!done) OK(corecast_request_test(requests[11], &done));
  for (int i = 12; i-- > 0;) OK(corecast_request_wait(requests[i]));
  REFUSED(corecast_request_wait(requests[3]), CORECAST_STATUS_INVALID, "already");
  /* Nobody waits for this one: it has ended when the body has returned. */
  OK(corecast_start_allreduce(flight, r->data[11], COUNT, u64, sum, NULL));
  /* Counts of which there is a copy. */
  OK(corecast_start_reduce_scatterv(flight, r->data[12], r->counts, r->out[12], u64, sum, NULL));
  r->calls++;
}

static uint64_t sum_of(size_t from, size_t to, size_t plus, size_t i) {
  uint64_t sum = 0;
  for (size_t rank = from; rank < to; rank++) sum += value(rank + 10 * plus, i);
  return sum;
}

static void member_body(corecast_member_t *member, void *context) {
  (void)context;
  size_t rank = corecast_member_rank(member);
  room *r = calloc(1, sizeof *r);
  CHECK(r != NULL);
  r->member = member;
  OK(corecast_overlap(member, body, r));
  size_t begin, length;
  OK(corecast_block(COUNT, RANKS, rank, &begin, &length));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(r->data[0][i] == value(1, i));
    CHECK(r->out[1][i] == value(2 + 10, rank * COUNT + i));
    for (size_t from = 0; from < RANKS; from++) {
      if (rank == 0) CHECK(r->out[2][from * COUNT + i] == value(from + 20, i));
      CHECK(r->out[3][from * COUNT + i] == value(from + 30, i));
      CHECK(r->out[4][from * COUNT + i] == value(from + 40, rank * COUNT + i));
      if (i < r->counts[from]) CHECK(r->out[9][r->at[from] + i] == value(from + 90, i));
    }
    CHECK(r->data[5][i] == (rank == 2 ? sum_of(0, RANKS, 5, i) : value(rank + 50, i)));
    CHECK(r->data[6][i] == sum_of(0, RANKS, 6, i));
    CHECK(r->data[7][i] == sum_of(0, rank + 1, 7, i));
    CHECK(r->data[8][i] == (rank == 0 ? value(80, i) : sum_of(0, rank, 8, i)));
    if (i < length) CHECK(r->out[10][i] == sum_of(0, RANKS, 10, begin + i));
    CHECK(r->data[11][i] == sum_of(0, RANKS, 11, i));
    if (i < r->counts[rank]) {
      size_t before = rank == 2 ? 10 : 0;
      CHECK(r->out[12][i] == sum_of(0, RANKS, 12, before + i));
    }
  }
  CHECK(r->calls == 1);
  OK(corecast_barrier(member));
  free(r);
}

/* Every operation that combines, by an operator of the caller's. */
static void own_body(const corecast_flight_t *flight, void *context) {
  room *r = context;
  size_t rank = corecast_member_rank(r->member);
  for (int i = 0; i < 16; i++)
    for (size_t j = 0; j < COUNT; j++) r->data[i][j] = value(rank + 10 * (size_t)i, j);
  for (size_t i = 0; i < RANKS; i++) r->counts[i] = 10 * i;
  corecast_element_t element = CORECAST_ELEMENT_OWN;
  corecast_operator_t *own;
  OK(corecast_operator_new(add, NULL, sizeof(uint64_t), true, &own));
  OK(corecast_start_reduce(flight, 1, r->data[0], COUNT, element, own, NULL));
  OK(corecast_start_allreduce(flight, r->data[1], COUNT, element, own, NULL));
  OK(corecast_start_reduce_scatter(flight, r->data[2], COUNT, r->out[2], element, own, NULL));
  OK(corecast_start_reduce_scatterv(flight, r->data[3], r->counts, r->out[3], element, own, NULL));
  OK(corecast_start_scan(flight, r->data[4], COUNT, element, own, NULL));
  OK(corecast_start_exscan(flight, r->data[5], COUNT, element, own, NULL));
  OK(corecast_operator_free(own));
}

static void own_operators(corecast_member_t *member, void *context) {
  (void)context;
  size_t rank = corecast_member_rank(member);
  room *r = calloc(1, sizeof *r);
  CHECK(r != NULL);
  r->member = member;
  OK(corecast_overlap(member, own_body, r));
  size_t begin, length;
  OK(corecast_block(COUNT, RANKS, rank, &begin, &length));
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(r->data[0][i] == (rank == 1 ? sum_of(0, RANKS, 0, i) : value(rank, i)));
    CHECK(r->data[1][i] == sum_of(0, RANKS, 1, i));
    if (i < length) CHECK(r->out[2][i] == sum_of(0, RANKS, 2, begin + i));
    if (i < r->counts[rank]) CHECK(r->out[3][i] == sum_of(0, RANKS, 3, (rank == 2 ? 10 : 0) + i));
    CHECK(r->data[4][i] == sum_of(0, rank + 1, 4, i));
    CHECK(r->data[5][i] == (rank == 0 ? value(50, i) : sum_of(0, rank, 5, i)));
  }
  free(r);
}

enum { SCRATCH = 3 << 19 };

/* An operator whose frame is longer than the stack of an operation in flight is by default. */
static void add_with_scratch(void *into, const void *with, size_t count, void *context) {
  volatile char scratch[SCRATCH];
  for (size_t at = 0; at < SCRATCH; at += 1024) scratch[at] = 1;
  add(into, with, count, context);
  ((uint64_t *)into)[0] += (uint64_t)scratch[SCRATCH - 1024] - 1;
}

static void deep_body(const corecast_flight_t *flight, void *context) {
  corecast_operator_t *own;
  OK(corecast_operator_new(add_with_scratch, NULL, sizeof(uint64_t), false, &own));
  OK(corecast_start_allreduce(flight, context, 1, CORECAST_ELEMENT_OWN, own, NULL));
  OK(corecast_operator_free(own));
}

static void deep(corecast_member_t *member, void *context) {
  (void)context;
  uint64_t word = corecast_member_rank(member) + 1;
  OK(corecast_overlap(member, deep_body, &word));
  CHECK(word == 6);
}

/* The nine modes of operations in flight. Rank 0 broadcasts; nobody else comes before it has left, where the exit
 * waits for nobody, and nobody leaves before all have come, where a side waits for all. */
static struct {
  atomic_size_t come;
  atomic_bool left;
} mode;

typedef struct {
  corecast_member_t *member;
  corecast_await_t before, after;
  unsigned char *data;
  corecast_request_t *request;
  int calls;
} sided;

enum { LONG = 1 << 20 };

static corecast_status_t starts(const corecast_flight_t *flight, void *context) {
  sided *here = context;
  here->calls++;
  if (here->before == CORECAST_AWAIT_ALL) CHECK(atomic_load(&mode.come) == RANKS);
  return corecast_start_broadcast(flight, 0, here->data, LONG, &here->request);
}

static corecast_status_t returns_mismatch(const corecast_flight_t *flight, void *context) {
  (void)flight, (void)context;
  return CORECAST_STATUS_MISMATCH;
}

static void in_a_mode(const corecast_flight_t *flight, void *context) {
  sided *here = context;
  bool done = false;
  bool early = here->before != CORECAST_AWAIT_ALL && here->after == CORECAST_AWAIT_NO;
  size_t rank = corecast_member_rank(here->member);
  while (early && rank != 0 && !atomic_load(&mode.left)) sched_yield();
  atomic_fetch_add(&mode.come, 1);
  OK(corecast_flight_synced(flight, here->before, here->after, starts, here));
  CHECK(here->calls == 1);
  if (rank == 0) atomic_store(&mode.left, true);
  if (here->after == CORECAST_AWAIT_ALL) CHECK(atomic_load(&mode.come) == RANKS);
  if (here->after != CORECAST_AWAIT_NO) {
    CHECK(here->data[0] == 1 && here->data[LONG - 1] == 1);
    OK(corecast_request_test(here->request, &done));
    CHECK(done);
  }
  OK(corecast_request_wait(here->request));
  CHECK(here->data[0] == 1 && here->data[LONG - 1] == 1);

  corecast_await_t no = CORECAST_AWAIT_NO;
  corecast_status_t bad = CORECAST_STATUS_INVALID;
  REFUSED(corecast_flight_synced(NULL, no, no, starts, here), bad, "`flight` is NULL");
  REFUSED(corecast_flight_synced(flight, no, no, NULL, here), bad, "`body` is NULL");
  REFUSED(corecast_flight_synced(flight, 3, no, starts, here), bad, "`before` is 3");
  REFUSED(corecast_flight_synced(flight, no, -1, starts, here), bad, "`after` is -1");
  CHECK(corecast_flight_synced(flight, no, no, returns_mismatch, here) == CORECAST_STATUS_MISMATCH);
}

static void modes(corecast_member_t *member, void *context) {
  (void)context;
  corecast_await_t sides[] = {CORECAST_AWAIT_NO, CORECAST_AWAIT_MY, CORECAST_AWAIT_ALL};
  unsigned char *data = malloc(LONG);
  CHECK(data != NULL);
  for (size_t before = 0; before < 3; before++) {
    for (size_t after = 0; after < 3; after++) {
      memset(data, (int)corecast_member_rank(member) + 1, LONG);
      sided here = {member, sides[before], sides[after], data, NULL, 0};
      OK(corecast_overlap(member, in_a_mode, &here));
      OK(corecast_barrier(member));
      if (corecast_member_rank(member) == 0) {
        atomic_store(&mode.come, 0);
        atomic_store(&mode.left, false);
      }
      OK(corecast_barrier(member));
    }
  }
  free(data);
}

static void no_depth(corecast_member_t *member, void *context) {
  REFUSED(corecast_overlap(member, body, context), CORECAST_STATUS_NO_FLIGHT, "depth 0");
  REFUSED(corecast_overlap(member, NULL, context), CORECAST_STATUS_INVALID, "`body` is NULL");
  OK(corecast_barrier(member));
}

int main(void) {
  corecast_team_t *team;
  OK(corecast_team_new(RANKS, &team));
  OK(corecast_team_run(team, member_body, NULL));
  OK(corecast_team_free(team));

  OK(corecast_team_new(RANKS, &team));
  OK(corecast_team_run(team, own_operators, NULL));
  OK(corecast_team_free(team));

  OK(corecast_team_new(RANKS, &team));
  OK(corecast_team_run(team, modes, NULL));
  OK(corecast_team_free(team));

  corecast_builder_t *builder;
  OK(corecast_builder_new(&builder));
  OK(corecast_builder_threads(builder, RANKS));
  OK(corecast_builder_stack(builder, SCRATCH + (1 << 20)));
  OK(corecast_builder_build(builder, &team));
  corecast_builder_free(builder);
  OK(corecast_team_run(team, deep, NULL));
  OK(corecast_team_free(team));

  OK(corecast_builder_new(&builder));
  OK(corecast_builder_threads(builder, 2));
  OK(corecast_builder_depth(builder, 0));
  OK(corecast_builder_build(builder, &team));
  corecast_builder_free(builder);
  OK(corecast_team_run(team, no_depth, NULL));
  OK(corecast_team_free(team));
  puts("operations in flight land");
  return 0;
}
