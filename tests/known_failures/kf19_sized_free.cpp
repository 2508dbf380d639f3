/* SPDX-License-Identifier: MIT */
/* Case 19: sized and aligned frees of over-aligned, empty and mismatched blocks. Whatever the hint
 * says, a block goes back to where it came from: afterwards no two live blocks overlap. */
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <malloc.h>
#include <new>

#include "testkit.h"

extern "C" {
void free_sized(void *p, size_t size) __attribute__((weak));
void free_aligned_sized(void *p, size_t align, size_t size) __attribute__((weak));
}

namespace
{

constexpr size_t sizes[] = {0, 1, 8, 100, 4096, 70000};
constexpr size_t most_blocks = 400;
void *blocks[most_blocks];

struct shape {
    size_t size, align;
};

using make_fn = void *(*)(const shape &);
using drop_fn = void (*)(void *, const shape &);

const make_fn makers[] = {
    [](const shape &s) { return operator new(s.size, std::align_val_t(s.align), std::nothrow); },
    [](const shape &s) { return memalign(s.align, s.size); },
    [](const shape &s) { return aligned_alloc(s.align, s.size); },
};

const drop_fn droppers[] = {
    [](void *p, const shape &) { free(p); },
    [](void *p, const shape &s) { free_sized != nullptr ? free_sized(p, s.size) : free(p); },
    [](void *p, const shape &s) {
        free_aligned_sized != nullptr ? free_aligned_sized(p, s.align, s.size) : free(p);
    },
    [](void *p, const shape &s) { operator delete(p, s.size); },
    [](void *p, const shape &s) { operator delete(p, s.size, std::align_val_t(s.align)); },
};

/* The class again, twice as many as were freed: a block that sits in two lists comes out twice. */
bool class_is_sound(size_t size)
{
    bool sound = true;

    for (void *&b : blocks) {
        b = malloc(size);
        sound = sound && b != nullptr && malloc_usable_size(b) >= size;
    }
    std::sort(blocks, blocks + most_blocks);
    for (size_t i = 1; i < most_blocks; i++) {
        auto gap = static_cast<size_t>(static_cast<char *>(blocks[i]) -
                                       static_cast<char *>(blocks[i - 1]));
        sound = sound && gap >= std::max<size_t>(malloc_usable_size(blocks[i - 1]), 1);
    }
    for (void *b : blocks)
        free(b);
    return sound;
}

void fitting(void *)
{
    size_t n_shapes = 0;

    for (size_t size : sizes)
        for (size_t align = 16; align <= size_t(1) << 20; align *= 2) {
            const shape s = {size, align};
            const size_t n = align > 65536 ? 20 : 200;

            for (make_fn make : makers)
                for (drop_fn drop : droppers) {
                    for (size_t i = 0; i < n; i++) {
                        blocks[i] = make(s);
                        tk_check(blocks[i] != nullptr &&
                                     reinterpret_cast<uintptr_t>(blocks[i]) % align == 0,
                                 "block of %zu bytes aligned %zu: %p", size, align, blocks[i]);
                    }
                    for (size_t i = 0; i < n; i++)
                        drop(blocks[i], s);
                }
            tk_check(class_is_sound(size), "overlap after %zu bytes aligned %zu", size, align);
            n_shapes++;
        }
    tk_note("%zu shapes sound", n_shapes);
}

/* The compiler is told the sizes at run time, or it would refuse. */
void mismatched(void *)
{
    for (size_t size : {size_t(24), size_t(100), size_t(4000), size_t(70000)})
        for (size_t hint : {size_t(0), size_t(1), size / 2, size * 2, size_t(1) << 20}) {
            for (int i = 0; i < 50; i++)
                operator delete(operator new(size), tk_opaque(hint));
            for (int i = 0; i < 50 && free_sized != nullptr; i++)
                free_sized(malloc(size), tk_opaque(hint));
            for (int i = 0; i < 50 && free_aligned_sized != nullptr; i++)
                free_aligned_sized(aligned_alloc(64, size), 16, tk_opaque(hint));
            tk_check(class_is_sound(size), "overlap after %zu bytes freed as %zu", size, hint);
            tk_check(class_is_sound(hint), "overlap in %zu after %zu bytes freed as it", hint,
                     size);
        }
}

} // namespace

int main(int argc, char **argv)
{
    tk_init("kf19", "sized frees", argc, argv);
    if (free_sized == nullptr)
        tk_note("no free_sized");
    tk_child("fitting", fitting, nullptr, 120);
    if (tk_child("mismatched", mismatched, nullptr, 60))
        tk_note("wrong hints harmless");
    return tk_finish();
}
