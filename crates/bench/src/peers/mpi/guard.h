/* Removes a rank's files in /dev/shm once it has ended, however it did: libraries leave that to their starter, which
 * may have been killed. A process of its own sleeps in read(2) until the rank's end of a pipe is closed. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARED "/dev/shm/"
#define LOOK_MS 10

/* The rank's end of the pipe, -1 without a guard. */
static int guarded = -1;

/* Calls `with` for each file in /dev/shm that the process of these maps has. */
static void each_shared(const char *maps_path, void (*with)(const char *line)) {
  char line[4096];
  FILE *maps = fopen(maps_path, "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    char *path = strstr(line, SHARED);
    if (path != NULL && strstr(path, " (deleted)") == NULL) with(path);
  }
  if (maps != NULL) fclose(maps);
}

/* Names of files, one a line. */
static char names[1 << 16];

static void keep(const char *line) {
  if (strstr(names, line) == NULL && strlen(names) + strlen(line) < sizeof names) strcat(names, line);
}

/* Until the rank has started its library, looks itself what is there; then reads one name a line. Removes the files
 * when no more can come. */
static void guard(int from, pid_t of) {
  char path[64], line[4096];
  struct pollfd more = {.fd = from, .events = POLLIN};
  snprintf(path, sizeof path, "/proc/%d/maps", (int)of);
  while (poll(&more, 1, LOOK_MS) == 0) each_shared(path, keep);
  FILE *told = fdopen(from, "r");
  while (told != NULL && fgets(line, sizeof line, told) != NULL) keep(line);
  for (char *name = strtok(names, "\n"); name != NULL; name = strtok(NULL, "\n"))
    if (strncmp(name, SHARED, strlen(SHARED)) == 0) unlink(name);
  _exit(0);
}

/* Starts the guard, before the library has threads or memory that a fork would disturb. It belongs to no group and
 * to no parent of this job, which are killed together, and has none of its streams. */
static void start_guard(void) {
  int ends[2];
  pid_t own = getpid();
  if (pipe(ends) != 0) return;
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    setsid();
    if (fork() != 0) _exit(0);
    for (int fd = 0; fd < 1024; fd++)
      if (fd != ends[0]) close(fd);
    guard(ends[0], own);
  }
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  signal(SIGPIPE, SIG_IGN);
  guarded = ends[1];
}

static void tell(const char *line) {
  /* Without a guard there is nobody to tell. */
  if (write(guarded, line, strlen(line)) < 0) return;
}

/* Tells the guard which files are mapped now, and that the library has started. */
static void note_shared(void) {
  tell("started\n");
  each_shared("/proc/self/maps", tell);
}
