/* SPDX-License-Identifier: MIT */
/* Case 9: memory that libc allocates and the program frees, and the other way round. A symbol
 * missing from the replacement sends one of the two to libc's own heap. */
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <grp.h>
#include <iconv.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testkit.h"

static void page_calls(void *unused)
{
    char *p = pvalloc(1);

    (void)unused;
    tk_check(p != NULL && malloc_usable_size(p) >= 4096, "usable size of pvalloc(1): %zu",
             malloc_usable_size(p));
    memset(p, 1, 4096);
    free(p);
    p = valloc(1);
    tk_check(((uintptr_t)p & 4095) == 0, "valloc(1) gave %p", (void *)p);
    free(realloc(p, 10000));
}

static void resolver(void *unused)
{
    struct __res_state state;

    (void)unused;
    res_init();
    memset(&state, 0, sizeof state);
    tk_check(res_ninit(&state) == 0, "res_ninit");
    res_nclose(&state);
}

static char *print(const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    tk_check(vasprintf(&text, fmt, ap) > 0, "vasprintf");
    va_end(ap);
    return text;
}

static void text_calls(void *unused)
{
    char *line = NULL, *text;
    size_t n = 0;
    FILE *f = tmpfile();

    (void)unused;
    if (tk_check(f != NULL, "tmpfile")) {
        for (int i = 0; i < 3000; i++)
            fputs("a long line ", f);
        fputs("\nshort\n", f);
        rewind(f);
        tk_check(getline(&line, &n, f) > 30000, "getline");
        tk_check(getdelim(&line, &n, 't', f) == 5, "getdelim");
        /* A buffer from us that libc grows. */
        free(line);
        line = malloc(4);
        n = 4;
        rewind(f);
        tk_check(getline(&line, &n, f) > 30000, "getline into a block of ours");
        free(line);
        fclose(f);
    }
    tk_check(asprintf(&text, "%0500d", 1) == 500, "asprintf");
    free(text);
    free(print("%0300d %s", 2, "x"));
    free(strdup("duplicate"));
    free(strndup("duplicate", 3));
    f = open_memstream(&text, &n);
    for (int i = 0; i < 10000; i++)
        fprintf(f, "%d,", i);
    fclose(f);
    free(text);
}

static void path_calls(void *unused)
{
    struct dirent **names = NULL;
    int n = scandir("/proc/self", &names, NULL, alphasort);
    char *p;

    (void)unused;
    tk_check(n > 0, "scandir");
    for (int i = 0; i < n; i++)
        free(names[i]);
    free(names);
    tk_check((p = realpath("/proc/self/..", NULL)) != NULL, "realpath");
    free(p);
    tk_check((p = getcwd(NULL, 0)) != NULL, "getcwd");
    free(p);
    tk_check((p = get_current_dir_name()) != NULL, "get_current_dir_name");
    free(p);
    DIR *dir = opendir("/");
    if (dir != NULL)
        closedir(dir);
}

static void library_calls(void *unused)
{
    struct addrinfo *found = NULL;
    regex_t regex;
    iconv_t conv;
    locale_t loc;
    void *tree = NULL, *handle;

    (void)unused;
    tk_check(regcomp(&regex, "a(b|c)*d{2,30}", REG_EXTENDED) == 0, "regcomp");
    regfree(&regex);
    if ((conv = iconv_open("UTF-16", "LATIN1")) != (iconv_t)-1)
        iconv_close(conv);
    if ((loc = newlocale(LC_ALL_MASK, "C", NULL)) != NULL)
        freelocale(loc);
    setlocale(LC_ALL, "C.UTF-8");
    if (getaddrinfo("127.0.0.1", "80", NULL, &found) == 0)
        freeaddrinfo(found);
    getpwuid(0);
    getgrgid(0);
    for (uintptr_t i = 1; i < 200; i++)
        tsearch(strdup("key"), &tree, (int (*)(const void *, const void *))strcmp);
    while (tree != NULL) {
        char *key = *(char **)tree;

        tdelete(key, &tree, (int (*)(const void *, const void *))strcmp);
        free(key);
    }
    tk_check(dlopen("/no/such/library", RTLD_NOW) == NULL && dlerror() != NULL,
             "dlopen of nothing");
    handle = dlopen("libm.so.6", RTLD_NOW);
    if (handle != NULL)
        dlclose(handle);
    for (int i = 0; i < 100; i++) {
        char name[32];

        snprintf(name, sizeof name, "KF09_%d", i);
        setenv(name, "value", 1);
    }
    clearenv();
    hcreate(100);
    hdestroy();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void *);
    } parts[] = {{"pages", page_calls},
                 {"resolver", resolver},
                 {"text", text_calls},
                 {"paths", path_calls},
                 {"libraries", library_calls}};

    tk_init("kf09", "memory that crosses libc", argc, argv);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (tk_child(parts[i].name, parts[i].run, NULL, 30))
            tk_note("%s fine", parts[i].name);
    return tk_finish();
}
