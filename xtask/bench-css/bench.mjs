// Compares printers of stylesheets: node bench.mjs DIR [--no-model] [--strict] [--details N]
// DIR/source/*.css are the sheets, DIR/fewer/*.css what our printer made of them. Rivals' output is kept in
// DIR/clean-css and DIR/esbuild. Prints total sizes and how many entries of Chromium's object model were lost.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { transformSync } from "esbuild";
import CleanCSS from "clean-css";

const dir = process.argv[2];
const details = Number(process.argv[process.argv.indexOf("--details") + 1]) || 20;
const model = !process.argv.includes("--no-model");
const names = readdirSync(join(dir, "source")).sort();
const rivals = {
  source: (css) => css,
  fewer: null,
  "clean-css": (css) => new CleanCSS({ level: 2, inline: false, rebase: false }).minify(css).styles,
  esbuild: (css) => transformSync(css, { loader: "css", minify: true, logLevel: "silent" }).code,
};

const memoFile = join(dir, "sizes.json");
const memo = existsSync(memoFile) ? JSON.parse(readFileSync(memoFile, "utf8")) : {};

function sizes(css) {
  const bytes = Buffer.from(css);
  const key = process.argv.includes("--gzip-only") + createHash("sha256").update(bytes).digest("base64");
  memo[key] ??= [
    bytes.length,
    gzipSync(bytes, { level: 9 }).length,
    process.argv.includes("--gzip-only") ? 0 : brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }).length,
  ];
  return memo[key];
}

function printed(rival, name, source) {
  const file = join(dir, rival, name);
  if (existsSync(file)) return readFileSync(file, "utf8");
  mkdirSync(join(dir, rival), { recursive: true });
  let css;
  try {
    css = rivals[rival](source);
  } catch {
    css = source;
  }
  writeFileSync(file, css);
  return css;
}

