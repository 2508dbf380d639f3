/* SPDX-License-Identifier: MIT */
/* Moves the code that is linked behind it by LOAD_PAD bytes: a variant of slub-bench-load, whose code is the same in
 * another place. */
    .text
    .p2align 6
    .globl load_pad
    .type load_pad, %function
load_pad:
    .zero LOAD_PAD
    .size load_pad, . - load_pad
    .section .note.GNU-stack, "", %progbits
