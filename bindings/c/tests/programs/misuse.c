/* What is wrong is said, and nothing crashes, hangs or unwinds. */
#include "asleep.h"

/* Every operation of a team ends as the one that failed first. */
static void again(corecast_member_t *member, void *context) {
  const corecast_status_t *expected = context;
  CHECK(corecast_barrier(member) == *expected);
}

static void arguments(void) {
  corecast_team_t *team;
  corecast_builder_t *builder;
  REFUSED(corecast_team_new(0, &team), CORECAST_STATUS_UNBUILDABLE, "at least one rank");
  REFUSED(corecast_team_new(2, NULL), CORECAST_STATUS_INVALID, "`team` is NULL");
  REFUSED(corecast_team_run(NULL, NULL, NULL), CORECAST_STATUS_INVALID, "`team` is NULL");
  REFUSED(corecast_barrier(NULL), CORECAST_STATUS_INVALID, "`member` is NULL");
  REFUSED(corecast_builder_new(NULL), CORECAST_STATUS_INVALID, "`builder` is NULL");
  CHECK(corecast_team_size(NULL) == 0 && corecast_member_size(NULL) == 0);
  OK(corecast_team_free(NULL));
  OK(corecast_member_free(NULL));
  corecast_builder_free(NULL);
  CHECK(corecast_element_bytes(CORECAST_ELEMENT_BF16) == 2 && corecast_element_bytes(99) == 0);
  CHECK(strcmp(corecast_status_name(CORECAST_STATUS_MISMATCH), "mismatch") == 0);

  OK(corecast_builder_new(&builder));
  REFUSED(corecast_builder_threads(builder, 0), CORECAST_STATUS_INVALID, "at least one");
  REFUSED(corecast_builder_cores(builder, "0-x"), CORECAST_STATUS_INVALID, "0-x");
  REFUSED(corecast_builder_pattern(builder, "flower"), CORECAST_STATUS_INVALID, "flower");
  REFUSED(corecast_builder_wait(builder, "50 apples"), CORECAST_STATUS_INVALID, "50 apples");
  REFUSED(corecast_builder_algorithms(builder, "barrier=flower"), CORECAST_STATUS_INVALID,
          "flower");
  REFUSED(corecast_builder_backend(builder, "pigeon"), CORECAST_STATUS_INVALID, "pigeon");
  REFUSED(corecast_builder_start(builder, "late"), CORECAST_STATUS_INVALID, "late");
  REFUSED(corecast_builder_slots(builder, 3), CORECAST_STATUS_INVALID, "3");
  REFUSED(corecast_builder_machine_file(builder, "/no/such/file"), CORECAST_STATUS_INVALID,
          "/no/such/file");
  REFUSED(corecast_builder_machine_file(builder, "\xFF"), CORECAST_STATUS_INVALID, "UTF-8");
  REFUSED(corecast_builder_enter(builder, "x", 2, NULL, 3, &team), CORECAST_STATUS_INVALID,
          "3 ranks to a team of 2");
  /* Numbers whose memory no machine has, or whose bytes are more than a number can say. */
  REFUSED(corecast_builder_enter(builder, "x", SIZE_MAX, NULL, SIZE_MAX, &team),
          CORECAST_STATUS_INVALID, "4096 at most");
  REFUSED(corecast_builder_enter(builder, "x", SIZE_MAX, NULL, 1, &team),
          CORECAST_STATUS_UNBUILDABLE, "18446744073709551615 were asked for");
  REFUSED(corecast_team_new(SIZE_MAX, &team), CORECAST_STATUS_UNBUILDABLE, "18446744073709551615");
  REFUSED(corecast_team_new((size_t)1 << 40, &team), CORECAST_STATUS_UNBUILDABLE, "1099511627776");
  REFUSED(corecast_team_new((size_t)1 << 24, &team), CORECAST_STATUS_UNBUILDABLE, "bytes of memory");
  corecast_builder_t *endless;
  OK(corecast_builder_new(&endless));
  OK(corecast_builder_threads(endless, 2));
  for (int shift = 36; shift < 64; shift++) {
    OK(corecast_builder_slots(endless, (size_t)1 << shift));
    REFUSED(corecast_builder_build(endless, &team), CORECAST_STATUS_UNBUILDABLE, " bytes");
  }
  OK(corecast_builder_slots(endless, 64));
  OK(corecast_builder_depth(endless, SIZE_MAX));
  REFUSED(corecast_builder_build(endless, &team), CORECAST_STATUS_UNBUILDABLE, "at most 65536");
  corecast_builder_free(endless);
  OK(corecast_builder_cores(builder, "4095"));
  REFUSED(corecast_builder_build(builder, &team), CORECAST_STATUS_UNBUILDABLE, "4095");

  /* What was refused has changed nothing: the builder still builds. */
  OK(corecast_builder_threads(builder, 3));
  OK(corecast_builder_pattern(builder, "binomial"));
  OK(corecast_builder_wait(builder, "20us"));
  OK(corecast_builder_patience(builder, UINT64_C(20000000000)));
  OK(corecast_builder_deterministic(builder, true));
  OK(corecast_builder_depth(builder, 2));
  OK(corecast_builder_root(builder, 1));
  OK(corecast_builder_build(builder, &team));
  corecast_builder_free(builder);
  char text[40];
  size_t length = 0;
  OK(corecast_team_explain(team, text, sizeof text, &length));
  CHECK(length > sizeof text && strlen(text) >= sizeof text - 4);
  OK(corecast_team_explain(team, NULL, 0, &length));
  corecast_member_t *member;
  REFUSED(corecast_team_join(team, 3, &member), CORECAST_STATUS_NOT_JOINED, "rank 3");
  REFUSED(corecast_team_pin_here(team, 3, NULL), CORECAST_STATUS_INVALID, "rank 3");
  OK(corecast_team_join(team, 1, &member));
  REFUSED(corecast_team_join(team, 1, &member), CORECAST_STATUS_NOT_JOINED, "joined twice");
  REFUSED(corecast_team_run(team, again, NULL), CORECAST_STATUS_NOT_JOINED, "by itself");
  OK(corecast_member_free(member));
  OK(corecast_team_free(team));
}

