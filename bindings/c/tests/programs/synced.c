/* Barriers around operations: none goes on before all have come, and failures and refusals come back. */
#include "check.h"
#include <stdatomic.h>

enum { RANKS = 3, ROUNDS = 50 };

typedef struct {
  atomic_size_t come, done;
} shared;

static shared all;

typedef struct {
  size_t round;
  bool before;
  int calls;
  corecast_status_t returns;
} step;

static corecast_status_t reduces(corecast_member_t *member, void *context) {
  step *here = context;
  here->calls++;
  /* After a barrier before it, all have come. */
  if (here->before) CHECK(atomic_load(&all.come) >= RANKS * (here->round + 1));
  uint64_t data = 1;
  corecast_status_t status =
      corecast_reduce(member, 0, &data, 1, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM);
  CHECK(status != CORECAST_STATUS_OK || corecast_member_rank(member) != 0 || data == RANKS);
  atomic_fetch_add(&all.done, 1);
  return status;
}

static void around(corecast_member_t *member, void *context) {
  (void)context;
  for (size_t round = 0; round < ROUNDS; round++) {
    step here = {round, true, 0, CORECAST_STATUS_OK};
    atomic_fetch_add(&all.come, 1);
    OK(corecast_synced(member, CORECAST_AWAIT_ALL, CORECAST_AWAIT_ALL, reduces, &here));
    /* After a barrier after it, all have run it. */
    CHECK(here.calls == 1 && atomic_load(&all.done) >= RANKS * (round + 1));
  }
  /* The other combinations of no barrier and one. */
  corecast_await_t sides[] = {CORECAST_AWAIT_NO, CORECAST_AWAIT_MY, CORECAST_AWAIT_ALL};
  for (size_t before = 0; before < 3; before++) {
    for (size_t after = 0; after < 3; after++) {
      step here = {0, false, 0, CORECAST_STATUS_OK};
      OK(corecast_synced(member, sides[before], sides[after], reduces, &here));
      CHECK(here.calls == 1);
    }
  }
}

static corecast_status_t returns(corecast_member_t *member, void *context) {
  step *here = context;
  (void)member;
  here->calls++;
  return here->returns;
}

static corecast_status_t refuses(corecast_member_t *member, void *context) {
  (void)context;
  return corecast_broadcast(member, 7, NULL, 0);
}

static corecast_status_t nests(corecast_member_t *member, void *context) {
  return corecast_synced(member, CORECAST_AWAIT_ALL, CORECAST_AWAIT_MY, returns, context);
}

static void what_comes_back(corecast_member_t *member, void *context) {
  (void)context;
  step here = {0, false, 0, CORECAST_STATUS_OK};
  corecast_await_t no = CORECAST_AWAIT_NO, every = CORECAST_AWAIT_ALL;
  REFUSED(corecast_synced(NULL, no, no, returns, &here), CORECAST_STATUS_INVALID, "`member` is NULL");
  REFUSED(corecast_synced(member, no, no, NULL, &here), CORECAST_STATUS_INVALID, "`body` is NULL");
  REFUSED(corecast_synced(member, 3, no, returns, &here), CORECAST_STATUS_INVALID, "`before` is 3");
  REFUSED(corecast_synced(member, no, -1, returns, &here), CORECAST_STATUS_INVALID, "`after` is -1");
  CHECK(here.calls == 0);
  /* The text is that of the call in the body that was refused. */
  REFUSED(corecast_synced(member, every, every, refuses, NULL), CORECAST_STATUS_INVALID, "root 7");
  here.returns = CORECAST_STATUS_FAILED;
  CHECK(corecast_synced(member, no, every, returns, &here) == CORECAST_STATUS_FAILED);
  here.returns = (corecast_status_t)77;
  REFUSED(corecast_synced(member, no, no, returns, &here), CORECAST_STATUS_INVALID, "77");
  here.returns = CORECAST_STATUS_OK;
  OK(corecast_synced(member, every, every, nests, &here));
  CHECK(here.calls == 3);
  OK(corecast_barrier(member));
}

/* One leaves: the barrier before the body fails, and the body is not run. */
static void leaves(corecast_member_t *member, void *context) {
  (void)context;
  step here = {0, false, 0, CORECAST_STATUS_OK};
  if (corecast_member_rank(member) == 2) return;
  REFUSED(corecast_synced(member, CORECAST_AWAIT_ALL, CORECAST_AWAIT_MY, returns, &here),
          CORECAST_STATUS_PEER_LOST, "rank 2");
  CHECK(here.calls == 0);
}

static void run(corecast_body_t body, corecast_status_t expected) {
  corecast_team_t *team;
  OK(corecast_team_new(RANKS, &team));
  CHECK(corecast_team_run(team, body, NULL) == expected);
  OK(corecast_team_free(team));
}

int main(void) {
  run(around, CORECAST_STATUS_OK);
  run(what_comes_back, CORECAST_STATUS_OK);
  run(leaves, CORECAST_STATUS_PEER_LOST);
  puts("barriers around operations are right");
  return 0;
}
