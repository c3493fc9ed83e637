/* Queues: order, lengths, tags, both protocols, ends that are freed, and what is refused. */
#include "asleep.h"

enum { MESSAGES = 3000 };

static size_t length_of(uint64_t message, size_t longest) {
  static const size_t lengths[] = {0, 8, 56, 57, 200, 1000};
  return message % 251 == 250 ? longest : lengths[message % 6];
}

static void fill(unsigned char *bytes, size_t length, uint64_t message) {
  for (size_t i = 0; i < length; i++) bytes[i] = (unsigned char)(value(message, i / 8) >> 8 * (i % 8));
}

static void *sends(void *context) {
  corecast_sender_t *sender = context;
  size_t longest = corecast_sender_message_bytes_max(sender);
  unsigned char *bytes = malloc(longest);
  CHECK(bytes != NULL);
  for (uint64_t message = 0; message < MESSAGES; message++) {
    size_t length = length_of(message, longest);
    fill(bytes, length, message);
    if (message % 3 == 0) {
      bool sent = false;
      while (!sent) OK(corecast_sender_try_send(sender, (uint32_t)message, bytes, length, &sent));
    } else {
      OK(corecast_sender_send(sender, (uint32_t)message, length == 0 ? NULL : bytes, length));
    }
  }
  OK(corecast_sender_free(sender));
  free(bytes);
  return NULL;
}

static void in_order(size_t slots, const char *backend, const char *waiting, int32_t node) {
  corecast_sender_t *sender;
  corecast_receiver_t *receiver;
  pthread_t thread;
  OK(corecast_queue_new(slots, backend, waiting, node, node, &sender, &receiver));
  size_t longest = corecast_sender_message_bytes_max(sender);
  unsigned char *bytes = malloc(longest), *expected = malloc(longest);
  CHECK(longest >= 1000 && bytes != NULL && expected != NULL);
  CHECK(pthread_create(&thread, NULL, sends, sender) == 0);
  for (uint64_t message = 0; message < MESSAGES; message++) {
    corecast_message_t got = {0, 0};
    if (message % 4 == 0) {
      bool received = false;
      while (!received)
        OK(corecast_receiver_try_receive(receiver, bytes, longest, &got, &received));
    } else {
      OK(corecast_receiver_receive(receiver, bytes, longest, &got));
    }
    CHECK(got.tag == message && got.bytes == length_of(message, longest));
    fill(expected, got.bytes, message);
    CHECK(memcmp(bytes, expected, got.bytes) == 0);
  }
  REFUSED(corecast_receiver_receive(receiver, bytes, longest, NULL), CORECAST_STATUS_CLOSED, "gone");
  bool received = true;
  REFUSED(corecast_receiver_try_receive(receiver, bytes, longest, NULL, &received),
          CORECAST_STATUS_CLOSED, "gone");
  CHECK(!received && pthread_join(thread, NULL) == 0);
  OK(corecast_receiver_free(receiver));
  free(bytes), free(expected);
}

static void what_is_there(void) {
  corecast_sender_t *sender;
  corecast_receiver_t *receiver;
  corecast_message_t message = {9, 9};
  uint64_t words[8] = {0};
  bool there = true, sent = false;
  OK(corecast_queue_new(2, NULL, "park", CORECAST_ANY_NODE, CORECAST_ANY_NODE, &sender, &receiver));
  OK(corecast_receiver_peek(receiver, &message, &there));
  CHECK(!there && message.bytes == 9);
  there = true;
  OK(corecast_receiver_try_receive(receiver, words, sizeof words, &message, &there));
  CHECK(!there && message.bytes == 9);
  uint64_t one[3] = {1, 2, 3};
  OK(corecast_sender_send(sender, 5, one, sizeof one));
  OK(corecast_receiver_peek(receiver, &message, &there));
  CHECK(there && message.bytes == sizeof one && message.tag == 5);
  /* Too long for the buffer: it stays, and its length is told. */
  message.bytes = 0;
  REFUSED(corecast_receiver_receive(receiver, words, 8, &message), CORECAST_STATUS_INVALID,
          "24 bytes");
  CHECK(message.bytes == 24 && words[0] == 0);
  REFUSED(corecast_receiver_try_receive(receiver, words, 8, &message, &there),
          CORECAST_STATUS_INVALID, "24 bytes");
  CHECK(!there);
  OK(corecast_receiver_receive(receiver, words, sizeof words, NULL));
  CHECK(words[2] == 3);
  /* Full: nothing is sent. */
  OK(corecast_sender_try_send(sender, 0, one, 8, &sent));
  CHECK(sent);
  while (sent) OK(corecast_sender_try_send(sender, 0, one, 8, &sent));
  OK(corecast_receiver_free(receiver));
  REFUSED(corecast_sender_send(sender, 0, one, 8), CORECAST_STATUS_CLOSED, "gone");
  REFUSED(corecast_sender_try_send(sender, 0, one, 8, &sent), CORECAST_STATUS_CLOSED, "gone");
  OK(corecast_sender_free(sender));
}

