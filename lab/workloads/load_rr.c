/* SPDX-License-Identifier: MIT */
/* Owns tcp_rr, udp_rr and tcp_stream, after netperf: clients in a process of their own, a server that allocates for
 * every request. A server's thread serves one client.
 *
 * With --roles a request is received, and its memory allocated, on the first CPU, and answered and freed on the others.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "workloads/load.h"
#include "workloads/ticks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CLIENTS 512
#define MOST_BYTES   (1u << 20)
#define RESEND_US    100000 /* a packet of UDP may be lost */
#define MOST_WAITING 1024

enum kind { TCP_RR, UDP_RR, TCP_STREAM };

static enum kind kind;
static uint64_t n_clients = 32, n_transactions = 250, request_bytes = 64, response_bytes = 256, sample_ms = 300;
static uint64_t has_roles;
static struct client {
    int fds[2]; /* the server's end, the client's */
} clients[MOST_CLIENTS];

/* Shared by both processes. */
static struct shared {
    _Atomic uint64_t bytes; /* that the server has received */
    _Atomic uint32_t is_over;
    uint64_t wall_ns;
    uint32_t latency_ns[]; /* n_clients * n_transactions */
} *shared;

/* ---- connections --------------------------------------------------------------------------------- */

static void connect_pair(struct client *c)
{
    struct sockaddr_in address[2];
    socklen_t n = sizeof(address[0]);
    const int type = kind == UDP_RR ? SOCK_DGRAM : SOCK_STREAM;
    const int on = 1;
    const int listener = socket(AF_INET, type, 0);
    const int client = socket(AF_INET, type, 0);

    for (int i = 0; i < 2; i++)
        address[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (listener < 0 || client < 0 || bind(listener, (struct sockaddr *)&address[0], n) != 0 ||
        getsockname(listener, (struct sockaddr *)&address[0], &n) != 0 ||
        bind(client, (struct sockaddr *)&address[1], n) != 0 ||
        getsockname(client, (struct sockaddr *)&address[1], &n) != 0 ||
        (type == SOCK_STREAM && listen(listener, 1) != 0) ||
        connect(client, (struct sockaddr *)&address[0], n) != 0)
        load_die("loopback");
    c->fds[1] = client;
    if (type == SOCK_DGRAM) {
        if (connect(listener, (struct sockaddr *)&address[1], n) != 0)
            load_die("loopback");
        c->fds[0] = listener;
        return;
    }
    c->fds[0] = accept(listener, NULL, NULL);
    if (c->fds[0] < 0)
        load_die("loopback");
    close(listener);
    setsockopt(c->fds[0], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* False at the end of the connection, and when a packet is overdue. */
static bool receive(int fd, char *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = recv(fd, to + done, bytes - done, 0);
        if (n <= 0)
            return false;
        done = kind == UDP_RR ? bytes : done + (size_t)n;
    }
    return true;
}

static bool deliver(int fd, const char *from, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = send(fd, from + done, bytes - done, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* ---- server ------------------------------------------------------------------------------------------ */

struct request {
    int fd;
    char *text;
};

static pthread_mutex_t hall_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t hall_filled = PTHREAD_COND_INITIALIZER;
static struct request hall[MOST_WAITING]; /* never more than one of each client */
static size_t hall_head, hall_n;

static void pin(unsigned first, unsigned last)
{
    cpu_set_t allowed, set;
    unsigned k = 0;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            if (k >= first && k <= last)
                CPU_SET(cpu, &set);
            k++;
        }
    }
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof(set), &set);
}

static void answer(const struct request *r)
{
    char *text = load_alloc(response_bytes);

    memset(text, r->text[0], response_bytes);
    free(r->text);
    (void)deliver(r->fd, text, response_bytes);
    free(text);
}

static void hand_over(const struct request *r)
{
    pthread_mutex_lock(&hall_lock);
    hall[(hall_head + hall_n++) % MOST_WAITING] = *r;
    pthread_cond_signal(&hall_filled);
    pthread_mutex_unlock(&hall_lock);
}

static void *answer_all(void *unused)
{
    (void)unused;
    pin(1, CPU_SETSIZE);
    for (;;) {
        pthread_mutex_lock(&hall_lock);
        while (hall_n == 0)
            pthread_cond_wait(&hall_filled, &hall_lock);
        const struct request r = hall[hall_head];
        hall_head = (hall_head + 1) % MOST_WAITING;
        hall_n--;
        pthread_mutex_unlock(&hall_lock);
        answer(&r);
    }
    return NULL;
}

static void *serve_requests(void *of)
{
    const struct client *c = of;

    if (has_roles)
        pin(0, 0);
    for (;;) {
        const struct request r = {c->fds[0], load_alloc(request_bytes)};
        if (!receive(r.fd, r.text, request_bytes)) {
            free(r.text);
            return NULL;
        }
        if (has_roles)
            hand_over(&r);
        else
            answer(&r);
    }
}

static void *serve_stream(void *of)
{
    const struct client *c = of;
    uint64_t bytes = 0;
    ssize_t n;

    do {
        char *text = load_alloc(request_bytes);
        n = recv(c->fds[0], text, request_bytes, 0);
        bytes += n > 0 ? (uint64_t)n : 0;
        free(text);
    } while (n > 0);
    shared->bytes += bytes;
    return NULL;
}

/* ---- clients ------------------------------------------------------------------------------------------- */

static void ask(unsigned i)
{
    const int fd = clients[i].fds[1];
    char *text = load_alloc(request_bytes > response_bytes ? request_bytes : response_bytes);
    const struct timeval overdue = {.tv_usec = RESEND_US};

    if (kind == UDP_RR)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &overdue, sizeof(overdue));
    for (uint64_t t = 0; t < n_transactions; t++) {
        const uint64_t started_ns = ticks_now_ns();
        do {
            if (!deliver(fd, text, request_bytes))
                load_die("send");
        } while (!receive(fd, text, response_bytes) && kind == UDP_RR);
        const uint64_t ns = ticks_now_ns() - started_ns;
        shared->latency_ns[i * n_transactions + t] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
    }
    free(text);
}

