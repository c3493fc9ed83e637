/* A team of three processes: two forked children and this one, which brings two ranks. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 4, COUNT = 20000 };

static corecast_team_t *enter(const char *address, size_t first, size_t second, size_t count) {
  corecast_builder_t *builder;
  corecast_team_t *team;
  size_t ranks[2] = {first, second};
  OK(corecast_builder_new(&builder));
  OK(corecast_builder_join_limit(builder, UINT64_C(60000000000)));
  /* By default it is a GiB for each rank, which valgrind keeps books of. */
  OK(corecast_builder_symmetric(builder, 1 << 20));
  OK(corecast_builder_enter(builder, address, SIZE, ranks, count, &team));
  corecast_builder_free(builder);
  return team;
}

static void body(corecast_member_t *member, void *context) {
  (void)context;
  size_t rank = corecast_member_rank(member);
  uint64_t *data = malloc(COUNT * sizeof *data);
  CHECK(data != NULL && corecast_member_size(member) == SIZE);
  for (size_t i = 0; i < COUNT; i++) data[i] = value(rank, i);
  OK(corecast_allreduce(member, data, COUNT, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM));
  for (size_t i = 0; i < COUNT; i++)
    CHECK(data[i] == value(0, i) + value(1, i) + value(2, i) + value(3, i));
  for (size_t i = 0; i < COUNT; i++) data[i] = value(rank, i);
  OK(corecast_broadcast(member, 3, data, COUNT * sizeof *data));
  for (size_t i = 0; i < COUNT; i++) CHECK(data[i] == value(3, i));
  OK(corecast_barrier(member));
  free(data);
}

/* Buffers that all processes see. */
static void symmetric(corecast_member_t *member, void *context) {
  size_t rank = corecast_member_rank(member);
  void *memory = NULL;
  OK(corecast_alloc(member, COUNT * sizeof(uint64_t), &memory));
  uint64_t *data = memory;
  for (size_t i = 0; i < COUNT; i++) {
    CHECK(data[i] == 0);
    data[i] = value(rank, i);
  }
  OK(corecast_allreduce(member, data, COUNT, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM));
  for (size_t i = 0; i < COUNT; i++)
    CHECK(data[i] == value(0, i) + value(1, i) + value(2, i) + value(3, i));
  OK(corecast_free(data));
  CHECK(corecast_free(data) == CORECAST_STATUS_INVALID);
  CHECK(strstr(corecast_error_message(), "none of corecast_alloc") != NULL);
  OK(corecast_free(NULL));
  CHECK(corecast_alloc(member, 1, NULL) == CORECAST_STATUS_INVALID);
  CHECK(corecast_alloc(NULL, 1, &memory) == CORECAST_STATUS_INVALID);
  CHECK(corecast_alloc(member, SIZE_MAX, &memory) == CORECAST_STATUS_FAILED);
  CHECK(strstr(corecast_error_message(), "bytes of symmetric memory are wanted") != NULL);
  /* No bytes have an address too. */
  OK(corecast_alloc(member, 0, &memory));
  OK(corecast_free(memory));
  body(member, context);
}

/* Rank 3's process is killed while all wait for it. */
static void killed(corecast_member_t *member, void *context) {
  (void)context;
  OK(corecast_barrier(member));
  if (corecast_member_rank(member) == 3) raise(SIGKILL);
  corecast_status_t status = corecast_barrier(member);
  CHECK(status == CORECAST_STATUS_PEER_LOST);
  CHECK(strstr(corecast_error_message(), "rank 3 has died") != NULL);
}

static void sums(corecast_member_t *member, void *context) {
  (void)context;
  uint64_t one = 1;
  OK(corecast_allreduce(member, &one, 1, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM));
  CHECK(one == corecast_member_size(member));
}

/* Those that are left go on without rank 3. */
static void go_on(corecast_team_t *team) {
  corecast_team_t *next;
  uint64_t completed;
  size_t three = 3;
  CHECK(corecast_team_without(team, &three, 1, &next, NULL) == CORECAST_STATUS_INVALID);
  CHECK(corecast_team_without(team, NULL, 0, NULL, NULL) == CORECAST_STATUS_INVALID);
  OK(corecast_team_without(team, NULL, 0, &next, &completed));
  CHECK(completed == 1 && corecast_team_size(next) == SIZE - 1);
  OK(corecast_team_run(next, sums, NULL));
  OK(corecast_team_free(next));
}

static void together(const char *address, corecast_body_t what, bool dies) {
  pid_t children[2];
  for (int i = 0; i < 2; i++) {
    children[i] = fork();
    CHECK(children[i] >= 0);
    if (children[i] == 0) {
      corecast_team_t *team = enter(address, i == 0 ? 1 : 3, CORECAST_ANY_RANK, 1);
      corecast_team_run(team, what, NULL);
      if (dies) go_on(team);
      corecast_team_free(team);
      exit(0);
    }
  }
  corecast_team_t *team = enter(address, 0, 2, 2);
  size_t ranks[4], count;
  OK(corecast_team_ranks(team, ranks, 4, &count));
  CHECK(count == 2 && ranks[0] == 0 && ranks[1] == 2);
  corecast_status_t status = corecast_team_run(team, what, NULL);
  CHECK(status == (dies ? CORECAST_STATUS_PEER_LOST : CORECAST_STATUS_OK));
  if (dies) go_on(team);
  OK(corecast_team_free(team));
  for (int i = 0; i < 2; i++) {
    int ended;
    CHECK(waitpid(children[i], &ended, 0) == children[i]);
    if (dies && i == 1)
      CHECK(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
    else
      CHECK(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  }
}

int main(void) {
  char address[80];
  snprintf(address, sizeof address, "c-processes-%ld", (long)getpid());
  together(address, symmetric, false);
  strcat(address, "-killed");
  together(address, killed, true);

  /* No launcher has started this. */
  corecast_builder_t *builder;
  corecast_team_t *team = NULL;
  OK(corecast_builder_new(&builder));
  OK(corecast_builder_inherited(builder, &team));
  CHECK(team == NULL);
  OK(corecast_builder_join_limit(builder, 1000000));
  REFUSED(corecast_builder_enter(builder, address, 2, NULL, 1, &team), CORECAST_STATUS_NOT_MET,
          "rank 1 of 2");
  corecast_builder_free(builder);
  puts("processes are a team");
  return 0;
}
