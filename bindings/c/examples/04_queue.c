/*
 * A queue between two threads that are no team: numbers go to a thread that squares them, and come back.
 *
 *   cc -pthread 04_queue.c $(pkg-config --cflags --libs corecast)
 */
#include <corecast.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void check(corecast_status_t status) {
  if (status == CORECAST_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", corecast_status_name(status), corecast_error_message());
  exit(1);
}

typedef struct {
  corecast_receiver_t *numbers;
  corecast_sender_t *squares;
} worker;

/* Until nothing more comes. */
static void *square(void *context) {
  worker *ends = context;
  uint64_t number;
  corecast_status_t status;
  while ((status = corecast_receiver_receive(ends->numbers, &number, sizeof number, NULL)) ==
         CORECAST_STATUS_OK) {
    number *= number;
    check(corecast_sender_send(ends->squares, 0, &number, sizeof number));
  }
  if (status != CORECAST_STATUS_CLOSED) check(status);
  check(corecast_sender_free(ends->squares));
  check(corecast_receiver_free(ends->numbers));
  return NULL;
}

int main(void) {
  worker ends;
  corecast_sender_t *numbers;
  corecast_receiver_t *squares;
  pthread_t thread;
  uint64_t number;
  /* Slots, protocol and waiting as Corecast chooses. */
  check(corecast_queue_new(0, NULL, NULL, CORECAST_ANY_NODE, CORECAST_ANY_NODE, &numbers,
                           &ends.numbers));
  check(corecast_queue_new(0, NULL, NULL, CORECAST_ANY_NODE, CORECAST_ANY_NODE, &ends.squares,
                           &squares));
  if (pthread_create(&thread, NULL, square, &ends) != 0) return 1;
  for (number = 1; number <= 5; number++)
    check(corecast_sender_send(numbers, 0, &number, sizeof number));
  check(corecast_sender_free(numbers));
  for (int i = 1; i <= 5; i++) {
    check(corecast_receiver_receive(squares, &number, sizeof number, NULL));
    printf("%llu%c", (unsigned long long)number, i < 5 ? ' ' : '\n');
  }
  check(corecast_receiver_free(squares));
  return pthread_join(thread, NULL);
}
