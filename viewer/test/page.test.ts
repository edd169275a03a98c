// The page in a real Chromium, on reports that `assay compare` has written (tools/viewer_reports.py).
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {type Browser, type Page} from 'playwright-core';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {type Opened, launch, openReport} from './browser';

const here = dirname(fileURLToPath(import.meta.url));
const reports = process.env.ASSAY_REPORTS ?? join(here, '..', '..', 'build', 'viewer');
// On an idle machine a page of 2,000 nodes is ready in about one second.
const kMostSeconds = 8;

let browser: Browser;
beforeAll(async () => {
  browser = await launch();
});
afterAll(async () => {
  await browser.close();
});

const open = (name: string, options = {}): Promise<Opened> => openReport(browser, join(reports, `${name}.html`), options);
const scaleOf = async (page: Page) => Number(await page.getAttribute('.canvas', 'data-scale'));
const panelName = (page: Page) => page.textContent('.panel .node-name');

// The middle of a box on the screen; a real click there must hit it.
async function middle(page: Page, label: RegExp): Promise<{x: number; y: number}> {
  const area = await page.getByRole('button', {name: label}).first().boundingBox();
  if (!area) throw new Error(`no box ${label}`);
  return {x: area.x + area.width / 2, y: area.y + area.height / 2};
}

async function clickBox(page: Page, label: RegExp): Promise<void> {
  await page.locator('.map-frame').scrollIntoViewIfNeeded();
  const at = await middle(page, label);
  await page.mouse.click(at.x, at.y);
}

describe('ten nodes', () => {
  it('say what was compared and what came out, at the top', async () => {
    const {page, errors} = await open('classifier');
    expect(await page.textContent('h1')).toBe('classifier.onnx');
    expect(await page.textContent('.verdict p')).toMatch(/planted computes something else than the model means, first at \/stem\/Relu \(Relu\)/);
    expect(await page.locator('.tile').first().textContent()).toContain('Findings2');
    expect(await page.locator('.backends li').count()).toBe(2);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('are all drawn, each with a sign beside its color', async () => {
    const {page} = await open('classifier');
    expect(await page.locator('.box.node').count()).toBe(10);
    for (const box of await page.locator('.box.node').all()) {
      expect(await box.locator('.sign').textContent()).toMatch(/^[✕✓≠⚙?=–·]$/);
    }
    expect(await page.locator('.box.defect .op').allTextContents()).toEqual(['Relu', 'Relu']);
    await page.context().close();
  });

  it('open on the suspect: verdict, variant, values, image, bound, origin', async () => {
    const {page} = await open('normalizing');
    const panel = page.locator('.panel');
    expect(await panelName(page)).toBe('/block/norm');
    expect(await panel.locator('.panel-verdict').textContent()).toContain('difference');
    expect(await panel.textContent()).toContain('epsilon-outside-the-root');
    expect(await panel.textContent()).toContain('train/model.py:23');
    expect(await panel.textContent()).toContain('outside');
    expect(await panel.locator('.difference svg').count()).toBe(1);
    expect(await panel.getByRole('table', {name: /Values of/}).locator('tbody tr').count()).toBe(2);
    expect(await panel.textContent()).toContain('0.001'); // the attribute epsilon
    await page.context().close();
  });

  it('can be clicked, and lead on to those that feed them', async () => {
    const {page} = await open('classifier');
    await clickBox(page, /^MatMul \/stem\/MatMul/);
    expect(await panelName(page)).toBe('/stem/MatMul');
    expect(await page.locator('.box.selected').getAttribute('aria-label')).toContain('/stem/MatMul');
    await page.getByRole('list', {name: 'Used by'}).getByRole('button').first().click();
    expect(await panelName(page)).toBe('/stem/Add');
    await page.getByRole('button', {name: 'Close the panel'}).click();
    expect(await page.textContent('.panel h3')).toContain('Suspects');
    await page.context().close();
  });

  it('zoom under the wheel around the pointer, and pan when dragged', async () => {
    const {page} = await open('classifier');
    await page.locator('.map-frame').scrollIntoViewIfNeeded();
    const before = await scaleOf(page), at = await middle(page, /\/block\/norm/);
    await page.mouse.move(at.x, at.y);
    await page.mouse.wheel(0, -400);
    await page.waitForFunction((old) => Number(document.querySelector<SVGElement>('.canvas')?.dataset.scale) > old * 1.5, before);
    const zoomed = await middle(page, /\/block\/norm/);
    expect(Math.hypot(zoomed.x - at.x, zoomed.y - at.y)).toBeLessThan(3);
    await page.mouse.down();
    await page.mouse.move(at.x + 90, at.y - 60, {steps: 5});
    await page.mouse.up();
    await expect.poll(async () => Math.round((await middle(page, /\/block\/norm/)).x - zoomed.x)).toBe(90);
    expect(await panelName(page)).toBe('/stem/Relu'); // a drag is no click
    await page.getByRole('button', {name: 'Show all'}).click();
    await expect.poll(() => scaleOf(page)).toBeCloseTo(before, 2);
    await page.context().close();
  });

  it('are found by typing', async () => {
    const {page} = await open('classifier');
    await page.click('#search');
    await page.keyboard.type('softmax');
    expect(await page.textContent('.search-count')).toBe('1 match');
    await page.keyboard.press('Enter');
    expect(await panelName(page)).toBe('/probabilities');
    await page.fill('#search', 'no such node');
    expect(await page.textContent('.search-count')).toBe('no match');
    await page.fill('#search', 'relu');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await panelName(page)).toBe('/head/Relu');
    await page.context().close();
  });

  it('can be walked through with the keyboard alone', async () => {
    const {page} = await open('classifier');
    await page.focus('.canvas');
    await page.keyboard.press('ArrowDown');
    expect(await panelName(page)).toBe('/block/norm');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await panelName(page)).toBe('/stem/Add');
    const before = await scaleOf(page);
    await page.keyboard.press('+');
    await expect.poll(() => scaleOf(page)).toBeGreaterThan(before);
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    expect(await panelName(page)).toBe('/head/Relu');
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('search');
    await page.focus('.profile');
    await page.keyboard.press('ArrowRight');
    expect(await panelName(page)).toBe('/probabilities');
    await page.context().close();
  });

  it('have pairs that sort, and a pattern of distances', async () => {
    const {page} = await open('classifier');
    const rows = page.locator('#pairs tbody tr');
    expect(await rows.count()).toBe(3);
    await page.getByRole('button', {name: 'Largest'}).click();
    const first = await rows.first().textContent();
    await page.getByRole('button', {name: 'Largest'}).click();
    expect(await rows.last().textContent()).toBe(first);
    expect(await page.locator('.histogram').count()).toBe(3);
    expect(await page.locator('.histogram').first().getAttribute('aria-label')).toMatch(/within|beyond/);
    await page.context().close();
  });

  it('are reached from the findings', async () => {
    const {page} = await open('classifier');
    await page.getByRole('button', {name: 'Close the panel'}).click();
    await page.locator('.finding .link').nth(1).click();
    expect(await panelName(page)).toBe('/head/Relu');
    await page.context().close();
  });
});

