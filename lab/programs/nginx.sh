# SPDX-License-Identifier: MIT
# nginx with two workers, under ab: a small and a large file, the latter compressed for every answer.
need() { require nginx ab awk; }

port=$((20000 + $$ % 20000))

input() {
    mkdir files
    awk 'BEGIN { for (i = 0; i < 4000; i++) print "line", i, i * i % 7919, i * 31 }' >files/large.txt
    head -c 3000 files/large.txt >files/small.txt
}

work() {
    mkdir -p logs
    cat >nginx.conf <<CONF
daemon off;
worker_processes 2;
pid nginx.pid;
error_log stderr warn;
events { worker_connections 512; }
http {
    access_log logs/access.log;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    types { text/plain txt; }
    gzip on;
    gzip_types text/plain;
    server { listen 127.0.0.1:$port; root files; add_header X-Long "\$request_id \$request_time \$remote_addr"; }
}
CONF
    start_server nginx -p "$PWD" -e stderr -c "$PWD/nginx.conf"
    await ab -q -n 1 "http://127.0.0.1:$port/small.txt"
    ab -q -k -n "$(of 5000 50000)" -c 64 "http://127.0.0.1:$port/small.txt" >small.log
    ab -q -n "$(of 500 5000)" -c 32 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/large.txt" >large.log
    ! grep -q 'Non-2xx' small.log large.log
    kill -HUP "$server"
    await ab -q -n 1 "http://127.0.0.1:$port/small.txt"
    kill -QUIT "$server"
    stop_server
    awk '/^(Complete|Failed) requests|^Document Length/' small.log large.log
}