static void stream(unsigned i)
{
    const uint64_t until_ns = ticks_now_ns() + sample_ms * 1000000u;
    bool goes_on;

    do {
        char *text = load_alloc(request_bytes);
        memset(text, (int)i, request_bytes);
        goes_on = deliver(clients[i].fds[1], text, request_bytes);
        free(text);
    } while (goes_on && ticks_now_ns() < until_ns);
}

static _Noreturn void be_clients(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (uint64_t i = 0; i < n_clients; i++)
        close(clients[i].fds[0]);
    const uint64_t started_ns = ticks_now_ns();
    load_run_tasks((unsigned)n_clients, false, kind == TCP_STREAM ? stream : ask);
    shared->wall_ns = ticks_now_ns() - started_ns;
    _exit(0);
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;
    return (*x > *y) - (*x < *y);
}

static void print_latency(void)
{
    const size_t n = n_clients * n_transactions;
    static const struct {
        const char *name;
        size_t per_mille;
    } rows[] = {{"p50", 500}, {"p90", 900}, {"p99", 990}, {"p99.9", 999}};

    qsort(shared->latency_ns, n, sizeof(uint32_t), ascending);
    printf("rate %.1f\n", (double)n / ((double)shared->wall_ns / 1e9));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        printf("%s %.1f\n", rows[i].name, shared->latency_ns[(n - 1) * rows[i].per_mille / 1000] / 1e3);
    printf("max %.1f\n", shared->latency_ns[n - 1] / 1e3);
}

static int run(int argc, char **argv)
{
    const struct load_option options[] = {
        {"clients", 'c', "clients at a time", &n_clients, 1, MOST_CLIENTS, false},
        {"transactions", 'n', "requests of each client", &n_transactions, 1, 10000000, false},
        {"request", 'q', "bytes of a request, or of one send of a stream", &request_bytes, 1, MOST_BYTES, false},
        {"response", 's', "bytes of an answer", &response_bytes, 1, MOST_BYTES, false},
        {"ms", 'm', "milliseconds of a stream", &sample_ms, 1, 3600000, false},
        {"roles", 'r', "receive and allocate on one CPU, answer and free on the others", &has_roles, 0, 1, true},
    };
    pthread_t threads[MOST_CLIENTS], answerer;
    int status = 0;

    load_options(argc, argv, options, sizeof(options) / sizeof(options[0]));
    const size_t bytes = sizeof(*shared) + n_clients * n_transactions * sizeof(uint32_t);
    shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        load_die("mmap");
    for (uint64_t i = 0; i < n_clients; i++)
        connect_pair(&clients[i]);
    const pid_t pid = fork();
    if (pid == 0)
        be_clients();
    if (pid < 0)
        load_die("fork");
    for (uint64_t i = 0; i < n_clients; i++)
        close(clients[i].fds[1]);
    for (unsigned i = 1; has_roles && (i == 1 || i < load_n_cpus()); i++) {
        if (pthread_create(&answerer, NULL, answer_all, NULL) != 0)
            load_die("thread");
    }
    for (uint64_t i = 0; i < n_clients; i++) {
        if (pthread_create(&threads[i], NULL, kind == TCP_STREAM ? serve_stream : serve_requests, &clients[i]) != 0)
            load_die("thread");
    }
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "slub-bench-load: the clients ended with status %x\n", (unsigned)status);
        return 1;
    }
    for (uint64_t i = 0; i < n_clients; i++) {
        shutdown(clients[i].fds[0], SHUT_RDWR);
        pthread_join(threads[i], NULL);
    }
    if (kind == TCP_STREAM)
        printf("rate %.1f\n", (double)shared->bytes / 1e6 / ((double)shared->wall_ns / 1e9));
    else
        print_latency();
    return 0;
}

int load_tcp_rr(int argc, char **argv)
{
    kind = TCP_RR;
    return run(argc, argv);
}

int load_udp_rr(int argc, char **argv)
{
    kind = UDP_RR;
    return run(argc, argv);
}

int load_tcp_stream(int argc, char **argv)
{
    kind = TCP_STREAM;
    n_clients = 4;
    request_bytes = 65536;
    return run(argc, argv);
}