describe('other outcomes', () => {
  it('agreement is said as such, with nothing to look at', async () => {
    const {page, errors} = await open('agreeing');
    expect(await page.textContent('.verdict p')).toContain('All 2 backends agree');
    expect(await page.textContent('#findings .empty')).toContain('Nothing was found');
    expect(await page.getByRole('button', {name: 'Next suspect'}).isDisabled()).toBe(true);
    expect(errors).toEqual([]);
    await page.context().close();
  });
  it('a crash leaves a page without pairs', async () => {
    const {page, errors} = await open('crashing');
    expect(await page.textContent('.verdict p')).toContain('planted crashed');
    expect(await page.textContent('#pairs .empty')).toContain('nothing to compare');
    expect(errors).toEqual([]);
    await page.context().close();
  });
  it('names that attack the page stay names', async () => {
    const {page, errors} = await open('hostile');
    expect(await page.title()).toBe('hostile.onnx · Assay report');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(3);
    expect(await page.locator('.box.node').count()).toBe(4);
    expect(errors).toEqual([]);
    await page.context().close();
  });
  it('dark is dark', async () => {
    const ground = async (colorScheme: 'dark' | 'light') => {
      const {page} = await open('agreeing', {colorScheme});
      const color = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      await page.context().close();
      return color;
    };
    expect(await ground('dark')).toBe('rgb(15, 20, 26)');
    expect(await ground('light')).toBe('rgb(246, 247, 249)');
  });
  it('a narrow window has the panel below the map', async () => {
    const {page} = await open('classifier', {viewport: {width: 420, height: 800}});
    const map = await page.locator('.map-window').boundingBox(), panel = await page.locator('.panel').boundingBox();
    expect(panel?.y).toBeGreaterThan((map?.y ?? 0) + 100);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(420);
    await page.context().close();
  });
});

