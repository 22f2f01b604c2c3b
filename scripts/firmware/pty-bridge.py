# A serial port that is not there: a pseudo terminal whose other end is a Unix socket. Prints the port's path.
import os, pty, select, socket, sys, tty

line = socket.socket(socket.AF_UNIX)
line.connect(sys.argv[1])
master, port = pty.openpty()
tty.setraw(port)
print(os.ttyname(port), flush=True)
while True:
    for ready in select.select([line, master], [], [])[0]:
        data = line.recv(4096) if ready is line else os.read(master, 4096)
        if not data:
            sys.exit(0)
        if ready is line:
            os.write(master, data)
        else:
            line.sendall(data)
