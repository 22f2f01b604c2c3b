// The key that stands before others in this system: ⌘ where there is one.
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** Written before the other key. */
export const modifier = isApple ? "⌘" : "Ctrl ";
