/* SPDX-License-Identifier: MIT */
/* Blocks of any size: a line that grows as it is read, with room used to the last byte of its
 * class. */
#include <slub/slub.h>

#include <stdio.h>
#include <string.h>

/* Appends, and asks for more room only when the class has none left. */
static char *append(char *line, size_t *used, const char *word)
{
    const size_t need = *used + strlen(word) + 1;
    if (need > slub_usable_size(line)) {
        char *longer = slub_realloc(line, slub_good_size(need));
        if (longer == NULL) {
            slub_free(line);
            return NULL;
        }
        line = longer;
    }
    strcpy(line + *used, word);
    *used += strlen(word);
    return line;
}

int main(void)
{
    size_t used = 0;
    size_t n_words = 0;
    char *line = slub_zalloc(1);

    for (; line != NULL && n_words < 1000; n_words++)
        line = append(line, &used, "slab ");
    if (line == NULL)
        return 1;
    printf("%zu words, %zu bytes, in a block of %zu\n", n_words, used, slub_usable_size(line));
    const int ok = strlen(line) == used && used == 5 * n_words;
    slub_free(line);
    return !ok;
}
