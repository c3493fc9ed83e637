/* A program without OpenMP that opens libraries with it, as interpreters do with their modules. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*work[8])(int), wrong = argc < 2;
    for (int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        work[i] = (int (*)(int))dlsym(library, "work");
    }
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < argc; i++)
            wrong |= work[i](2) || work[i](4);
    puts(wrong ? "wrong" : "right");
    return wrong;
}
