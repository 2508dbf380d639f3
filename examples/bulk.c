/* SPDX-License-Identifier: MIT */
/* Many objects at a time: a ring of packets that is filled and emptied in bulk. */
#include <slub/slub.h>

#include <stdio.h>

enum { N_PACKETS = 64, ROUNDS = 1000 };

struct packet {
    unsigned length;
    unsigned char bytes[1500];
};

int main(void)
{
    struct slub_cache *packets = slub_cache_create("packets", sizeof(struct packet), NULL, 0);
    void *ring[N_PACKETS];
    size_t n_sent = 0;

    if (packets == NULL)
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        /* All or none. */
        if (slub_cache_alloc_bulk(packets, 0, N_PACKETS, ring) != N_PACKETS)
            return 1;
        for (unsigned i = 0; i < N_PACKETS; i++)
            ((struct packet *)ring[i])->length = i;
        slub_cache_free_bulk(packets, N_PACKETS, ring);
        n_sent += N_PACKETS;
    }
    printf("%zu packets\n", n_sent);
    return slub_cache_destroy(packets) != 0;
}
