# SPDX-License-Identifier: MIT
# redis-server under load. Debian links it with jemalloc; what is preloaded comes first in the loader's order.
need() { require redis-server redis-benchmark redis-cli redis-check-rdb; }

# "debug reload" writes everything out and reads it in again; since version 7 it has to be allowed.
debug_option() {
    redis-server --version | grep -q ' v=[1-6][.]' || echo "--enable-debug-command local"
}

ask() { redis-cli -s ./redis.sock "$@"; }

work() {
    rm -f redis.sock dump.rdb
    # Two words, or none.
    # shellcheck disable=SC2046
    start_server redis-server --port 0 --unixsocket ./redis.sock --save '' --appendonly no --logfile server.log \
        $(debug_option)
    await ask ping
    redis-benchmark -s ./redis.sock -q -n "$(of 4000 40000)" -r 20000 -d 200 -P 8 \
        -t set,get,incr,lpush,lpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset >load.log
    grep -q 'ZADD: .* requests per second' load.log
    for i in $(seq 50); do
        echo "SET known:$i $(printf '%0*d' $((i * 37)) "$i")"
    done | ask >/dev/null
    ask bgsave >/dev/null
    await sh -c 'redis-cli -s ./redis.sock info persistence | grep -q "rdb_bgsave_in_progress:0"'
    ask info persistence | grep -q 'rdb_last_bgsave_status:ok'
    redis-check-rdb dump.rdb | grep -q 'RDB looks OK'
    ask debug reload | grep -q OK
    for i in $(seq 50); do
        ask get "known:$i"
    done
    ask shutdown nosave >/dev/null
    stop_server
}
