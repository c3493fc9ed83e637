/*
 * A reduction with a barrier before it and one after it. By itself a reduction makes a member wait for no
 * more than its own data: one that only gives may go on before the others have come.
 *
 *   cc 02_synced.c $(pkg-config --cflags --libs corecast)
 */
#include <corecast.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int come;

static void check(corecast_status_t status) {
  if (status == CORECAST_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", corecast_status_name(status), corecast_error_message());
  exit(1);
}

/* What runs between the barriers: it returns the first status that is not OK. */
static corecast_status_t reduce(corecast_member_t *member, void *context) {
  return corecast_reduce(member, 0, context, 1, CORECAST_ELEMENT_I32, CORECAST_OPERATOR_MIN);
}

static void work(corecast_member_t *member, void *context) {
  int32_t seen = 0;
  (void)context;
  atomic_fetch_add(&come, 1);
  check(corecast_synced(member, CORECAST_AWAIT_ALL, CORECAST_AWAIT_ALL, reduce, &seen));
  seen = atomic_load(&come);
  if (corecast_member_rank(member) == 1)
    printf("%d of %zu were there\n", (int)seen, corecast_member_size(member));
}

int main(void) {
  corecast_team_t *team;
  check(corecast_team_new(2, &team));
  check(corecast_team_run(team, work, NULL));
  check(corecast_team_free(team));
  return 0;
}
