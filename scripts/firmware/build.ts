// Compiles and links one target with its cross compiler, and measures what came out.
import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { keepBuilt } from "./keep-built.ts";
import { imageOfSize, sizesOfMap, sizesOfObjects } from "./read-sizes.ts";
import type { Sizes, Target } from "./targets.ts";

/** A compiler that hangs is ended. */
const compileMs = 60_000;
const execute = promisify(execFile);
const firmware = join(import.meta.dirname, "..", "..", "firmware");

export interface Image {
  target: Target;
  /** What an emulator loads. */
  file: string;
  sizes: Sizes;
}

const gnu = {
  "cortex-m": {
    compiler: "arm-none-eabi-gcc",
    // Without the last one the compiler makes calls of memset out of loops, and there is no libc.
    flags: ["-mthumb", "-std=c99", "-ffreestanding", "-fno-tree-loop-distribute-patterns"],
    link: ["-nostdlib", "-T", join(firmware, "cortex-m", "link.ld")],
    libraries: ["-lgcc"],
  },
  avr: {
    compiler: "avr-gcc",
    // GNU C for __flash: other constants would be copied to RAM.
    flags: ["-mmcu=atmega328p", "-DF_CPU=16000000UL", "-std=gnu99", "-mcall-prologues"],
    link: ["-mrelax"],
    libraries: [],
  },
} as const;

/** Of avr-libc. */
const avrHeaders = ["/usr/lib/avr/include/avr/io.h", "/usr/lib/avr/include/avr/version.h"];
/** Whatever they do to an image, to its flags and to its sizes. */
const builders = ["build.ts", "read-sizes.ts"].map((name) => join(import.meta.dirname, name));

const gnuFlags = [
  "-Os",
  "-fno-common",
  "-ffunction-sections",
  "-fdata-sections",
  "-Wall",
  "-Wextra",
  "-Werror",
];

type Run = (program: string, args: readonly string[]) => Promise<{ stdout: string }>;

/** Into `directory`, which is made where it is missing. */
export async function buildTarget(
  target: Target,
  directory: string,
  more: readonly string[] = [],
  signal?: AbortSignal,
): Promise<Image> {
  const into = join(directory, target.name);
  await mkdir(into, { recursive: true });
  const { profile, sources, flags } = target;
  const files = [`profile-${profile}/mcpx_${profile}.c`, `demo/demo_${profile}.c`, ...sources];
  const build = target.chip === "8051" ? buildSdcc : buildGnu;
  const run: Run = (program, args) => execute(program, args, { timeout: compileMs, signal });
  return build(target, files, into, [...flags, ...more], run);
}

/** As `buildTarget`, where nobody minds that it was built before. */
export async function buildOnce(
  target: Target,
  more: readonly string[] = [],
  signal?: AbortSignal,
): Promise<Image> {
  const compiler = target.chip === "8051" ? "sdcc" : gnu[target.chip].compiler;
  const texts = await Promise.all(builders.map((file) => readFile(file, "utf8")));
  const words = [JSON.stringify(target), ...texts, ...more];
  const headers = target.chip === "avr" ? avrHeaders : [];
  const kept = await keepBuilt({ compiler, words, headers }, async (directory) => {
    const { file, sizes } = await buildTarget(target, directory, more, signal);
    await writeFile(join(directory, "image.json"), JSON.stringify({ file: basename(file), sizes }));
  });
  const { file, sizes } = JSON.parse(await readFile(join(kept, "image.json"), "utf8"));
  return { target, file: join(kept, target.name, file), sizes };
}

async function buildGnu(
  target: Target,
  files: readonly string[],
  into: string,
  more: readonly string[],
  run: Run,
): Promise<Image> {
  const { compiler, flags, link, libraries } = gnu[target.chip as keyof typeof gnu];
  const objects = files.map((file) => join(into, `${basename(file, ".c")}.o`));
  const common = [...flags, ...gnuFlags, ...more];
  for (const [at, file] of files.entries()) {
    await run(compiler, [...common, "-c", join(firmware, file), "-o", objects[at] as string]);
  }
  const [elf, map] = [join(into, "image.elf"), join(into, "image.map")];
  const linking = [...link, `-Wl,--gc-sections,-Map=${map}`, "-o", elf];
  await run(compiler, [...common, ...objects, ...linking, ...libraries]);
  const { profile } = target;
  const parts = sizesOfMap(await readFile(map, "utf8"), `mcpx_${profile}.o`, `demo_${profile}.o`);
  const { stdout } = await run(compiler.replace("gcc", "size"), [elf]);
  return { target, file: elf, sizes: { ...parts, image: imageOfSize(stdout) } };
}

async function buildSdcc(
  target: Target,
  files: readonly string[],
  into: string,
  more: readonly string[],
  run: Run,
): Promise<Image> {
  const common = ["-mmcs51", "--std-c99", "--opt-code-size"];
  const objects = files.map((file) => join(into, `${basename(file, ".c")}.rel`));
  for (const [at, file] of files.entries()) {
    await run("sdcc", [...common, ...more, "-c", join(firmware, file), "-o", objects[at] as string]);
  }
  const ihx = join(into, "image.ihx");
  await run("sdcc", [...common, ...objects, "-o", ihx]);
  const texts = [objects[0], objects[1], join(into, "image.mem")].map((file) =>
    readFile(file as string, "utf8"),
  );
  const [core, demo, memory] = (await Promise.all(texts)) as [string, string, string];
  return { target, file: ihx, sizes: sizesOfObjects(core, demo, memory) };
}
