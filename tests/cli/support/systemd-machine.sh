#!/bin/sh
# A machine for a systemd of its own: in new namespaces, over a copy of this system that is thrown away, with a network of
# its own and no unit but what is installed there. $1: the repository, shown at /opt/mcpx and /tmp/mcpx. $2: an empty directory.
set -e
root="$2/root"
mount --make-rprivate /
mount -t tmpfs tmpfs "$2"
mkdir "$2/upper" "$2/work" "$root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$2/upper,workdir=$2/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
for name in run tmp dev; do mount -t tmpfs tmpfs "$root/$name"; done
chmod 1777 "$root/tmp"
for name in null zero full random urandom tty; do cp -a "/dev/$name" "$root/dev/$name"; done
mkdir "$root/dev/pts" "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t devpts devpts "$root/dev/pts"
for name in opt tmp; do
  mkdir -p "$root/$name/mcpx"
  mount --bind "$1" "$root/$name/mcpx"
  mount -o remount,bind,ro "$root/$name/mcpx"
done
# Its units are all there are: nothing of this machine's is started, or applied to the kernel.
units="$root/etc/systemd/system"
rm -rf "$units"
mkdir -p "$units"
for name in sysinit basic network-online multi-user sockets shutdown; do
  printf '[Unit]\nDefaultDependencies=no\n' >"$units/$name.target"
done
ip link set lo up
mkdir "$root/outside"
cd "$root"
pivot_root . outside
umount -l /outside
mount --make-rshared /
exec env -i container=other SYSTEMD_UNIT_PATH=/etc/systemd/system PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=multi-user.target --log-target=console --show-status=no </dev/null
