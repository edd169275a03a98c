// Takes pictures of a report: screenshot.mjs REPORT.html OUT.png [light|dark] [top|map|full] [NODE].
// Top ends with the map.
import {launch, openReport} from './test/browser.ts';

const [report, out, scheme = 'light', extent = 'top', node] = process.argv.slice(2);
const browser = await launch();
const {page, errors} = await openReport(browser, report, {
  colorScheme: scheme,
  viewport: {width: 1400, height: 900},
});
if (node) {
  await page.fill('#search', node);
  await page.press('#search', 'Enter');
}
await page.waitForTimeout(600);
const map = await page.locator('#map').boundingBox();
const clip = {x: 0, y: 0, width: 1400, height: Math.ceil(map.y + map.height + 20)};
if (extent === 'map') await page.locator('#map').screenshot({path: out});
else await page.screenshot({path: out, fullPage: true, clip: extent === 'top' ? clip : undefined});
await browser.close();
for (const error of errors) console.error(error);
