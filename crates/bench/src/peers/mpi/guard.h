/* Removes a rank's files in /dev/shm once it has ended, however it did: libraries leave that to their starter, which
 * may have been killed. A process of its own sleeps in read(2) until the rank's end of a pipe is closed. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHARED "/dev/shm/"

/* The rank's end of the pipe, -1 without a guard. */
static int guarded = -1;

/* Reads one name a line, and removes the files when no more can come. */
static void guard(int from) {
  static char names[1 << 16];
  size_t length = 0;
  ssize_t got;
  while (length < sizeof names - 1 && (got = read(from, names + length, sizeof names - 1 - length)) > 0)
    length += (size_t)got;
  while (length == sizeof names - 1 && read(from, &(char){0}, 1) > 0) continue;
  for (char *name = strtok(names, "\n"); name != NULL; name = strtok(NULL, "\n"))
    if (strncmp(name, SHARED, strlen(SHARED)) == 0) unlink(name);
  _exit(0);
}

/* Starts the guard, before the library has threads or memory that a fork would disturb. It belongs to no group and
 * to no parent of this job, which are killed together, and has none of its streams. */
static void start_guard(void) {
  int ends[2];
  if (pipe(ends) != 0) return;
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    setsid();
    if (fork() != 0) _exit(0);
    for (int fd = 0; fd < 1024; fd++)
      if (fd != ends[0]) close(fd);
    guard(ends[0]);
  }
  close(ends[0]);
  if (child > 0) waitpid(child, NULL, 0);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  signal(SIGPIPE, SIG_IGN);
  guarded = ends[1];
}

/* Tells the guard which files are mapped now. */
static void note_shared(void) {
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    char *path = strstr(line, SHARED);
    if (path != NULL && strstr(path, " (deleted)") == NULL && write(guarded, path, strlen(path)) < 0) break;
  }
  if (maps != NULL) fclose(maps);
}
