// Takes pictures of a report: screenshot.mjs REPORT.html OUT.png [light|dark] [full] [NODE].
import {launch, openReport} from './test/browser.ts';

const [report, out, scheme = 'light', extent = 'window', node] = process.argv.slice(2);
const browser = await launch();
const {page, errors} = await openReport(browser, report, {colorScheme: scheme, viewport: {width: 1400, height: 900}});
if (node) {
  await page.fill('#search', node);
  await page.press('#search', 'Enter');
}
if (extent === 'map') await page.locator('#map').scrollIntoViewIfNeeded();
await page.waitForTimeout(600);
if (extent === 'map') await page.locator('#map').screenshot({path: out});
else await page.screenshot({path: out, fullPage: extent === 'full'});
await browser.close();
for (const error of errors) console.error(error);
