/* A program that loads libraries with OpenMP and unloads them again, as hosts of plugins do. It is linked with GNU's
   runtime, whose threads do not survive that it is unloaded; LLVM's stays. */
#include <omp.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int wrong;

static void use(const char *path)
{
    int unloaded = 0;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        wrong = 1;
        return;
    }
    int (*work)(int, int *) = (int (*)(int, int *))dlsym(library, "work");
    /* A library that stayed would go on counting. */
    if (work(2, &unloaded) != 1 || work(3, &unloaded) != 2) {
        fprintf(stderr, "%s is an instance that was used before, or wrong\n", path);
        wrong = 1;
    }
    if (unloaded || dlclose(library) || unloaded != 1 || dlopen(path, RTLD_NOW | RTLD_NOLOAD)) {
        fprintf(stderr, "%s was not unloaded, or not rightly\n", path);
        wrong = 1;
    }
}

static void *use_in_thread(void *path)
{
    use(path);
    return NULL;
}

int main(int argc, char **argv)
{
    for (int round = 0; round < 5; round++)
        for (int i = 1; i < argc; i++) {
            pthread_t thread;
            use(argv[i]);
            pthread_create(&thread, NULL, use_in_thread, argv[i]);
            pthread_join(thread, NULL);
        }
    if (omp_get_max_threads() < 1)
        wrong = 1;
    puts(wrong ? "wrong" : "right");
    return wrong;
}