// Runs in the page: the entries of a sheet in the order of the cascade, each a [key, property, value, priority].
function readModel(css) {
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
  const out = [];
  const shorthands = "margin padding border border-top border-right border-bottom border-left border-width border-style border-color border-radius background font flex flex-flow grid grid-area grid-row grid-column grid-template gap outline list-style transition animation inset overflow text-decoration columns column-rule place-items place-content place-self border-image mask border-block border-inline margin-block margin-inline padding-block padding-inline".split(" ");
  const squeeze = (v) => v.replace(/\/\*.*?\*\//gs, "").replace(/\s+/g, " ").replace(/ ?([,()/]) ?/g, "$1");
  function split(list) {
    const parts = [];
    let depth = 0, from = 0, quote = "";
    for (let i = 0; i < list.length; i++) {
      const c = list[i];
      if (c === "\\") i++;
      else if (quote) quote = c === quote ? "" : quote;
      else if (c === '"' || c === "'") quote = c;
      else if (c === "(" || c === "[") depth++;
      else if (c === ")" || c === "]") depth--;
      else if (c === "," && depth === 0) {
        parts.push(list.slice(from, i).trim());
        from = i + 1;
      }
    }
    parts.push(list.slice(from).trim());
    return parts;
  }
  function declarations(key, block, place = "") {
    for (let i = 0; i < block.length; i++) {
      const name = block[i];
      let value = block.getPropertyValue(name);
      if (value === "" && !name.startsWith("--")) value = shorthands.map((s) => block.getPropertyValue(s)).filter((v) => /(var|env)\(/.test(v)).join("|");
      if (name.startsWith("--")) value = value.trim();
      else if (/(var|env|attr)\(/.test(value)) value = squeeze(value);
      out.push([key, name + place, value, block.getPropertyPriority(name)]);
    }
  }
  // Conditions are kept as written: white space around `:` in brackets says nothing.
  const head = (rule) => rule.cssText.slice(0, rule.cssText.indexOf("{")).trim().replace(/\s+/g, " ").replace(/\( /g, "(").replace(/(\([-\w]+) ?: ?/g, "$1:");
  function walk(rules, context) {
    for (const rule of rules) {
      const kind = rule.constructor.name;
      if (kind === "CSSStyleRule" || kind === "CSSPageRule" || kind === "CSSKeyframeRule") {
        for (const one of split(rule.selectorText ?? rule.keyText)) {
          // Frames at different places do not compete, whatever their order.
          declarations(context + one, rule.style, kind === "CSSKeyframeRule" ? "@" + one : "");
          if (rule.cssRules?.length) walk(rule.cssRules, context + one + "{");
        }
      } else if (kind === "CSSFontFaceRule") {
        const parts = [...rule.style].map((name) => `${name}:${squeeze(rule.style.getPropertyValue(name))}`);
        out.push([context + "@font-face", "(rule)", parts.sort().join(";"), ""]);
      } else if (kind === "CSSNestedDeclarations") {
        declarations(context + "&", rule.style);
      } else if (rule.cssRules) {
        walk(rule.cssRules, context + head(rule) + "{");
        if (kind === "CSSKeyframesRule" || kind === "CSSLayerBlockRule") out.push([context, kind, rule.name, ""]);
      } else {
        out.push([context, kind, squeeze(rule.cssText), ""]);
      }
    }
  }
  walk(style.sheet.cssRules, "");
  style.remove();
  return out;
}

// Specificity of the last selector of a key, for selectors of CSS 3 and older; null where it is not certain. Written
// apart from the printer's, so that one checks the other.
const weights = new Map();
function weight(key) {
  if (!weights.has(key)) weights.set(key, count(key));
  return weights.get(key);
}
function count(key) {
  if (/^(@media[^{]*\{|@supports[^{]*\{)*[^{]*$/.test(key) === false) return null;
  let s = key.slice(key.lastIndexOf("{") + 1).replace(/\\[0-9a-f]{1,6} ?|\\./gi, "_");
  if (/:(is|where|has|host|nth-[\w-]*\([^)]* of |-|:-)|&|\|/.test(s)) return null;
  let a = 0, b = 0, c = 0;
  const eat = (re, f) => (s = s.replace(re, () => (f(), " ")));
  eat(/\[[^\]"]*("[^"]*")?[^\]"]*\]/g, () => b++);
  s = s.replace(/:not\(([^()]*)\)/g, " $1 ");
  if (/:not\(/.test(s)) return null;
  eat(/:{1,2}(?:before|after|first-line|first-letter)(?![\w-])/gi, () => c++);
  if (/::/.test(s)) return null;
  eat(/:[\w-]+(?:\([^)]*\))?/g, () => b++);
  eat(/#[-\w\u0080-\uffff]+/g, () => a++);
  eat(/\.[-\w\u0080-\uffff]+/g, () => b++);
  eat(/[-\w\u0080-\uffff]+/g, () => c++);
  return a * 1e6 + b * 1e3 + c;
}
// Order decides between equals only: CSS Cascade 5, section 6.1.
function ordered(x, y) {
  if (process.argv.includes("--strict")) return true;
  const a = weight(x[0]), b = weight(y[0]);
  return a === null || b === null || a === b;
}

// Two declarations compete when they set the same property with the same priority. What an equal, later entry
// repeats does not count: the later one wins wherever the earlier one would.
function sequences(entries) {
  const last = new Map();
  entries.forEach((entry, i) => last.set(JSON.stringify(entry), i));
  const out = new Map();
  entries.forEach((entry, i) => {
    const text = JSON.stringify(entry);
    if (last.get(text) !== i) return;
    const group = `${entry[1]} ${entry[3]}`;
    if (!out.has(group)) out.set(group, []);
    out.get(group).push(text);
  });
  return out;
}

function losses(before, after) {
  const a = sequences(before), b = sequences(after);
  const lost = [], moved = [];
  for (const [group, list] of a) {
    const other = b.get(group) ?? [];
    const there = new Set(other);
    lost.push(...list.filter((e) => !there.has(e)));
    const here = new Set(list);
    const gained = other.filter((e) => !here.has(e));
    lost.push(...gained.map((e) => "gained " + e));
    const place = new Map(other.map((e, i) => [e, i]));
    const left = list.filter((e) => there.has(e));
    if (left.every((e, i) => i === 0 || place.get(left[i - 1]) < place.get(e))) continue;
    // Two equal values may change places: whichever wins, the same is shown. So may two of different specificity.
    for (let i = 0; i < left.length; i++) {
      for (let k = i + 1; k < left.length; k++) {
        if (place.get(left[i]) < place.get(left[k])) continue;
        const one = JSON.parse(left[i]), two = JSON.parse(left[k]);
        if (one[2] !== two[2] && ordered(one, two)) moved.push(`${group}: ${left[i]} before ${left[k]}`);
      }
    }
  }
  for (const [group, list] of b) if (!a.has(group)) lost.push(...list.map((e) => "gained " + e));
  return { lost, moved };
}

const totals = Object.fromEntries(Object.keys(rivals).map((r) => [r, { sizes: [0, 0, 0], lost: 0, moved: 0 }]));
const gains = [];
let page, browser;
if (model) {
  const { chromium } = await import("playwright-core");
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
  page = await browser.newPage();
  await page.route("**/*", (route) => route.abort());
  await page.setContent("<!doctype html><title>bench</title>");
}
let entries = 0;
for (const name of names) {
  const source = readFileSync(join(dir, "source", name), "utf8");
  const per = {};
  const before = model ? await page.evaluate(readModel, source) : null;
  entries += before?.length ?? 0;
  for (const rival of Object.keys(rivals)) {
    const css = rival === "source" ? source : printed(rival, name, source);
    per[rival] = sizes(css);
    per[rival].forEach((n, i) => (totals[rival].sizes[i] += n));
    const all = process.argv.includes("--all-models");
    if (model && rival !== "source" && (rival === "fewer" || all)) {
      const { lost, moved } = losses(before, await page.evaluate(readModel, css));
      totals[rival].lost += lost.length;
      totals[rival].moved += moved.length;
      if (rival === "fewer" && lost.length + moved.length) {
        console.log(`${name}: lost ${lost.length}, moved ${moved.length}`);
        for (const line of [...lost.slice(0, 6), ...moved.slice(0, 3)]) console.log("   ", line.slice(0, 300));
      }
    }
  }
  gains.push([per.fewer[1] - per["clean-css"][1], per.fewer[2] - per["clean-css"][2], per.fewer[0] - per["clean-css"][0], name]);
}
await browser?.close();
writeFileSync(memoFile, JSON.stringify(memo));
gains.sort((a, b) => b[0] - a[0]);
console.log("largest losses against clean-css (gzip, brotli, raw):");
for (const gain of gains.slice(0, details)) console.log("   ", ...gain);
console.log(`${names.length} sheets, ${entries} entries in the object model`);
const measured = (rival) => model && (rival === "fewer" || (rival !== "source" && process.argv.includes("--all-models")));
for (const [rival, total] of Object.entries(totals)) console.log(rival.padEnd(10), total.sizes.join(" "), measured(rival) ? `lost ${total.lost} moved ${total.moved}` : "object model not compared");
