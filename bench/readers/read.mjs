// Reads every record of a crawl's WARC files with warcio and compares what it finds with index.cdxj.
//
//   node read.mjs DIR
import fs from "node:fs";
import path from "node:path";
import { WARCParser } from "warcio";

const dir = process.argv[2];
const index = new Map();
for (const line of fs.readFileSync(path.join(dir, "index.cdxj"), "utf8").split("\n")) {
  if (!line) continue;
  const c = JSON.parse(line.slice(line.indexOf(" {"))); // a key may have a brace, too
  index.set(c.filename + "@" + c.offset, c);
}
let records = 0, captures = 0, bad = 0;
const complain = (...what) => { bad++; console.error(...what); };
for (const name of fs.readdirSync(path.join(dir, "warc")).filter((n) => n.endsWith(".warc.gz"))) {
  const parser = new WARCParser(fs.createReadStream(path.join(dir, "warc", name)));
  for await (const rec of parser) {
    records++;
    const payload = await rec.readFully(false);
    const at = name + "@" + parser.offset;
    const c = index.get(at);
    if (rec.warcType !== "response" && rec.warcType !== "revisit") continue;
    if (!c) { complain("not in the index:", at, rec.warcTargetURI); continue; }
    captures++;
    index.delete(at);
    if (c.url !== rec.warcTargetURI) complain("URL:", at, c.url, rec.warcTargetURI);
    if (c.digest !== rec.warcPayloadDigest) complain("digest:", at, c.digest, rec.warcPayloadDigest);
    if (String(rec.httpHeaders.statusCode) !== c.status) complain("status:", at, rec.httpHeaders.statusline, c.status);
    if (Number(c.length) !== parser.recordLength) complain("length:", at, c.length, parser.recordLength);
    if (rec.warcType === "response" && payload === undefined) complain("no payload:", at);
  }
}
for (const at of index.keys()) complain("in the index, not in the files:", at);
console.log(`warcio: ${records} records, ${captures} captures, ${bad} problems`);
process.exit(bad ? 1 : 0);
