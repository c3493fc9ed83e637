/*
 * Reductions by built-in operators and by one's own: both are handles of one type.
 *
 *   cc 01_operators.c $(pkg-config --cflags --libs corecast)
 */
#include <corecast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(corecast_status_t status) {
  if (status == CORECAST_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", corecast_status_name(status), corecast_error_message());
  exit(1);
}

/* A short text, of any length up to 15. */
typedef struct {
  char text[16];
} word;

/* Appends: the order of ranks counts. */
static void append(void *into, const void *with, size_t count, void *context) {
  word *left = into;
  const word *right = with;
  (void)context;
  for (size_t i = 0; i < count; i++)
    strncat(left[i].text, right[i].text, sizeof left[i].text - strlen(left[i].text) - 1);
}

static void work(corecast_member_t *member, void *context) {
  const corecast_operator_t *appending = context;
  double sum = (double)corecast_member_rank(member), largest = sum;
  word all;
  snprintf(all.text, sizeof all.text, "%zu", corecast_member_rank(member));
  check(corecast_allreduce(member, &sum, 1, CORECAST_ELEMENT_F64, CORECAST_OPERATOR_SUM));
  check(corecast_allreduce(member, &largest, 1, CORECAST_ELEMENT_F64, CORECAST_OPERATOR_MAX));
  check(corecast_allreduce(member, &all, 1, CORECAST_ELEMENT_OWN, appending));
  if (corecast_member_rank(member) == 0)
    printf("sum %g, largest %g, concatenated %s\n", sum, largest, all.text);
}

int main(void) {
  corecast_team_t *team;
  corecast_operator_t *appending;
  check(corecast_operator_new(append, NULL, sizeof(word), true, &appending));
  check(corecast_team_new(4, &team));
  check(corecast_team_run(team, work, appending));
  check(corecast_team_free(team));
  check(corecast_operator_free(appending));
  return 0;
}
