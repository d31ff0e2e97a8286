// Bundles the client into src/taction/report/client, with the licences of what is in it.
// The first line of the bundle is a digest of the sources: a test asks that it is that of the sources here.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const out = "../src/taction/report/client/";
const sources = readdirSync("src").sort();
const digest = createHash("sha256");
for (const name of sources) digest.update(name).update(readFileSync(`src/${name}`));
digest.update(readFileSync("package.json"));
const result = await build({
  entryPoints: ["src/main.js"], bundle: true, minify: true, format: "iife", target: "es2022", write: false,
  loader: { ".css": "text" }, charset: "utf8", legalComments: "none",
});
// a page holds the bundle inside a script element, which this would end
const text = result.outputFiles[0].text.replaceAll("</script", "<\\/script");
writeFileSync(`${out}client.js`, `// sources: ${digest.digest("hex")}\n${text}`);
const licences = ["three", "uplot"].map((name) => {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`));
  return `${name} ${version}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim()}\n`;
});
writeFileSync(`${out}LICENSES.txt`, licences.join(`\n${"-".repeat(78)}\n\n`));
console.log(`client.js: ${(text.length / 1024).toFixed(0)} KiB from ${sources.length} files`);
