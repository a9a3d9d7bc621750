// Cleaners that run in Node.js, for peers.py. Packages are looked up from the current directory, as `require` does.
//
//     node peers.mjs                  print the versions of the packages that are installed
//     node peers.mjs PACKAGE          read {"html", "url"} from each line, and write {"content", "seconds"} or {"error"}
//     node peers.mjs PACKAGE markdown the content is Markdown instead of HTML

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(process.cwd(), "here.js"));
const [name, format] = process.argv.slice(2);

const programs = {
  "@mozilla/readability": () => {
    const { Readability } = require("@mozilla/readability");
    return (document) => new Readability(document).parse()?.content;
  },
  defuddle: () => {
    const { Defuddle } = require(join(dirname(require.resolve("defuddle")), "node.js"));
    const options = { markdown: format === "markdown", useAsync: false };
    return async (document, url) => (await Defuddle(document, url, options)).content;
  },
};

function version(name) {
  try {
    require.resolve("jsdom");
    let folder = dirname(require.resolve(name));
    while (!folder.endsWith(join("node_modules", name))) folder = dirname(folder);
    return require(join(folder, "package.json")).version;
  } catch {
    return undefined;
  }
}

async function serve(extract) {
  const { JSDOM, VirtualConsole } = require("jsdom");
  console.log = console.warn = console.error = () => {};  // programs must not write among the answers
  for await (const line of createInterface({ input: process.stdin })) {
    const { html, url } = JSON.parse(line);
    const before = process.cpuUsage();
    let answer;
    try {
      const page = new JSDOM(html, { url: url || "https://example.org/", virtualConsole: new VirtualConsole() });
      answer = { content: (await extract(page.window.document, url)) ?? "" };
      page.window.close();
    } catch (error) {
      answer = { error: String(error) };
    }
    const { user, system } = process.cpuUsage(before);
    process.stdout.write(JSON.stringify({ ...answer, seconds: (user + system) / 1e6 }) + "\n");
  }
}

if (name) await serve(programs[name]());
else console.log(JSON.stringify(Object.fromEntries(Object.keys(programs).map((name) => [name, version(name)]))));
