/*
 * A member finds out that it will not come to the operation in which the others wait, and cancels it.
 *
 *   cc 03_cancel.c $(pkg-config --cflags --libs corecast)
 */
#include <corecast.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void check(corecast_status_t status) {
  if (status == CORECAST_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", corecast_status_name(status), corecast_error_message());
  exit(1);
}

static void work(corecast_member_t *member, void *context) {
  atomic_int *told = context;
  check(corecast_barrier(member));
  if (corecast_member_rank(member) == 0) {
    /* The operation before has completed for all. The next one will not. */
    check(corecast_cancel(member));
    return;
  }
  corecast_status_t status = corecast_barrier(member);
  if (status != CORECAST_STATUS_CANCELLED) check(status);
  atomic_fetch_add(told, 1);
}

int main(void) {
  corecast_team_t *team;
  atomic_int told = 0;
  check(corecast_team_new(3, &team));
  check(corecast_team_run(team, work, &told));
  printf("%d of %zu were told: %s\n", atomic_load(&told), corecast_team_size(team),
         corecast_status_name(CORECAST_STATUS_CANCELLED));
  check(corecast_team_free(team));
  return 0;
}
