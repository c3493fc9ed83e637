/* Every operation that waits, against what it must give by its definition. */
#include "check.h"

static const size_t LENGTHS[] = {0, 1, 3, 100, 5000};
#define LENGTHS_COUNT (sizeof LENGTHS / sizeof LENGTHS[0])

static uint64_t *array(size_t count) {
  uint64_t *memory = malloc((count + 1) * sizeof *memory);
  CHECK(memory != NULL);
  memset(memory, 0x5A, (count + 1) * sizeof *memory);
  return memory;
}

static void moves(corecast_member_t *member, size_t count) {
  size_t rank = corecast_member_rank(member), size = corecast_member_size(member);
  size_t bytes = count * sizeof(uint64_t);
  uint64_t *one = array(count), *all = array(count * size), *back = array(count * size);
  for (size_t root = 0; root < size; root++) {
    for (size_t i = 0; i < count; i++) one[i] = value(rank, i);
    OK(corecast_broadcast(member, root, one, bytes));
    for (size_t i = 0; i < count; i++) CHECK(one[i] == value(root, i));

    for (size_t i = 0; i < count * size; i++) all[i] = value(root + 100, i);
    OK(corecast_scatter(member, root, rank == root ? all : NULL, one, bytes));
    for (size_t i = 0; i < count; i++) CHECK(one[i] == value(root + 100, rank * count + i));

    for (size_t i = 0; i < count; i++) one[i] = value(rank, i + root);
    OK(corecast_gather(member, root, one, rank == root ? all : NULL, bytes));
    for (size_t r = 0; rank == root && r < size; r++)
      for (size_t i = 0; i < count; i++) CHECK(all[r * count + i] == value(r, i + root));
  }
  for (size_t i = 0; i < count; i++) one[i] = value(rank, i);
  OK(corecast_allgather(member, one, all, bytes));
  for (size_t r = 0; r < size; r++)
    for (size_t i = 0; i < count; i++) CHECK(all[r * count + i] == value(r, i));

  for (size_t i = 0; i < count * size; i++) all[i] = value(rank, i);
  OK(corecast_alltoall(member, all, back, bytes));
  for (size_t r = 0; r < size; r++)
    for (size_t i = 0; i < count; i++) CHECK(back[r * count + i] == value(r, rank * count + i));
  free(one), free(all), free(back);
}

/* Rank r has r % 3 * count elements; parts lie in reverse order with a gap of one. */
static void parts(corecast_member_t *member, size_t count) {
  size_t rank = corecast_member_rank(member), size = corecast_member_size(member);
  size_t *counts = malloc(size * sizeof *counts), *at = malloc(size * sizeof *at), end = 0;
  CHECK(counts != NULL && at != NULL);
  for (size_t r = size; r-- > 0;) {
    counts[r] = r % 3 * count;
    at[r] = end;
    end += counts[r] + 1;
  }
  size_t mine = counts[rank];
  uint64_t *one = array(mine), *all = array(end);
  for (size_t root = 0; root < size; root++) {
    for (size_t i = 0; i < end; i++) all[i] = value(root, i);
    OK(corecast_scatterv(member, root, all, counts, at, one, mine, sizeof *one));
    for (size_t i = 0; i < mine; i++) CHECK(one[i] == value(root, at[rank] + i));

    for (size_t i = 0; i < mine; i++) one[i] = value(rank, i);
    memset(all, 0, end * sizeof *all);
    OK(corecast_gatherv(member, root, one, mine, all, counts, at, sizeof *one));
    for (size_t r = 0; rank == root && r < size; r++) {
      for (size_t i = 0; i < counts[r]; i++) CHECK(all[at[r] + i] == value(r, i));
      CHECK(all[at[r] + counts[r]] == 0);
    }
  }
  memset(all, 0, end * sizeof *all);
  OK(corecast_allgatherv(member, one, mine, all, counts, at, sizeof *one));
  for (size_t r = 0; r < size; r++)
    for (size_t i = 0; i < counts[r]; i++) CHECK(all[at[r] + i] == value(r, i));

  /* Rank a sends a + b elements to rank b. */
  size_t *give = malloc(2 * size * sizeof *give), sum = 0;
  CHECK(give != NULL);
  for (size_t r = 0; r < size; r++) {
    give[r] = rank + r;
    give[size + r] = sum;
    sum += rank + r;
  }
  uint64_t *sent = array(sum), *taken = array(sum);
  for (size_t i = 0; i < sum; i++) sent[i] = value(rank, i);
  OK(corecast_alltoallv(member, sent, give, give + size, taken, give, give + size, sizeof *sent));
  for (size_t r = 0; r < size; r++) {
    size_t begin = 0;
    for (size_t to = 0; to < rank; to++) begin += r + to;
    for (size_t i = 0; i < give[r]; i++) CHECK(taken[give[size + r] + i] == value(r, begin + i));
  }
  free(counts), free(at), free(one), free(all), free(give), free(sent), free(taken);
}

