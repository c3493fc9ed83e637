/* A program in which one thread closes a library, the first one of the process, while another one is in a constructor
   that closes one too. Built with -DPLUGIN it is the library with that constructor. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

void construct(void);

#ifdef PLUGIN

__attribute__((constructor)) static void load(void)
{
    construct();
}

#else

static atomic_int inside, wrong;
static void *handles[2];

/* The loader has its lock locked, for which the other thread waits by the end of the sleep. */
void construct(void)
{
    atomic_store(&inside, 1);
    usleep(200000);
    if (dlclose(handles[0]))
        atomic_store(&wrong, 1);
}

static void *open_plugin(void *path)
{
    if (!dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
        fprintf(stderr, "%s\n", dlerror());
        atomic_store(&wrong, 1);
        atomic_store(&inside, 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        handles[i] = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (argc < 2 || !handles[0] || !handles[1])
        return 2;
    pthread_create(&thread, NULL, open_plugin, argv[1]);
    while (!atomic_load(&inside))
        sched_yield();
    if (dlclose(handles[1]))
        atomic_store(&wrong, 1);
    pthread_join(thread, NULL);
    puts(atomic_load(&wrong) ? "wrong" : "right");
    return atomic_load(&wrong);
}

#endif
