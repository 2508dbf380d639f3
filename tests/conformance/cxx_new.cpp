// SPDX-License-Identifier: MIT
// The 20 replaceable forms of operator new and delete: sizes, alignments, nothrow, and the
// new_handler.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <new>
#include <sys/resource.h>

#include "testkit.h"

namespace
{

const size_t too_much = tk_opaque(PTRDIFF_MAX);
const std::align_val_t wide{256};

void *use(void *p, size_t bytes, size_t align, const char *form)
{
    tk_check(p != nullptr && reinterpret_cast<uintptr_t>(p) % align == 0, "%s gave %p", form, p);
    std::memset(p, 1, bytes);
    return p;
}

// Each of the 8 forms of new, paired with every delete that may end its block.
void all_forms(void *)
{
    const std::nothrow_t &quiet = std::nothrow;

    for (size_t n : {size_t(0), size_t(1), size_t(24), size_t(500), size_t(9000), size_t(300000)}) {
        const size_t a = n >= 16 ? 16 : 8;

        operator delete(use(operator new(n), n, a, "new"));
        operator delete(use(operator new(n), n, a, "new"), n);
        operator delete(use(operator new(n, quiet), n, a, "new nothrow"), quiet);
        operator delete[](use(operator new[](n), n, a, "new[]"));
        operator delete[](use(operator new[](n), n, a, "new[]"), n);
        operator delete[](use(operator new[](n, quiet), n, a, "new[] nothrow"), quiet);
        operator delete(use(operator new(n, wide), n, 256, "new aligned"), wide);
        operator delete(use(operator new(n, wide), n, 256, "new aligned"), n, wide);
        operator delete(use(operator new(n, wide, quiet), n, 256, "new aligned nothrow"), wide,
                        quiet);
        operator delete[](use(operator new[](n, wide), n, 256, "new[] aligned"), wide);
        operator delete[](use(operator new[](n, wide), n, 256, "new[] aligned"), n, wide);
        operator delete[](use(operator new[](n, wide, quiet), n, 256, "new[] aligned nothrow"),
                          wide, quiet);
    }
    operator delete(nullptr);
    operator delete[](nullptr);
    operator delete(nullptr, size_t(8));
    operator delete(nullptr, wide);
    tk_check(operator new(0) != operator new(0), "two empty objects are one");
    tk_note("8 forms of new, 12 of delete");
}

void deletes_keep_errno(void *)
{
    void *p = operator new(5u << 20);

    errno = 77;
    operator delete(p);
    tk_check(errno == 77, "delete: errno %d", errno);
}

template <typename Call> bool throws_bad_alloc(Call call)
{
    try {
        tk_check(call() == nullptr, "a block of PTRDIFF_MAX bytes");
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

// Without a handler: an exception, or a null pointer from the nothrow forms.
void no_handler(void *)
{
    std::set_new_handler(nullptr);
    tk_check(throws_bad_alloc([] { return operator new(too_much); }), "new does not throw");
    tk_check(throws_bad_alloc([] { return operator new[](too_much); }), "new[] does not throw");
    tk_check(throws_bad_alloc([] { return operator new(too_much, wide); }),
             "aligned new does not throw");
    tk_check(throws_bad_alloc([] { return operator new[](too_much, wide); }),
             "aligned new[] does not throw");
    tk_check(operator new(too_much, std::nothrow) == nullptr, "nothrow new");
    tk_check(operator new[](too_much, std::nothrow) == nullptr, "nothrow new[]");
    tk_check(operator new(too_much, wide, std::nothrow) == nullptr, "nothrow aligned new");
    tk_check(operator new[](too_much, wide, std::nothrow) == nullptr, "nothrow aligned new[]");
    tk_note("bad_alloc without a handler");
}

int n_handled;

// After the third call it gives up, as a handler may: it takes itself away.
void gives_up()
{
    if (++n_handled == 3)
        std::set_new_handler(nullptr);
}

struct special : std::bad_alloc {
};

void throws_special()
{
    n_handled++;
    throw special();
}

void handler_is_asked(void *)
{
    for (int form = 0; form < 4; form++) {
        n_handled = 0;
        std::set_new_handler(gives_up);
        bool thrown = throws_bad_alloc([form]() -> void * {
            switch (form) {
            case 0:
                return operator new(too_much);
            case 1:
                return operator new[](too_much);
            case 2:
                return operator new(too_much, wide);
            default:
                return operator new[](too_much, wide);
            }
        });
        tk_check(thrown && n_handled == 3, "form %d: handler called %d times", form, n_handled);
    }
    n_handled = 0;
    std::set_new_handler(gives_up);
    tk_check(operator new(too_much, std::nothrow) == nullptr &&n_handled == 3,
             "nothrow new: handler called %d times", n_handled);
    tk_note("the handler is asked until it goes");
}

void handler_throws(void *)
{
    bool special_came = false;

    std::set_new_handler(throws_special);
    try {
        tk_keep(operator new(too_much));
    } catch (const special &) {
        special_came = true;
    }
    tk_check(special_came, "the handler's exception is lost");
    n_handled = 0;
    tk_check(operator new(too_much, std::nothrow) == nullptr &&n_handled == 1,
             "nothrow new lets the handler's exception out, or does not ask");
    tk_check(operator new[](too_much, wide, std::nothrow) == nullptr &&n_handled == 2,
             "nothrow aligned new[] lets the handler's exception out, or does not ask");
    tk_note("its exception comes through");
}

void *reserve;

// What handlers are for: something is given up, and the allocation is tried again.
void frees_reserve()
{
    n_handled++;
    std::free(reserve);
    reserve = nullptr;
    if (n_handled > 1)
        std::set_new_handler(nullptr);
}

void handler_frees(void *)
{
    const size_t bytes = 256u << 20;
    // Writable memory is limited, not address space: an allocator may have reserved that before.
    rlimit limit = {300u << 20, RLIM_INFINITY};

    setrlimit(RLIMIT_DATA, &limit);
    reserve = std::malloc(bytes);
    if (!tk_check(reserve != nullptr, "no reserve of 256 MiB"))
        return;
    n_handled = 0;
    std::set_new_handler(frees_reserve);
    void *p = nullptr;
    try {
        p = operator new(bytes);
    } catch (const std::bad_alloc &) {
    }
    tk_check(p != nullptr && n_handled == 1, "a handler that frees: %p, called %d times", p,
             n_handled);
    operator delete(p);
    tk_note("a handler that frees helps");
}

} // namespace

int main(int argc, char **argv)
{
    tk_init("cxx_new", "operators of C++", argc, argv);
    tk_child("all forms", all_forms, nullptr, 30);
    tk_child("errno", deletes_keep_errno, nullptr, 30);
    tk_child("no handler", no_handler, nullptr, 30);
    tk_child("handler", handler_is_asked, nullptr, 30);
    tk_child("handler throws", handler_throws, nullptr, 30);
    tk_child("handler frees", handler_frees, nullptr, 30);
    return tk_finish();
}
