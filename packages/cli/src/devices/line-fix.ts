// What to do about a line that cannot be opened, by what its opening said. Pure.

const hints = [
  {
    said: /ENOENT|no such file/i,
    serial: "is it plugged in? ls /dev/tty*",
    other: "there is no file or socket at this path; start the program that listens there",
  },
  { said: /ECONNREFUSED/, serial: undefined, other: "nothing listens there; start it, or check the port" },
  {
    said: /EACCES|EPERM|permission denied/i,
    serial: "serial ports are for the group dialout: sudo usermod -aG dialout $USER, then log in again",
    other: "this user may not open it; check the permissions of the file",
  },
  {
    said: /EBUSY|EAGAIN|resource busy|temporarily unavailable|cannot lock/i,
    serial: "another program has this port open; end that program",
    other: "another program has it open; end that program",
  },
] as const;

/** Libraries say it by a code, or in words alone. */
export function lineFix(line: string, cause: unknown): string | undefined {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const text = `${code} ${cause instanceof Error ? cause.message : String(cause)}`;
  return hints.find(({ said }) => said.test(text))?.[line.startsWith("serial:") ? "serial" : "other"];
}