static uint64_t sum_of(size_t from, size_t to, size_t i) {
  uint64_t sum = 0;
  for (size_t r = from; r < to; r++) sum += value(r, i);
  return sum;
}

static void reductions(corecast_member_t *member, size_t count) {
  size_t rank = corecast_member_rank(member), size = corecast_member_size(member);
  uint64_t *data = array(count), *block = array(count);
#define FILL() for (size_t i = 0; i < count; i++) data[i] = value(rank, i)
  for (size_t root = 0; root < size; root++) {
    FILL();
    OK(corecast_reduce(member, root, data, count, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM));
    for (size_t i = 0; i < count; i++)
      CHECK(data[i] == (rank == root ? sum_of(0, size, i) : value(rank, i)));
  }
  FILL();
  OK(corecast_allreduce(member, data, count, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM));
  for (size_t i = 0; i < count; i++) CHECK(data[i] == sum_of(0, size, i));
  FILL();
  OK(corecast_scan(member, data, count, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM));
  for (size_t i = 0; i < count; i++) CHECK(data[i] == sum_of(0, rank + 1, i));
  FILL();
  OK(corecast_exscan(member, data, count, CORECAST_ELEMENT_U64, CORECAST_OPERATOR_SUM));
  for (size_t i = 0; i < count; i++)
    CHECK(data[i] == (rank == 0 ? value(0, i) : sum_of(0, rank, i)));
  FILL();
  size_t begin, length;
  OK(corecast_block(count, size, rank, &begin, &length));
  OK(corecast_reduce_scatter(member, data, count, block, CORECAST_ELEMENT_U64,
                             CORECAST_OPERATOR_SUM));
  for (size_t i = 0; i < length; i++) CHECK(block[i] == sum_of(0, size, begin + i));
  /* All of it for the last rank. */
  size_t *counts = calloc(size, sizeof *counts);
  CHECK(counts != NULL);
  counts[size - 1] = count;
  OK(corecast_reduce_scatterv(member, data, counts, block, CORECAST_ELEMENT_U64,
                              CORECAST_OPERATOR_SUM));
  for (size_t i = 0; i < counts[rank]; i++) CHECK(block[i] == sum_of(0, size, i));
#undef FILL
  free(data), free(block), free(counts);
}

static void every_operator(corecast_member_t *member) {
  size_t rank = corecast_member_rank(member), size = corecast_member_size(member);
  int8_t bytes[2] = {(int8_t)(rank + 1), (int8_t)-(int)rank};
  OK(corecast_allreduce(member, bytes, 2, CORECAST_ELEMENT_I8, CORECAST_OPERATOR_MIN));
  CHECK(bytes[0] == 1 && bytes[1] == -(int)(size - 1));
  double reals[2] = {0.5 * (double)rank, 2.0};
  OK(corecast_allreduce(member, reals, 2, CORECAST_ELEMENT_F64, CORECAST_OPERATOR_MAX));
  CHECK(reals[0] == 0.5 * (double)(size - 1) && reals[1] == 2.0);
  float product = 2.0f;
  OK(corecast_allreduce(member, &product, 1, CORECAST_ELEMENT_F32, CORECAST_OPERATOR_PRODUCT));
  CHECK(product == (float)(1u << size));
  uint32_t bits[3] = {1u << rank, ~(1u << rank), 1u << rank | 0x100u};
  OK(corecast_allreduce(member, bits, 1, CORECAST_ELEMENT_U32, CORECAST_OPERATOR_OR));
  OK(corecast_allreduce(member, bits + 1, 1, CORECAST_ELEMENT_U32, CORECAST_OPERATOR_AND));
  OK(corecast_allreduce(member, bits + 2, 1, CORECAST_ELEMENT_U32, CORECAST_OPERATOR_XOR));
  uint32_t all = (1u << size) - 1;
  CHECK(bits[0] == all && bits[1] == ~all && bits[2] == (all | (size % 2 ? 0x100u : 0u)));
}

/* x -> a x + b, one after the other: associative, not commutative. */
typedef struct {
  uint64_t a, b;
} map;

/* What then expects as its context. */
static char chained;

static void then(void *into, const void *with, size_t count, void *context) {
  map *f = into;
  const map *g = with;
  CHECK(context == &chained);
  for (size_t i = 0; i < count; i++) {
    f[i].b = f[i].b * g[i].a + g[i].b;
    f[i].a *= g[i].a;
  }
}

static map chain(size_t to, size_t i) {
  map all = {value(0, i), value(50, i)};
  for (size_t r = 1; r < to; r++) {
    map next = {value(r, i), value(50 + r, i)};
    then(&all, &next, 1, &chained);
  }
  return all;
}

