/* SPDX-License-Identifier: MIT */
/* Owns hackbench: groups of senders and receivers, every sender writing to every receiver of its group.
 *
 * Three forms. With objects (threads, the default) a message is allocated by the sender, handed over in a queue and
 * freed by the receiver: a linked list stands for the socket, a ring of pointers for the pipe. As processes, messages
 * pass through real sockets or pipes, and each side allocates, touches and frees a buffer of its own for every one.
 * --real executes the hackbench of rt-tests with the other options as they are.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/load.h"
#include "workloads/ticks.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_WAITING 64 /* messages in a queue; then its senders wait, as for a full socket */

struct message {
    struct message *next;
    char text[];
};

struct queue {
    _Alignas(128) pthread_mutex_t lock;
    pthread_cond_t is_filled, has_room;
    struct message *first, **last; /* as a list */
    struct message *ring[MOST_WAITING];
    size_t head, n;
    int fds[2]; /* of processes: read end, write end */
};

static uint64_t groups = 10, fds = 20, loops = 100, data_bytes = 100, uses_pipes, uses_threads, uses_processes;
static struct queue *queues; /* groups * fds */

/* Everybody waits here until all are there. */
static pthread_barrier_t gate;
static int ready_pipe[2], wake_pipe[2];

static void put(struct queue *q, struct message *m)
{
    pthread_mutex_lock(&q->lock);
    while (q->n == MOST_WAITING)
        pthread_cond_wait(&q->has_room, &q->lock);
    if (uses_pipes) {
        q->ring[(q->head + q->n) % MOST_WAITING] = m;
    } else {
        m->next = NULL;
        *q->last = m;
        q->last = &m->next;
    }
    if (q->n++ == 0)
        pthread_cond_signal(&q->is_filled);
    pthread_mutex_unlock(&q->lock);
}

static struct message *take(struct queue *q)
{
    struct message *m;

    pthread_mutex_lock(&q->lock);
    while (q->n == 0)
        pthread_cond_wait(&q->is_filled, &q->lock);
    if (uses_pipes) {
        m = q->ring[q->head];
        q->head = (q->head + 1) % MOST_WAITING;
    } else {
        m = q->first;
        q->first = m->next;
        if (q->first == NULL)
            q->last = &q->first;
    }
    if (q->n-- == MOST_WAITING)
        pthread_cond_broadcast(&q->has_room);
    pthread_mutex_unlock(&q->lock);
    return m;
}

static void send_objects(uint64_t group)
{
    for (uint64_t i = 0; i < loops; i++) {
        for (uint64_t k = 0; k < fds; k++) {
            struct message *m = load_alloc(sizeof(*m) + data_bytes);
            memset(m->text, (int)i, data_bytes);
            put(&queues[group * fds + k], m);
        }
    }
}

static void receive_objects(struct queue *q)
{
    unsigned sum = 0;

    for (uint64_t i = 0; i < loops * fds; i++) {
        struct message *m = take(q);
        for (uint64_t k = 0; k < data_bytes; k += 64)
            sum += (unsigned char)m->text[k];
        free(m);
    }
    __asm__ volatile("" ::"r"(sum)); /* the messages are read */
}

static void send_bytes(uint64_t group)
{
    for (uint64_t i = 0; i < loops; i++) {
        for (uint64_t k = 0; k < fds; k++) {
            char *text = load_alloc(data_bytes);
            memset(text, (int)i, data_bytes);
            if (write(queues[group * fds + k].fds[1], text, data_bytes) != (ssize_t)data_bytes)
                load_die("write");
            free(text);
        }
    }
}

static void receive_bytes(struct queue *q)
{
    for (uint64_t i = 0; i < loops * fds; i++) {
        char *text = load_alloc(data_bytes);
        for (size_t done = 0; done < data_bytes;) {
            const ssize_t n = read(q->fds[0], text + done, data_bytes - done);
            if (n <= 0)
                load_die("read");
            done += (size_t)n;
        }
        free(text);
    }
}

static uint64_t started_ns;

static void wait_at_gate(void)
{
    char byte = 0;

    if (!uses_processes) {
        if (pthread_barrier_wait(&gate) == PTHREAD_BARRIER_SERIAL_THREAD)
            started_ns = ticks_now_ns();
        return;
    }
    if (write(ready_pipe[1], &byte, 1) != 1 || read(wake_pipe[0], &byte, 1) != 1)
        load_die("start");
}

