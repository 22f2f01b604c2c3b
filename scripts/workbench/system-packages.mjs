// Programs of the system that tests use.

/** Debian packages and the file whose presence shows that each is there. */
export const systemPackages = [
  { name: "python3-websockets", shows: "/usr/lib/python3/dist-packages/websockets" },
  { name: "python3-cryptography", shows: "/usr/lib/python3/dist-packages/cryptography" },
  { name: "openssh-client", shows: "/usr/bin/ssh-agent" },
  { name: "strace", shows: "/usr/bin/strace" },
  { name: "zsh", shows: "/usr/bin/zsh" },
  { name: "fish", shows: "/usr/bin/fish" },
  { name: "chromium", shows: "/usr/bin/chromium" },
  { name: "gcc", shows: "/usr/bin/gcc" },
  { name: "gcc-arm-none-eabi", shows: "/usr/bin/arm-none-eabi-gcc" },
  { name: "qemu-system-arm", shows: "/usr/bin/qemu-system-arm" },
  { name: "gcc-avr", shows: "/usr/bin/avr-gcc" },
  { name: "avr-libc", shows: "/usr/lib/avr/include/avr/io.h" },
  { name: "libsimavr-dev", shows: "/usr/include/simavr/sim_avr.h" },
  { name: "libelf-dev", shows: "/usr/include/libelf.h" },
  { name: "sdcc", shows: "/usr/bin/sdcc" },
  { name: "sdcc-ucsim", shows: "/usr/bin/s51" },
  { name: "mosquitto", shows: "/usr/sbin/mosquitto" },
  { name: "prosody", shows: "/usr/bin/prosody" },
  { name: "postgresql", shows: "/usr/lib/postgresql" },
  { name: "spin", shows: "/usr/bin/spin" },
  { name: "groff-base", shows: "/usr/bin/groff" },
  { name: "systemd", shows: "/usr/bin/systemd-analyze" },
  { name: "bluez-test-tools", shows: "/usr/bin/btvirt" },
];
/** Only for `npm run soak`. */
export const soakPackages = [
  { name: "firefox-esr", shows: "/usr/bin/firefox-esr" },
  { name: "ejabberd", shows: "/usr/sbin/ejabberdctl" },
  { name: "prometheus", shows: "/usr/bin/promtool" },
  { name: "buildah", shows: "/usr/bin/buildah" },
  { name: "mmdebstrap", shows: "/usr/bin/mmdebstrap" },
  { name: "tmux", shows: "/usr/bin/tmux" },
];
