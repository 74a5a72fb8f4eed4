#!/bin/sh
# redis-server and a client, over loopback; ends when the client has.
redis-server --port 6379 --save '' --appendonly no --daemonize no >/tmp/log 2>&1 &
server=$!
until redis-cli ping >/dev/null 2>&1; do sleep 0.01; done
redis-benchmark -t set,get -n 500 -c 1 --csv || { cat /tmp/log; exit 1; }
redis-cli shutdown nosave
wait $server
