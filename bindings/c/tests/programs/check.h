/* What the C programs check with: one line on standard error says where and what, and the program ends. */
#ifndef CHECK_H
#define CHECK_H

#include <corecast.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(what)                                                               \
  do {                                                                            \
    if (!(what)) {                                                                \
      fprintf(stderr, "%s:%d: %s is wrong\n", __FILE__, __LINE__, #what);         \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

#define OK(call)                                                                  \
  do {                                                                            \
    corecast_status_t status_ = (call);                                           \
    if (status_ != CORECAST_STATUS_OK) {                                          \
      fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call,           \
              corecast_status_name(status_), corecast_error_message());           \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

/* The call is refused so, and the text has these words. */
#define REFUSED(call, expected, words)                                            \
  do {                                                                            \
    corecast_status_t status_ = (call);                                           \
    if (status_ != (expected) || strstr(corecast_error_message(), words) == NULL) { \
      fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call,           \
              corecast_status_name(status_), corecast_error_message());           \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

/* What rank r has at index i: different for all pairs that a test compares. */
static inline uint64_t value(size_t rank, size_t i) {
  uint64_t word = (uint64_t)rank * 1000003u + (uint64_t)i * 7919u + 12345u;
  word ^= word >> 7;
  return word * 2654435761u;
}

#endif
