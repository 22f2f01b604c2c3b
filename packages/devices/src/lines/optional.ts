// Libraries that only some lines need: loaded when the first such line is opened, with a clear message where they are
// not installed.

export class MissingLibraryError extends Error {}

export async function loadOptional<T>(name: string, purpose: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const isMissing = (cause as { code?: unknown }).code === "ERR_MODULE_NOT_FOUND";
    if (!isMissing) throw cause;
    throw new MissingLibraryError(
      `${purpose} needs the package ${name}; install it with: npm install ${name}`,
      {
        cause,
      },
    );
  }
}
