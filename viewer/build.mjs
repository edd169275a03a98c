// Bundles the viewer into one page: build.mjs OUT, as a string of C++ if OUT ends in .inc.
import {readFileSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const kDelimiter = 'assay_viewer';

async function bundle(entry) {
  const result = await build({
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

// The layout engine is 1.6 MB of text: a third when compressed.
function engine() {
  const path = join(here, 'node_modules', 'elkjs', 'lib', 'elk-worker.min.js');
  return gzipSync(readFileSync(path), {level: 9}).toString('base64');
}

async function page() {
  const parts = {
    ASSAY_STYLE: await bundle('style.css'),
    ASSAY_ENGINE: engine(),
    ASSAY_PROGRAM: await bundle('main.ts'),
  };
  let text = readFileSync(join(here, 'src', 'page.html'), 'utf8');
  for (const [mark, part] of Object.entries(parts)) text = text.replace(mark, () => part);
  return text;
}

const out = process.argv[2];
if (!out) throw new Error('build.mjs OUT');
const text = await page();
if (text.split('ASSAY_DOCUMENT').length !== 2) throw new Error('one place for the document');
if (text.includes(`)${kDelimiter}"`)) throw new Error('the page holds the end of its own string');
mkdirSync(dirname(out), {recursive: true});
writeFileSync(out, out.endsWith('.inc') ? `R"${kDelimiter}(${text})${kDelimiter}"\n` : text);