static void nothing(void *into, const void *with, size_t count, void *context) {
  (void)into, (void)with, (void)count, (void)context;
}

/* An operator that does not know the elements is refused by every operation that takes one. */
static void operators(corecast_member_t *member, uint64_t *data, uint64_t *other) {
  corecast_operator_t *own;
  size_t counts[2] = {1, 2};
  OK(corecast_operator_new(nothing, NULL, 12, false, &own));
  struct {
    const corecast_operator_t *operator;
    corecast_element_t element;
    const char *words;
  } wrong[] = {
      {CORECAST_OPERATOR_AND, CORECAST_ELEMENT_F64, "and of f64"},
      {CORECAST_OPERATOR_SUM, CORECAST_ELEMENT_OWN, "sum is built in"},
      {own, CORECAST_ELEMENT_U64, "elements of 12 bytes"},
      {own, 15, "15"},
  };
  for (size_t i = 0; i < 4; i++) {
    const corecast_operator_t *op = wrong[i].operator;
    corecast_element_t of = wrong[i].element;
    const char *words = wrong[i].words;
    const corecast_status_t invalid = CORECAST_STATUS_INVALID;
    REFUSED(corecast_reduce(member, 0, data, 1, of, op), invalid, words);
    REFUSED(corecast_allreduce(member, data, 1, of, op), invalid, words);
    REFUSED(corecast_scan(member, data, 1, of, op), invalid, words);
    REFUSED(corecast_exscan(member, data, 1, of, op), invalid, words);
    REFUSED(corecast_reduce_scatter(member, data, 2, other, of, op), invalid, words);
    REFUSED(corecast_reduce_scatterv(member, data, counts, other, of, op), invalid, words);
  }
  OK(corecast_operator_free(own));
  OK(corecast_operator_free(NULL));
  corecast_operator_t *const built_in = (corecast_operator_t *)(uintptr_t)CORECAST_OPERATOR_SUM;
  REFUSED(corecast_operator_free(built_in), CORECAST_STATUS_INVALID, "sum is built in");
  REFUSED(corecast_operator_new(NULL, NULL, 8, false, &own), CORECAST_STATUS_INVALID,
          "`combine` is NULL");
  REFUSED(corecast_operator_new(nothing, NULL, 0, false, &own), CORECAST_STATUS_INVALID,
          "`element_bytes` is 0");
  REFUSED(corecast_operator_new(nothing, NULL, 8, false, NULL), CORECAST_STATUS_INVALID,
          "`operator` is NULL");
}

