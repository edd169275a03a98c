// A real Chromium with a report open in it.
import {execFileSync} from 'node:child_process';
import {pathToFileURL} from 'node:url';
import {type Browser, type BrowserContextOptions, type Page, chromium} from 'playwright-core';

export async function launch(): Promise<Browser> {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium || command -v chromium-browser || command -v google-chrome'], {encoding: 'utf8'}).trim();
  return chromium.launch({executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']});
}

export interface Opened {
  page: Page;
  errors: string[]; // what the page complained about, and what it tried to load
}

export async function openReport(browser: Browser, file: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const context = await browser.newContext({viewport: {width: 1440, height: 1000}, ...options});
  const page = await context.newPage();
  const errors: string[] = [];
  const url = pathToFileURL(file).href;
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('blob:') && !request.url().startsWith('data:')) errors.push(`request ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector('html[data-ready]', {timeout: 60_000});
  return {page, errors};
}
