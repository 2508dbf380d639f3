// SPDX-License-Identifier: MIT
// Containers of the C++ library in four threads, and what they hand each other; prints sums that
// depend on the argument only: how many rounds.
#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

class Random
{
  public:
    explicit Random(uint64_t seed) : state(seed * 2 + 1)
    {
    }
    uint64_t below(uint64_t n)
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state % n;
    }

  private:
    uint64_t state;
};

struct Node {
    std::string name;
    std::vector<std::shared_ptr<Node>> children;
    std::function<uint64_t(uint64_t)> weigh;
};

using Box = std::unique_ptr<std::vector<std::string>>;

class Channel
{
  public:
    void put(Box box)
    {
        const std::lock_guard<std::mutex> hold(lock);
        boxes.push_back(std::move(box));
        filled.notify_one();
    }
    Box take()
    {
        std::unique_lock<std::mutex> hold(lock);
        filled.wait(hold, [this] { return !boxes.empty(); });
        Box box = std::move(boxes.front());
        boxes.pop_front();
        return box;
    }

  private:
    std::mutex lock;
    std::condition_variable filled;
    std::deque<Box> boxes;
};

uint64_t maps(Random &random)
{
    std::map<std::string, std::vector<uint32_t>> ordered;
    std::unordered_map<uint64_t, std::string> hashed;
    std::set<uint64_t> seen;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < 60000; i++) {
        const uint64_t key = random.below(20000);
        ordered["a rather long key that is not short " + std::to_string(key)].push_back(i);
        hashed[key].append(key % 13, 'x');
        seen.insert(key * key);
        if (i % 3 == 0)
            hashed.erase(random.below(20000));
    }
    for (const auto &entry : ordered)
        sum += entry.first.size() * entry.second.size();
    for (const auto &entry : hashed)
        sum += entry.first ^ entry.second.size();
    return sum + seen.size();
}

std::shared_ptr<Node> grow(Random &random, unsigned depth)
{
    auto node = std::make_shared<Node>();
    node->name.assign(random.below(200), 'n');
    const uint64_t own = random.below(100);
    const std::string copy = node->name;
    node->weigh = [own, copy](uint64_t v) { return v * own + copy.size(); };
    for (unsigned i = 0; depth > 0 && i < 4; i++)
        node->children.push_back(grow(random, depth - 1));
    return node;
}

uint64_t weigh(const Node &node)
{
    uint64_t sum = node.weigh(node.children.size());
    for (const auto &child : node.children)
        sum += weigh(*child);
    return sum;
}

uint64_t lists(Random &random)
{
    std::list<std::string> items;
    std::deque<std::vector<char>> window;
    uint64_t sum = 0;

    for (unsigned i = 0; i < 30000; i++) {
        items.emplace_back(random.below(300), 'l');
        if (items.size() > 5000)
            items.pop_front();
        window.emplace_back(random.below(4000));
        if (window.size() > 300)
            window.pop_front();
    }
    items.sort();
    for (const auto &item : items)
        sum += item.size();
    for (const auto &part : window)
        sum += part.size();
    return sum;
}

uint64_t one_thread(uint64_t seed, unsigned rounds, Channel &in, Channel &out)
{
    Random random(seed);
    uint64_t sum = 0;

    for (unsigned round = 0; round < rounds; round++) {
        sum += maps(random) + weigh(*grow(random, 6)) + lists(random);
        Box box = std::make_unique<std::vector<std::string>>();
        for (unsigned i = 0; i < 5000; i++)
            box->emplace_back(random.below(120), 'b');
        out.put(std::move(box));
        const Box taken = in.take();
        for (const auto &text : *taken)
            sum += text.size();
    }
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    const unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
    const unsigned n_threads = 4;
    std::vector<Channel> channels(n_threads);
    std::vector<uint64_t> sums(n_threads);
    std::vector<std::thread> threads;

    for (unsigned i = 0; i < n_threads; i++)
        threads.emplace_back([&, i] {
            sums[i] = one_thread(i + 1, rounds, channels[i], channels[(i + 1) % n_threads]);
        });
    for (auto &thread : threads)
        thread.join();
    for (const uint64_t sum : sums)
        std::printf("%llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
