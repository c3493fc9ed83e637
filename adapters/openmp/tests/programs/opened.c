/* A program without OpenMP that opens a library with it, as interpreters do with their modules. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    int (*work)(int) = (int (*)(int))dlsym(library, "work");
    int wrong = work(2) != 0 || work(4) != 0;
    puts(wrong ? "wrong" : "right");
    return wrong;
}
