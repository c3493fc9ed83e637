/* A member cancels what it will not come to: the others get a status instead of waiting for ever. */
#include "check.h"

enum { RANKS = 3 };

static void cancels(corecast_member_t *member, void *context) {
  int *cancelled = context;
  size_t rank = corecast_member_rank(member);
  uint64_t sum = rank + 1;
  OK(corecast_allreduce(member, &sum, 1, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM));
  CHECK(sum == RANKS * (RANKS + 1) / 2);
  if (rank == 1) {
    OK(corecast_cancel(member));
    /* A second time changes nothing. */
    OK(corecast_cancel(member));
  }
  REFUSED(corecast_barrier(member), CORECAST_STATUS_CANCELLED, "make another team");
  REFUSED(corecast_allreduce(member, &sum, 1, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM),
          CORECAST_STATUS_CANCELLED, "make another team");
  cancelled[rank]++;
}

/* The operations before the one that is cancelled complete for all, whoever is late. */
static void completes_what_was_begun(corecast_member_t *member, void *context) {
  int *cancelled = context;
  size_t rank = corecast_member_rank(member);
  uint64_t data[64];
  for (uint64_t round = 0; round < 100; round++) {
    for (size_t i = 0; i < 64; i++) data[i] = rank == 0 ? value(round, i) : 0;
    OK(corecast_broadcast(member, 0, data, sizeof data));
    for (size_t i = 0; i < 64; i++) CHECK(data[i] == value(round, i));
  }
  if (rank == 0)
    OK(corecast_cancel(member));
  else
    CHECK(corecast_broadcast(member, 0, data, sizeof data) == CORECAST_STATUS_CANCELLED);
  cancelled[rank]++;
}

static void in_flight(const corecast_flight_t *flight, void *context) {
  corecast_member_t *member = context;
  corecast_request_t *request;
  REFUSED(corecast_cancel(member), CORECAST_STATUS_BUSY, "already");
  /* It is cancelled when it is started, or while it is waited for. */
  corecast_status_t status = corecast_start_barrier(flight, &request);
  if (status == CORECAST_STATUS_OK) status = corecast_request_wait(request);
  CHECK(status == CORECAST_STATUS_CANCELLED);
}

static void cancels_in_flight(corecast_member_t *member, void *context) {
  int *cancelled = context;
  size_t rank = corecast_member_rank(member);
  OK(corecast_barrier(member));
  if (rank == 2)
    OK(corecast_cancel(member));
  else
    OK(corecast_overlap(member, in_flight, member));
  cancelled[rank]++;
}

static void run(corecast_body_t body) {
  corecast_team_t *team;
  int cancelled[RANKS] = {0};
  OK(corecast_team_new(RANKS, &team));
  /* The team has not failed: its members have ended it. */
  OK(corecast_team_run(team, body, cancelled));
  OK(corecast_team_failure(team));
  for (int rank = 0; rank < RANKS; rank++) CHECK(cancelled[rank] == 1);
  OK(corecast_team_free(team));
}

int main(void) {
  REFUSED(corecast_cancel(NULL), CORECAST_STATUS_INVALID, "`member` is NULL");
  run(cancels);
  run(completes_what_was_begun);
  run(cancels_in_flight);
  puts("cancelled operations end");
  return 0;
}
