# SPDX-License-Identifier: MIT
# Writes a C file of the given number of parts, each a type, its table and five functions that use other parts.
use strict;
use warnings;

my $n = shift // 100;
my $state = 12345;
sub pick { my ($below) = @_; $state = ($state * 1103515245 + 12345) & 0x7fffffff; return ($state >> 8) % $below; }

print "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n";
for my $i (0 .. $n - 1) {
    my $cases = join '', map { sprintf "    case %d: h = h * %du + p->b%d; break;\n", $_, 3 + pick(9999), pick(4) } 0 .. 11;
    my $row = join ', ', map { pick(100000) } 0 .. 31;
    my $other = $i ? pick($i) : undef;
    my $call = defined $other ? "    h += mix_$other((struct part_$other *)(void *)p, h & 15);\n" : '';
    print <<"C";
struct part_$i { uint32_t b0, b1, b2, b3; struct part_$i *next; char name[32]; };
static const uint32_t table_$i\[32] = {$row};
uint32_t mix_$i(struct part_$i *p, unsigned kind)
{
    uint32_t h = @{[pick(1 << 20)]}u;
    switch (kind) {
$cases    default: h ^= p->b0 >> (kind & 7);
    }
    return h;
}
size_t walk_$i(struct part_$i *p, size_t most)
{
    size_t n = 0;
    for (; p && n < most; p = p->next)
        n += p->b1 & table_$i\[p->b2 & 31] ? strlen(p->name) : mix_$i(p, (unsigned)n);
    return n;
}
void sort_$i(uint32_t *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k && (v[k - 1] ^ @{[pick(65536)]}u) > (v[k] ^ @{[pick(65536)]}u); k--) {
            uint32_t t = v[k];
            v[k] = v[k - 1];
            v[k - 1] = t;
        }
}
double blend_$i(const double *x, size_t n)
{
    double a[8] = {0}, s = 0;
    for (size_t i = 0; i < n; i++)
        a[i & 7] += x[i] * table_$i\[i & 31] + a[(i + 3) & 7] * 0.@{[pick(999) + 1]};
    for (int i = 0; i < 8; i++)
        s += a[i];
    return s;
}
uint32_t main_$i(struct part_$i *p, uint32_t *v, size_t n)
{
    uint32_t h = (uint32_t)walk_$i(p, n);
    sort_$i(v, n);
    for (size_t i = 0; i < n; i++)
        h = (h << 5) ^ mix_$i(p, v[i] & 15) ^ table_$i\[v[i] & 31];
$call    return h;
}

C
}