/* Refused before it begins: the team goes on. */
static void refused(corecast_member_t *member, void *context) {
  (void)context;
  uint64_t data[8] = {0}, other[8] = {0};
  size_t counts[2] = {1, 2}, at[2] = {0, 0}, size = corecast_member_size(member);
  CHECK(size == 2);
  REFUSED(corecast_broadcast(member, 2, data, 8), CORECAST_STATUS_INVALID, "root 2");
  REFUSED(corecast_broadcast(member, 0, NULL, 8), CORECAST_STATUS_INVALID, "`data` is NULL");
  REFUSED(corecast_broadcast(member, 0, data, SIZE_MAX), CORECAST_STATUS_INVALID, "more than");
  REFUSED(corecast_allgather(member, data, data + 1, 16), CORECAST_STATUS_INVALID, "overlap");
  REFUSED(corecast_alltoall(member, data, data, 8), CORECAST_STATUS_INVALID, "overlap");
  REFUSED(corecast_allgatherv(member, data, counts[corecast_member_rank(member)], other, counts,
                              at, 8),
          CORECAST_STATUS_INVALID, "overlap");
  REFUSED(corecast_allgatherv(member, data, 7, other, counts, at, 8), CORECAST_STATUS_INVALID,
          "7 elements");
  REFUSED(corecast_allgatherv(member, data, 1, other, NULL, at, 8), CORECAST_STATUS_INVALID,
          "`counts` is NULL");
  REFUSED(corecast_allgatherv(member, data, 1, other, counts, at, 0), CORECAST_STATUS_INVALID,
          "element_bytes");
  const corecast_operator_t *sum = CORECAST_OPERATOR_SUM;
  REFUSED(corecast_allreduce(member, data, 1, 77, sum), CORECAST_STATUS_INVALID, "77");
  REFUSED(corecast_allreduce(member, data, 1, -1, sum), CORECAST_STATUS_INVALID, "-1");
  REFUSED(corecast_allreduce(member, data, 1, CORECAST_ELEMENT_F32, CORECAST_OPERATOR_XOR),
          CORECAST_STATUS_INVALID, "xor of f32");
  REFUSED(corecast_allreduce(member, (char *)data + 1, 1, CORECAST_ELEMENT_U64, sum),
          CORECAST_STATUS_INVALID, "aligned");
  REFUSED(corecast_allreduce(member, data, SIZE_MAX / 2, CORECAST_ELEMENT_U64, sum),
          CORECAST_STATUS_INVALID, "more than there can be");
  REFUSED(corecast_allreduce(member, data, 1, CORECAST_ELEMENT_U64, NULL), CORECAST_STATUS_INVALID,
          "`operator` is NULL");
  operators(member, data, other);
  REFUSED(corecast_member_free(member), CORECAST_STATUS_INVALID, "corecast_team_run");
  OK(corecast_barrier(member));
}

static void different_operations(corecast_member_t *member, void *context) {
  (void)context;
  uint64_t data = 0;
  corecast_status_t status = corecast_member_rank(member) == 0
                                 ? corecast_barrier(member)
                                 : corecast_broadcast(member, 1, &data, sizeof data);
  if (status == CORECAST_STATUS_OK) status = corecast_barrier(member);
  CHECK(status == CORECAST_STATUS_MISMATCH);
  CHECK(strstr(corecast_error_message(), "barrier") != NULL);
  CHECK(strstr(corecast_error_message(), "broadcast from rank 1") != NULL);
  CHECK(strstr(corecast_error_message(), ".rs") == NULL);
  /* What has failed stays so. */
  CHECK(corecast_barrier(member) == CORECAST_STATUS_MISMATCH);
}

