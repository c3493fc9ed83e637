#!/bin/sh
# `network.sh FOLDER HOSTS BOOTS LINKS KEPT...`: hosts on one machine, and a front from which programs are started on them. It is
# run as root, in namespaces of its own. Each host is a process in namespaces of its own, with a link to a bridge: nothing
# that a host has is seen on another. FOLDER/host-K has the process's number. BOOTS is `own` where the hosts tell different
# starts of the kernel, as hosts do. LINKS is `fast`, or `shaped` to 1 Gbit/s and 0.1 ms as on Ethernet: by netem, or without its
# delay by tbf where the kernel has no netem. Of /tmp a host sees FOLDER and KEPT alone.
#
# The script says "ready", and what shapes the links. When its input ends, it ends, and all processes of its hosts with it, since it
# is the first of its namespace; so nothing stays behind, however the test that holds the other end has ended.
set -eu
folder=$1 hosts=$2 boots=$3 links=$4
shift 4
await() {
  tries=0
  while ! [ -e "$folder/$1" ]; do
    tries=$((tries + 1))
    [ $tries -lt 6000 ] || { echo "there is no $1 after a minute" >&2 && exit 1; }
    sleep 0.01
  done
}
mount --make-rprivate /
hostname front
ip link set lo up
ip link add bridge type bridge
ip link set bridge up
ip addr add 10.77.0.254/24 dev bridge
printf '%s\n' '127.0.0.1 localhost' '10.77.0.254 front' >"$folder/hosts"
for host in $(seq "$hosts"); do echo "10.77.0.$host host-$host" >>"$folder/hosts"; done
mount --bind "$folder/hosts" /etc/hosts

for host in $(seq "$hosts"); do
  unshare --net --uts --ipc --mount --pid --fork --mount-proc sh -euc '
    folder=$1 host=$2 boots=$3
    shift 3
    : >"$folder/begun-$host"
    hostname "host-$host"
    mount -t tmpfs shm /dev/shm
    # The interfaces in it are those of the network namespace that mounts it.
    mount -t sysfs sys /sys
    root=$folder/root-$host
    mkdir "$root"
    mount -t tmpfs -o mode=1777 files "$root"
    for path in "$folder" "$@"; do
      case $path in /tmp/*) ;; *) continue ;; esac
      mkdir -p "$root/${path#/tmp/}"
      mount --bind "$path" "$root/${path#/tmp/}"
    done
    mount --move "$root" /tmp
    if [ "$boots" = own ]; then
      cat /proc/sys/kernel/random/uuid >/tmp/boot
      mount --bind /tmp/boot /proc/sys/kernel/random/boot_id
    fi
    ip link set lo up
    while ! ip link show eth >/dev/null 2>&1; do sleep 0.01; done
    ip addr add "10.77.0.$host/24" dev eth
    ip link set eth up
    : >"$folder/up-$host"
    exec sleep infinity
  ' host "$folder" "$host" "$boots" "$@" </dev/null &
  echo $! >"$folder/host-$host"
done
for host in $(seq "$hosts"); do
  await "begun-$host"
  ip link add "link-$host" type veth peer name eth netns "$(cat "$folder/host-$host")"
  ip link set "link-$host" master bridge up
done
for host in $(seq "$hosts"); do
  await "up-$host"
done
shaped=none
shape() {
  for host in $(seq "$hosts"); do
    nsenter --target "$(cat "$folder/host-$host")" --net tc qdisc add dev eth root "$@" 2>/dev/null || return 1
  done
  shaped=$1
}
if [ "$links" = shaped ]; then
  shape netem delay 100us rate 1gbit || shape tbf rate 1gbit burst 128kb latency 50ms || true
fi
echo "ready $shaped"
cat >/dev/null
rm -rf "$folder"