static void refused(void) {
  corecast_sender_t *sender;
  corecast_receiver_t *receiver;
  int32_t any = CORECAST_ANY_NODE;
  const corecast_status_t invalid = CORECAST_STATUS_INVALID;
  size_t slots[] = {1, 3, 100, (size_t)1 << 21, SIZE_MAX, SIZE_MAX / 2 + 1};
  for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
    REFUSED(corecast_queue_new(slots[i], NULL, NULL, any, any, &sender, &receiver), invalid,
            "a power of two");
  REFUSED(corecast_queue_new(0, "pigeon", NULL, any, any, &sender, &receiver), invalid, "pigeon");
  REFUSED(corecast_queue_new(0, NULL, "soon", any, any, &sender, &receiver), invalid, "soon");
  REFUSED(corecast_queue_new(0, NULL, NULL, -2, any, &sender, &receiver), invalid, "-2");
  REFUSED(corecast_queue_new(0, NULL, NULL, any, any, NULL, &receiver), invalid, "`sender` is NULL");
  REFUSED(corecast_queue_new(0, NULL, NULL, any, any, &sender, NULL), invalid, "`receiver` is NULL");
  OK(corecast_queue_new(0, NULL, NULL, any, any, &sender, &receiver));
  size_t longest = corecast_sender_message_bytes_max(sender);
  CHECK(longest == 56 + 8192);
  char *bytes = calloc(1, longest + 1);
  CHECK(bytes != NULL);
  bool answer;
  REFUSED(corecast_sender_send(sender, 0, bytes, longest + 1), invalid, "does not fit");
  REFUSED(corecast_sender_try_send(sender, 0, bytes, longest + 1, &answer), invalid, "does not fit");
  REFUSED(corecast_sender_send(sender, UINT32_C(1) << 24, bytes, 1), invalid, "16777216");
  REFUSED(corecast_sender_try_send(sender, UINT32_MAX, bytes, 1, &answer), invalid, "tag");
  REFUSED(corecast_sender_send(sender, 0, NULL, 1), invalid, "`data` is NULL");
  REFUSED(corecast_sender_try_send(sender, 0, bytes, 1, NULL), invalid, "`sent` is NULL");
  REFUSED(corecast_sender_send(NULL, 0, bytes, 1), invalid, "`sender` is NULL");
  REFUSED(corecast_receiver_receive(NULL, bytes, 1, NULL), invalid, "`receiver` is NULL");
  REFUSED(corecast_receiver_receive(receiver, NULL, 1, NULL), invalid, "`buffer` is NULL");
  REFUSED(corecast_receiver_try_receive(receiver, bytes, 1, NULL, NULL), invalid,
          "`received` is NULL");
  REFUSED(corecast_receiver_peek(receiver, NULL, NULL), invalid, "`there` is NULL");
  CHECK(corecast_sender_message_bytes_max(NULL) == 0);
  OK(corecast_sender_free(sender));
  OK(corecast_receiver_free(receiver));
  OK(corecast_sender_free(NULL));
  OK(corecast_receiver_free(NULL));
  free(bytes);
}

/* A second thread at the same end is told so while the first one waits. Two calls that begin at the very
   same instant may miss each other, so the second one waits until the first thread sleeps in its call. */
typedef struct {
  corecast_receiver_t *receiver;
  atomic_long thread;
} waiting_t;

static void *receives(void *context) {
  waiting_t *waiting = context;
  char byte;
  say_who(&waiting->thread);
  OK(corecast_receiver_receive(waiting->receiver, &byte, 1, NULL));
  return NULL;
}

static void two_threads_one_end(void) {
  corecast_sender_t *sender;
  waiting_t waiting = {NULL, 0};
  pthread_t thread;
  OK(corecast_queue_new(0, NULL, "park", CORECAST_ANY_NODE, CORECAST_ANY_NODE, &sender, &waiting.receiver));
  CHECK(pthread_create(&thread, NULL, receives, &waiting) == 0);
  wait_until_asleep(&waiting.thread);
  bool there;
  REFUSED(corecast_receiver_peek(waiting.receiver, NULL, &there), CORECAST_STATUS_BUSY,
          "receiver is in use");
  OK(corecast_sender_send(sender, 0, "x", 1));
  CHECK(pthread_join(thread, NULL) == 0);
  OK(corecast_sender_free(sender));
  OK(corecast_receiver_free(waiting.receiver));
}

int main(void) {
  in_order(0, NULL, NULL, CORECAST_ANY_NODE);
  in_order(8, "ump", "park", 0);
  in_order(16, "fastforward", "20us", CORECAST_ANY_NODE);
  what_is_there();
  refused();
  two_threads_one_end();
  puts("messages come in order");
  return 0;
}