static void different_lengths(corecast_member_t *member, void *context) {
  (void)context;
  char data[8] = {0};
  size_t rank = corecast_member_rank(member);
  corecast_status_t status = corecast_broadcast(member, 0, data, rank == 0 ? 8 : 4);
  if (status == CORECAST_STATUS_OK) status = corecast_barrier(member);
  CHECK(status == CORECAST_STATUS_LENGTH);
}

static void leaves(corecast_member_t *member, void *context) {
  (void)context;
  if (corecast_member_rank(member) == 1) return;
  REFUSED(corecast_barrier(member), CORECAST_STATUS_PEER_LOST, "rank 1");
}

static void with_team(size_t size, corecast_body_t body, corecast_status_t expected) {
  corecast_team_t *team;
  OK(corecast_team_new(size, &team));
  corecast_status_t status = corecast_team_run(team, body, NULL);
  if (status != expected) fprintf(stderr, "%s\n", corecast_error_message());
  CHECK(status == expected);
  CHECK(corecast_team_failure(team) == expected);
  /* What has failed stays so. */
  CHECK(corecast_team_run(team, again, &expected) == expected);
  OK(corecast_team_free(team));
}

/* A member that is used by its own operator. */
static void meddling(void *into, const void *with, size_t count, void *context) {
  (void)into, (void)with, (void)count;
  REFUSED(corecast_barrier(context), CORECAST_STATUS_BUSY, "already");
}

static void meddles(corecast_member_t *member, void *context) {
  (void)context;
  corecast_operator_t *own;
  char data = 1;
  OK(corecast_operator_new(meddling, member, 1, false, &own));
  OK(corecast_reduce(member, 0, &data, 1, CORECAST_ELEMENT_OWN, own));
  OK(corecast_barrier(member));
  OK(corecast_operator_free(own));
}

/* A member that two threads use at once: the second one is told while the first one waits. */
typedef struct {
  corecast_member_t *member;
  atomic_long thread;
} waiting_t;

static void *waits(void *context) {
  waiting_t *waiting = context;
  say_who(&waiting->thread);
  OK(corecast_barrier(waiting->member));
  return NULL;
}

static void two_threads_one_member(void) {
  corecast_builder_t *builder;
  corecast_team_t *team;
  corecast_member_t *other;
  waiting_t waiting = {NULL, 0};
  pthread_t thread;
  OK(corecast_builder_new(&builder));
  OK(corecast_builder_threads(builder, 2));
  OK(corecast_builder_wait(builder, "park"));
  OK(corecast_builder_build(builder, &team));
  corecast_builder_free(builder);
  OK(corecast_team_join(team, 0, &waiting.member));
  OK(corecast_team_join(team, 1, &other));
  CHECK(pthread_create(&thread, NULL, waits, &waiting) == 0);
  wait_until_asleep(&waiting.thread);
  char nothing;
  REFUSED(corecast_broadcast(waiting.member, 9, &nothing, 1), CORECAST_STATUS_BUSY, "already");
  OK(corecast_barrier(other));
  CHECK(pthread_join(thread, NULL) == 0);
  OK(corecast_member_free(waiting.member));
  OK(corecast_member_free(other));
  OK(corecast_team_free(team));
}

int main(void) {
  CHECK(strcmp(corecast_error_message(), "") == 0);
  arguments();
  with_team(2, refused, CORECAST_STATUS_OK);
  with_team(2, different_operations, CORECAST_STATUS_MISMATCH);
  with_team(2, different_lengths, CORECAST_STATUS_LENGTH);
  with_team(3, leaves, CORECAST_STATUS_PEER_LOST);
  with_team(2, meddles, CORECAST_STATUS_OK);
  two_threads_one_member();
  puts("what is wrong is said");
  return 0;
}