describe.each(['deep', 'unscoped'])('two thousand nodes, %s', (name) => {
  it('are ready soon, and drawn in few boxes around the first suspect', async () => {
    const start = Date.now();
    const {page, errors} = await open(name);
    const passed = (Date.now() - start) / 1000;
    console.log(`${name}: ready after ${passed.toFixed(1)} s`);
    expect(passed).toBeLessThan(kMostSeconds);
    expect(await page.textContent('.tiles')).toContain('2,000 nodes');
    expect(await page.locator('.box').count()).toBeLessThan(150);
    expect(await page.locator('.box.difference').count()).toBeGreaterThan(0);
    expect(await page.textContent('.panel h3')).toBe('BatchNormalization');
    expect(await scaleOf(page)).toBeGreaterThan(0.6); // readable
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('can be searched, which opens the group of what is found', async () => {
    const {page} = await open(name);
    await page.fill('#search', name === 'deep' ? 'stage4/block31/threshold' : 'b231_threshold');
    await page.press('#search', 'Enter');
    await page.waitForFunction(() => document.querySelector('.box.selected .op')?.textContent === 'Relu');
    expect(await panelName(page)).toMatch(/31[_/]threshold$/);
    const area = await page.locator('.box.selected').boundingBox(), map = await page.locator('.canvas').boundingBox();
    expect(Math.abs((area?.x ?? 0) + (area?.width ?? 0) / 2 - (map?.x ?? 0) - (map?.width ?? 0) / 2)).toBeLessThan(20);
    await page.context().close();
  });

  it('open a group by a click, and close it again', async () => {
    const {page} = await open(name);
    const status = () => page.textContent('.map-status');
    const settled = {timeout: 30_000};
    await page.getByRole('button', {name: 'Close all'}).click();
    await expect.poll(status, settled).toMatch(name === 'deep' ? /in 5 boxes/ : /in 45 boxes/);
    const boxes = await status();
    const group = await page.locator('.box.group').first().getAttribute('aria-label');
    const title = new RegExp(`^Group ${(group ?? '').replace(/^Group /, '').replace(/,.*/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&')},`);
    await clickBox(page, title);
    await expect.poll(status, settled).toMatch(/in \d+ boxes/);
    await page.waitForSelector('.canvas:not([aria-busy])');
    expect(await status()).not.toBe(boxes);
    expect(await page.locator('.box.open').count()).toBe(1);
    const header = await page.getByRole('button', {name: title}).locator('.header').boundingBox();
    await page.mouse.click((header?.x ?? 0) + (header?.width ?? 0) / 2, (header?.y ?? 0) + (header?.height ?? 0) / 2);
    await expect.poll(status, settled).toBe(boxes);
    await page.context().close();
  });

  it('can all be opened while the page stays usable, and only what is in view is drawn', async () => {
    const {page} = await open(name);
    await page.getByRole('button', {name: 'Open all'}).click();
    const start = Date.now();
    await page.fill('#search', 'softmax'); // the layout runs in a worker meanwhile
    expect(await page.textContent('.search-count')).toBe('250 matches');
    expect(Date.now() - start).toBeLessThan(3000);
    await page.waitForSelector('.canvas:not([aria-busy])', {timeout: 100_000});
    expect(await page.textContent('.map-status')).toBe('2,000 nodes');
    expect(await page.locator('.box.node').count()).toBeLessThan(400);
    await page.context().close();
  });

  it('have a strip of all nodes that leads to each', async () => {
    const {page} = await open(name);
    await page.locator('.profile').scrollIntoViewIfNeeded();
    const area = await page.locator('.profile').boundingBox();
    await page.mouse.click((area?.x ?? 0) + (area?.width ?? 0) * 0.75, (area?.y ?? 0) + 40);
    await expect.poll(async () => Number(/node ([\d,]+) of 2,000/.exec((await page.textContent('.panel-verdict')) ?? '')?.[1]?.replace(',', ''))).toBeGreaterThan(1490);
    await page.context().close();
  });
});

// Reports stay readable: the page of today shows a document of every schema version there was.
// A golden document is what a release has written, and is never written again.
describe('golden documents', () => {
  it.each([1])('of schema version %i is shown', async (version) => {
    const folder = mkdtempSync(join(tmpdir(), 'assay-viewer-'));
    execFileSync('node', [join(here, '..', 'build.mjs'), join(folder, 'page.html')]);
    const golden = readFileSync(join(here, 'golden', `report-${version}.json`), 'utf8').trim();
    const file = join(folder, 'golden.html');
    writeFileSync(file, readFileSync(join(folder, 'page.html'), 'utf8').replace('ASSAY_DOCUMENT', () => golden.replace(/</g, '\\u003c')));
    const {page, errors} = await openReport(browser, file);
    expect(await page.textContent('h1')).toBe('classifier.onnx');
    expect(await page.locator('.box.node').count()).toBe(10);
    expect(await panelName(page)).toBe('/stem/Relu');
    expect(await page.locator('.panel .difference svg').count()).toBe(1);
    expect(await page.locator('#pairs tbody tr').count()).toBe(3);
    expect(errors).toEqual([]);
    await page.context().close();
  });
});
