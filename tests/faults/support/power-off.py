# Cuts the power under an ext4 file system: what was not made durable is gone, nothing more is written.
import fcntl
import os
import struct
import sys

EXT4_IOC_SHUTDOWN = 0x8004587D
NOLOGFLUSH = 2

fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), EXT4_IOC_SHUTDOWN, struct.pack("I", NOLOGFLUSH))
