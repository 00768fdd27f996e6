#!/bin/sh
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# The distribution's httpd with the event MPM, for as long as it is wanted, on loopback only:
#
#     httpd.sh configure FOLDER PORT   writes pages and httpd.conf into FOLDER, which others may read
#     httpd.sh serve FOLDER PORT       the same, and becomes the server
#     httpd.sh ask PORT REQUESTS PAGE  has ab ask for a page by eight connections that are kept, where
#                                      that can be, and fails if an answer is wrong
#     httpd.sh load REQUESTS [PAGE...] serves from a temporary folder, asks for each page, and stops it
#     httpd.sh count PORT REQUESTS PAGE  prints the server's instructions of a request, as valgrind counts
#                                      them: the difference between a server with REQUESTS requests and
#                                      one with three times that number, without start and end
#
# HEAPWRIGHT_POOLS selects the library of the server's pools: stock (or nothing), reap, emulated, or
# the path of a library. It is preloaded only into the server, before other preloads. The allocator of
# `heapwright compare` and of studies is then below it. See docs/how-to/httpd.md.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
native=${HEAPWRIGHT_NATIVE:-$(dirname "$(dirname "$here")")}
modules=${HTTPD_MODULES:-/usr/lib/apache2/modules}
httpd=${HTTPD:-$(PATH=$PATH:/usr/sbin command -v apache2 || PATH=$PATH:/usr/sbin command -v httpd || echo apache2)}

fail() {
    echo "httpd.sh: $*" >&2
    exit 1
}

