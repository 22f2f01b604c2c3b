"""Runs a command in a terminal of 60 columns, or of TERMINAL_SIZE: its keys are our input, its screen our output."""
import fcntl, os, pty, select, struct, sys, termios

columns, rows = map(int, os.environ.pop("TERMINAL_SIZE", "60x24").split("x"))
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        keys = os.read(0, 4096)
        if keys:
            os.write(terminal, keys)
        else:
            sources.remove(0)
    if terminal in ready:
        try:
            text = os.read(terminal, 4096)
        except OSError:
            break
        if not text:
            break
        os.write(1, text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
