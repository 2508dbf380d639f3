/* SPDX-License-Identifier: MIT */
/* A statically linked program, for the refusal of `slub run`. */
int main(void)
{
    return 0;
}
