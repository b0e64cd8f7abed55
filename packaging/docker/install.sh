#!/bin/sh
# What the image is made of: the package, and a user of its own with an empty home. Usage: install.sh TARBALL [PREFIX]
set -eu
tarball=$1
prefix=${2:-/usr/local}
npm install --global --prefix "$prefix" --no-fund --no-audit --omit=dev "$tarball"
if [ "$prefix" = /usr/local ]; then
  useradd --system --home-dir /var/lib/talaria --shell /usr/sbin/nologin talaria
  install -d -m 0700 -o talaria -g talaria /var/lib/talaria
fi
