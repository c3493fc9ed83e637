#!/bin/sh
# `agent.sh [OPTION]... HOST COMMAND...`: what launchers call instead of ssh, for hosts that network.sh made.
while case $1 in -*) true ;; *) false ;; esac; do shift; done
number=$(cat "$CORECAST_TEST_HOSTS/$1")
shift
exec nsenter --target "$number" --net --uts --ipc --mount "--pid=/proc/$number/ns/pid_for_children" sh -c "$*"
