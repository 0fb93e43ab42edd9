/*
 * replay - run a fuzz target over files instead of inventing inputs.
 *
 * Linked to every target where libFuzzer is not. Each argument is a file or a folder; the files of
 * a folder (not of its subfolders) are run. The empty input always runs first, so a target without
 * a corpus is still entered once. An input is handed over in a block of exactly its size, so that
 * a sanitizer sees the first byte read beyond it. Exit status 1 when something cannot be read.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long run_count;

static int run_file(const char *path)
{
    struct stat info;
    FILE *file = fopen(path, "rb");

    if (file == NULL || fstat(fileno(file), &info) != 0) {
        perror(path);
        if (file != NULL) {
            fclose(file);
        }
        return 1;
    }
    size_t size = (size_t)info.st_size;
    uint8_t *data = malloc(size == 0 ? 1 : size);
    if (data == NULL || fread(data, 1, size, file) != size) {
        fprintf(stderr, "%s: cannot be read\n", path);
        free(data);
        fclose(file);
        return 1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    run_count++;
    return 0;
}

static int run_folder(const char *path)
{
    int failed = 0;
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);

    if (count < 0) {
        perror(path);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char name[4096];
        struct stat info;
        int length = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);

        free(entries[i]);
        if (length < 0 || (size_t)length >= sizeof name) {
            failed = 1;
        } else if (stat(name, &info) == 0 && S_ISREG(info.st_mode)) {
            failed |= run_file(name);
        }
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    uint8_t *nothing = calloc(1, 1);

    if (nothing == NULL) {
        return 1;
    }
    LLVMFuzzerTestOneInput(nothing, 0);
    free(nothing);
    run_count = 1;
    for (int i = 1; i < argc; i++) {
        struct stat info;

        if (stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode)) {
            failed |= run_folder(argv[i]);
        } else {
            failed |= run_file(argv[i]);
        }
    }
    printf("%lu inputs\n", run_count);
    return failed;
}
