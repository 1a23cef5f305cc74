import { defineConfig } from "vite";

/** The page is served below /page/ by `priming serve`; `hatch_build.py` names the folder that it is built into. */
export default defineConfig({
  base: "/page/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../build/page/site",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
  },
  worker: { format: "es" },
});