/* Tasks of a group: its receivers, then its senders. */
static void task(unsigned i)
{
    const uint64_t group = i / (2 * fds);
    const uint64_t k = i % (2 * fds);

    wait_at_gate();
    if (k < fds && uses_processes)
        receive_bytes(&queues[group * fds + k]);
    else if (k < fds)
        receive_objects(&queues[group * fds + k]);
    else if (uses_processes)
        send_bytes(group);
    else
        send_objects(group);
}

static void make_queues(void)
{
    queues = aligned_alloc(128, groups * fds * sizeof(queues[0]));
    if (queues == NULL)
        load_die("queues");
    for (uint64_t i = 0; i < groups * fds; i++) {
        struct queue *q = &queues[i];
        memset(q, 0, sizeof(*q));
        pthread_mutex_init(&q->lock, NULL);
        pthread_cond_init(&q->is_filled, NULL);
        pthread_cond_init(&q->has_room, NULL);
        q->last = &q->first;
        if (uses_processes &&
            (uses_pipes ? pipe(q->fds) : socketpair(AF_UNIX, SOCK_STREAM, 0, q->fds)) != 0)
            load_die("cannot make a connection");
    }
}

/* Of processes: all are there, so all may go. */
static void *open_gate(void *of)
{
    const uint64_t n = *(uint64_t *)of;
    char bytes[64];

    for (uint64_t there = 0; there < n;) {
        const ssize_t got = read(ready_pipe[0], bytes, sizeof(bytes));
        if (got <= 0)
            load_die("start");
        there += (uint64_t)got;
    }
    started_ns = ticks_now_ns();
    for (uint64_t i = 0; i < n; i++) {
        if (write(wake_pipe[1], bytes, 1) != 1)
            load_die("start");
    }
    return NULL;
}

static int run_real(char **argv)
{
    char **kept = argv + 1;

    for (char **w = argv + 1; *w != NULL; w++) {
        if (strcmp(*w, "--real") != 0)
            *kept++ = *w;
    }
    *kept = NULL;
    execvp("hackbench", argv);
    if (errno != ENOENT)
        load_die("hackbench");
    printf("hackbench is not installed: install rt-tests\n");
    return LOAD_CANNOT_RUN;
}

int load_hackbench(int argc, char **argv)
{
    uint64_t objects = 0;
    const struct load_option options[] = {
        {"groups", 'g', "groups", &groups, 1, 100, false},
        {"fds", 'f', "senders, and receivers, of a group", &fds, 1, 100, false},
        {"loops", 'l', "messages of each sender to each receiver", &loops, 1, 1000000, false},
        {"datasize", 's', "bytes of a message", &data_bytes, 1, 1 << 20, false},
        {"pipe", 'p', "pipes instead of sockets", &uses_pipes, 0, 1, true},
        {"threads", 'T', "threads, handing objects over (the default)", &uses_threads, 0, 1, true},
        {"objects", 'o', "the same", &objects, 0, 1, true},
        {"process", 'P', "processes over sockets or pipes", &uses_processes, 0, 1, true},
        {"real", 0, "the hackbench of rt-tests, with the other options", &objects, 0, 1, true},
    };

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--real") == 0)
            return run_real(argv);
    }
    load_options(argc, argv, options, sizeof(options) / sizeof(options[0]));
    const uint64_t n = groups * 2 * fds;
    printf("Running in %s mode with %llu groups using %llu file descriptors each (== %llu tasks)\n",
           uses_processes ? "process" : "threaded", (unsigned long long)groups, (unsigned long long)(2 * fds),
           (unsigned long long)n);
    printf("Each sender will pass %llu messages of %llu bytes\n", (unsigned long long)loops,
           (unsigned long long)data_bytes);
    fflush(stdout);
    make_queues();
    pthread_t opener;
    uint64_t n_opened = n;
    if (uses_processes) {
        if (pipe(ready_pipe) != 0 || pipe(wake_pipe) != 0 || pthread_create(&opener, NULL, open_gate, &n_opened) != 0)
            load_die("start");
    } else {
        pthread_barrier_init(&gate, NULL, (unsigned)n);
    }
    load_run_tasks((unsigned)n, uses_processes != 0, task);
    const uint64_t ns = ticks_now_ns() - started_ns;
    printf("Time: %llu.%06llu\n", (unsigned long long)(ns / 1000000000u), (unsigned long long)(ns / 1000 % 1000000));
    return 0;
}
