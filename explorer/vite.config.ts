import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// One script and one style sheet, which Python puts inside the report. Names carry no hashes, and nothing
// that differs from machine to machine (paths, dates) goes in, so that the same source gives the same bytes.
export default defineConfig({
  build: {
    outDir: "../src/clausewise/report/assets",
    emptyOutDir: false,
    target: "es2022",
    cssCodeSplit: false,
    modulePreload: false,
    sourcemap: false,
    reportCompressedSize: false,
    rollupOptions: {
      input: "src/main.tsx",
      output: {
        format: "iife",
        // The licence of the libraries inside asks for this notice in every copy, and a report is one.
        postBanner: `/*!\n${readFileSync("NOTICE", "utf8")}*/`,
        entryFileNames: "explorer.js",
        assetFileNames: "explorer[extname]",
      },
    },
  },
});