static void own_operator(corecast_member_t *member, size_t count) {
  size_t rank = corecast_member_rank(member), size = corecast_member_size(member);
  const corecast_element_t own = CORECAST_ELEMENT_OWN;
  corecast_operator_t *chaining;
  OK(corecast_operator_new(then, &chained, sizeof(map), true, &chaining));
  map *maps = malloc((count + 1) * sizeof *maps), *block = malloc((count + 1) * sizeof *maps);
  size_t *counts = calloc(size, sizeof *counts), begin, length;
  CHECK(maps != NULL && block != NULL && counts != NULL);
#define FILL() \
  for (size_t i = 0; i < count; i++) maps[i] = (map){value(rank, i), value(50 + rank, i)}
#define SAME(x, y) ((x).a == (y).a && (x).b == (y).b)
  FILL();
  OK(corecast_reduce(member, size - 1, maps, count, own, chaining));
  for (size_t i = 0; rank == size - 1 && i < count; i++) CHECK(SAME(maps[i], chain(size, i)));
  FILL();
  OK(corecast_allreduce(member, maps, count, own, chaining));
  for (size_t i = 0; i < count; i++) CHECK(SAME(maps[i], chain(size, i)));
  FILL();
  OK(corecast_scan(member, maps, count, own, chaining));
  for (size_t i = 0; i < count; i++) CHECK(SAME(maps[i], chain(rank + 1, i)));
  FILL();
  OK(corecast_exscan(member, maps, count, own, chaining));
  for (size_t i = 0; rank > 0 && i < count; i++) CHECK(SAME(maps[i], chain(rank, i)));
  FILL();
  OK(corecast_block(count, size, rank, &begin, &length));
  OK(corecast_reduce_scatter(member, maps, count, block, own, chaining));
  for (size_t i = 0; i < length; i++) CHECK(SAME(block[i], chain(size, begin + i)));
  counts[0] = count;
  OK(corecast_reduce_scatterv(member, maps, counts, block, own, chaining));
  for (size_t i = 0; i < counts[rank]; i++) CHECK(SAME(block[i], chain(size, i)));
  OK(corecast_operator_free(chaining));
  free(maps), free(block), free(counts);
}

static void larger(void *into, const void *with, size_t count, void *context) {
  double *a = into;
  const double *b = with;
  CHECK(context == NULL);
  for (size_t i = 0; i < count; i++)
    if (b[i] > a[i]) a[i] = b[i];
}

static void one_type_of_operators(corecast_member_t *member) {
  /* Built-in operators are constants, at compile time too. */
  static const corecast_operator_t *const built_in[] = {CORECAST_OPERATOR_SUM, CORECAST_OPERATOR_MAX};
  size_t size = corecast_member_size(member);
  corecast_operator_t *own;
  OK(corecast_operator_new(larger, NULL, sizeof(double), false, &own));
  const corecast_operator_t *operators[] = {built_in[0], built_in[1], own};
  double expected[] = {(double)(size * (size + 1) / 2), (double)size, (double)size};
  for (size_t i = 0; i < 3; i++) {
    double data = (double)corecast_member_rank(member) + 1.0;
    OK(corecast_allreduce(member, &data, 1, CORECAST_ELEMENT_F64, operators[i]));
    CHECK(data == expected[i]);
  }
  OK(corecast_operator_free(own));
}

static void body(corecast_member_t *member, void *context) {
  size_t *come = context, rank = corecast_member_rank(member);
  come[rank] = rank + 1;
  OK(corecast_barrier(member));
  for (size_t r = 0; r < corecast_member_size(member); r++) CHECK(come[r] == r + 1);
  OK(corecast_barrier(member));
  for (size_t i = 0; i < LENGTHS_COUNT; i++) {
    moves(member, LENGTHS[i]);
    parts(member, LENGTHS[i]);
    reductions(member, LENGTHS[i]);
    own_operator(member, LENGTHS[i]);
  }
  every_operator(member);
  one_type_of_operators(member);
}

int main(int argc, char **argv) {
  size_t most = argc > 1 ? (size_t)atoi(argv[1]) : 5;
  for (size_t size = 1; size <= most; size++) {
    corecast_team_t *team;
    size_t come[16] = {0}, ranks[16], count;
    OK(corecast_team_new(size, &team));
    CHECK(corecast_team_size(team) == size);
    OK(corecast_team_ranks(team, ranks, 16, &count));
    CHECK(count == size && ranks[size - 1] == size - 1);
    OK(corecast_team_run(team, body, come));
    OK(corecast_team_failure(team));
    OK(corecast_team_free(team));
  }
  printf("collectives of 1 to %zu ranks are right, Corecast %s\n", most, corecast_version());
  return 0;
}
