// The pages as they are built, the console, the one behind the address of an approval, and the one where a client is let in: plain files under their own names, nothing that asks another host.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

/** What all pages need: one large file packs better than many small ones. */
const shared =
  /console\/src\/(?:ui\/(?:Text|Value|Dialog|Line|visible|short-json|weight|times|note-secret)|gates\/(?:Warnings|Changes|Result|result-parts|capability-words))\b|protocol\/src\/(?:capability|text\/look-alike|json-rpc|canonical-json)\b/;
export default defineConfig({
  plugins: [
    svelte({
      compilerOptions: { runes: true },
      // What is hard to use for somebody does not get built.
      onwarn: (warning) => {
        throw new Error(`${warning.filename}:${warning.start?.line}: ${warning.message}`);
      },
    }),
  ],
  resolve: { conditions: ["mcpx-source", "svelte", "browser", "import", "module", "default"] },
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rolldownOptions: {
      input: ["index.html", "approve.html", "authorize.html"].map((page) => `${import.meta.dirname}/${page}`),
      output: {
        codeSplitting: { groups: [{ name: "shared", test: shared }] },
      },
    },
  },
});
