# SPDX-License-Identifier: MIT
# One large translation unit, of the kind that merges a library into one file.
need() { require gcc perl; }

input() { perl "$here/make_c.pl" "$(of 40 300)" >large.c; }

work() {
    measured gcc -O2 -g -c large.c -o large.o
    cksum <large.o
}
