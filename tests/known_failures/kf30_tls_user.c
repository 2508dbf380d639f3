/* SPDX-License-Identifier: MIT */
/* A library with a little initial-exec TLS; the host loads many copies of it. */
static __thread long counter __attribute__((tls_model("initial-exec")));
long kf30_count(void);

long kf30_count(void)
{
    return ++counter;
}