pools() {
    case ${HEAPWRIGHT_POOLS:-stock} in
    stock) ;;
    reap) echo "$native/lib/libheapwright-apr.so" ;;
    emulated) echo "$native/lib/libheapwright-apr-emulated.so" ;;
    */*) echo "$HEAPWRIGHT_POOLS" ;;
    *) fail "HEAPWRIGHT_POOLS is stock, reap, emulated or a path, not $HEAPWRIGHT_POOLS" ;;
    esac
}

# The date has no zone: where several threads print one at a time, the C library sometimes leaves it out.
pages() {
    mkdir -p "$1/pages/many" "$1/cgi"
    line="A line of sixty-three letters and a line's end, as a text has it."
    i=0
    while [ $i -lt 16 ]; do
        echo "$line" && i=$((i + 1))
    done >"$1/pages/small.txt"
    while [ $i -lt 3216 ]; do
        echo "$line" && i=$((i + 1))
    done >"$1/pages/large.txt"
    i=0
    while [ $i -lt 40 ]; do
        : >"$1/pages/many/file-$i.txt" && i=$((i + 1))
    done
    cat >"$1/pages/page.shtml" <<'PAGE'
<!--#set var="name" value="$REQUEST_METHOD of $DOCUMENT_URI" -->
<h1><!--#echo var="name" --></h1>
<!--#if expr="v('QUERY_STRING') =~ /^number=[0-9]+$/" -->
<p>It is said that <!--#echo var="QUERY_STRING" -->.</p>
<!--#else -->
<p>There is no number.</p>
<!--#endif -->
<!--#include virtual="small.txt" -->
<!--#config timefmt="%Y-%m-%d %H:%M:%S" -->
<!--#fsize virtual="large.txt" --> <!--#flastmod virtual="large.txt" -->
PAGE
    cat >"$1/cgi/echo" <<'PROGRAM'
#!/bin/sh
printf 'Content-Type: text/plain\r\n\r\n%s\n' "$REQUEST_METHOD $QUERY_STRING"
cat
PROGRAM
    chmod 755 "$1/cgi/echo"
}

# Lines of the configuration that are there under a condition.
as_root() {
    [ "$(id -u)" != 0 ] || printf 'User nobody\nGroup #65534\n'
}
calculator() {
    module=${HTTPD_CALCULATOR:-$native/httpd/mod_calculator.so}
    [ ! -f "$module" ] || cat <<CONF
LoadModule calculator_module $module
<Location /calculator>
    SetHandler calculator
    CalculatorSteps 50000000
</Location>
<Location /calculator/account>
    CalculatorAccount On
</Location>
<Location /calculator/keep>
    CalculatorAccount On
    CalculatorFrees Off
</Location>
CONF
}

# GNU bc, where benchmarks/httpd/bc/build.sh has built it.
bc() {
    [ ! -f "${HTTPD_BC:-}" ] || cat <<CONF
LoadModule bc_module $HTTPD_BC
<Location /bc>
    SetHandler bc
</Location>
<Location /bc/account>
    BcAccount On
</Location>
<Location /bc/keep>
    BcAccount On
    BcFrees Off
</Location>
CONF
}

configure() {
    folder=$1
    pages "$folder"
    for name in mpm_event unixd authz_core dir mime include autoindex alias cgi env log_config; do
        # What the distribution has built into the program is not there as a file.
        [ ! -f "$modules/mod_$name.so" ] || echo "LoadModule ${name}_module $modules/mod_$name.so"
    done >"$folder/modules.conf"
    { as_root && calculator && bc; } >"$folder/local.conf"
    cat >"$folder/httpd.conf" <<CONF
ServerRoot $folder
ServerName localhost
Listen 127.0.0.1:$2
Include modules.conf
Include local.conf
PidFile $folder/httpd.pid
DefaultRuntimeDir $folder
Mutex pthread
ErrorLog $folder/error.log
LogLevel notice
LogFormat "%h %l %u %t \"%r\" %>s %b" common
CustomLog /dev/null common
# So many processes from beginning to end: what they hold can be compared.
ServerLimit 2
StartServers 2
ThreadsPerChild 16
ThreadLimit 16
MaxRequestWorkers 32
MinSpareThreads 1
MaxSpareThreads 32
MaxConnectionsPerChild 0
KeepAlive On
MaxKeepAliveRequests 1000
KeepAliveTimeout 5
GracefulShutdownTimeout 5
TypesConfig /dev/null
AddType text/plain .txt
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
DocumentRoot $folder/pages
ScriptAlias /cgi/ $folder/cgi/
<Directory $folder>
    Options +Includes +Indexes
    IndexOptions FancyIndexing
    Require all granted
</Directory>
CONF
}

serve() {
    mkdir -p "$1"
    configure "$1" "$2"
    library=$(pools)
    [ -z "$library" ] || [ -f "$library" ] || fail "there is no $library"
    # In one word: only the server has it, and what was preloaded anyway comes after it.

    # shellcheck disable=SC2086 # HTTPD_UNDER has several words
    exec env LD_PRELOAD="$library${library:+${LD_PRELOAD:+:}}${LD_PRELOAD:-}" \
        ${HTTPD_UNDER:-} "$httpd" -d "$1" -f "$1/httpd.conf" -DFOREGROUND
}

# An answer is wrong if it is as long as no other, or none.
ask() {
    told=$(ab -q -k -c 8 -n "$2" "http://127.0.0.1:$1/$3" 2>&1) || fail "$told"
    case $told in
    *"Non-2xx"*) fail "answers of $3 are wrong: $told" ;;
    *"Failed requests:        0"*) ;;
    *) fail "answers of $3 are wrong: $told" ;;
    esac
}

load() {
    requests=$1
    shift
    [ $# -gt 0 ] || set -- small.txt page.shtml 'page.shtml?number=7' many/
    folder=$(mktemp -d "${TMPDIR:-/tmp}/heapwright-httpd-XXXXXX")
    chmod 755 "$folder"
    port=${HTTPD_PORT:-$((20000 + $$ % 20000))}
    "$0" serve "$folder" "$port" &
    server=$!
    trap 'kill $server 2>/dev/null || :; wait $server || :; rm -rf "$folder"' EXIT
    until [ -s "$folder/httpd.pid" ] && ab -q -n 1 "http://127.0.0.1:$port/small.txt" >/dev/null 2>&1; do
        kill -0 $server 2>/dev/null || fail "the server ended: $(cat "$folder/error.log")"
    done
    for page in "$@"; do
        ask "$port" "$requests" "$page"
    done
    kill $server
    wait $server || fail "the server ended with status $?"
    trap - EXIT
    rm -rf "$folder"
}

# The instructions of a server that answers the given number of requests, from start to end.
instructions() {
    counts=$(mktemp -d "${TMPDIR:-/tmp}/heapwright-httpd-counts-XXXXXX")
    chmod 777 "$counts" # the processes of the server are another user's
    HTTPD_PORT=$1 HTTPD_UNDER="valgrind -q --tool=cachegrind --cache-sim=no --LL=8388608,16,64 --trace-children=yes
        --vgdb=no --cachegrind-out-file=$counts/%p" "$0" load "$2" "$3" ||
        { rm -rf "$counts" && fail "the server was not counted"; }
    cat "$counts"/* | awk '$1 == "summary:" { sum += $2 } END { if (!sum) exit 1; printf "%.0f\n", sum }' ||
        { rm -rf "$counts" && fail "valgrind wrote no counts"; }
    rm -rf "$counts"
}

count() {
    few=$(instructions "$1" "$2" "$3")
    many=$(instructions "$1" $((3 * $2)) "$3")
    echo "{\"instructions_per_request\": $(((many - few) / (2 * $2)))}"
}

case "${1:-} $#" in
'configure 3') configure "$2" "$3" ;;
'serve 3') serve "$2" "$3" ;;
'ask 4') ask "$2" "$3" "$4" ;;
load\ [2-9]*) shift && load "$@" ;;
'count 4') count "$2" "$3" "$4" ;;
*) fail "usage: httpd.sh configure FOLDER PORT | serve FOLDER PORT | ask PORT REQUESTS PAGE | load REQUESTS [PAGE...] | count PORT REQUESTS PAGE" ;;
esac
