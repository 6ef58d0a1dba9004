// Serves Valhalla's HTTP API on a map, by its package of npm: node server.mjs <package> <extract> <folder> [<port>]. The
// tiles are built in the folder. It prints its address, and ends with its input.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

const [source, extract, folder, port = "0"] = process.argv.slice(2);
const { Actor, getConfig } = createRequire(import.meta.url)(source);
const config = await getConfig({ tileDir: join(folder, "tiles"), tileExtract: join(folder, "tiles.tar") });
writeFileSync(join(folder, "config.json"), JSON.stringify(config));
const command = [join(source, "bin", "valhalla-cli.js"), "build_tiles", "-c", join(folder, "config.json"), extract];
const built = spawnSync(process.execPath, command, { cwd: folder, encoding: "utf8" });
if (built.status !== 0) throw new Error(built.stdout + built.stderr);

const actor = new Actor(config);
const methods = { "/route": "route", "/sources_to_targets": "matrix", "/isochrone": "isochrone" };
// The package tells the texts of errors, but not their numbers, which Valhalla's own server adds.
const numbers = {
  "Exceeded maximum circumference for exclude_polygons": 167,
  "No suitable edges near location": 171,
  "No path could be found for input": 442,
};

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  response.setHeader("Content-Type", "application/json");
  try {
    response.end(await actor[methods[request.url]](body));
  } catch (error) {
    const [, text] = error.message.split(": "); // Route error: Exceeded …: 20
    response.statusCode = 400;
    response.end(JSON.stringify({ error_code: numbers[text] ?? 199, error: text, status_code: 400 }));
  }
});
server.listen(+port, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on("end", () => process.exit());
