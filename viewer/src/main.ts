// Puts the page together from the document that it carries.
import {type Report, Unreadable, isLint, readReport} from './data';
import {h, svg} from './dom';
import {findingsList} from './findings';
import {fileName, integer, seconds} from './format';
import {histograms} from './histogram';
import {MapView} from './map';
import {pairsTable} from './pairs';
import {summary} from './summary';

function footer(report: Report): HTMLElement {
  const {model} = report;
  const facts: [string, string][] = [
    ['File', model.file],
    ['Made by', model.producer.trim() || 'not said'],
    [
      'Operator sets',
      Object.entries(model.opsets)
        .map(([domain, version]) => `${domain} ${version}`)
        .join(', '),
    ],
    ['Inputs', model.inputs.map(([name, type]) => `${name} ${type}`).join(', ')],
    ['Outputs', model.outputs.map(([name, type]) => `${name} ${type}`).join(', ')],
  ];
  return h(
    'footer',
    {class: 'foot'},
    h(
      'dl',
      {class: 'facts'},
      ...facts.flatMap(([term, text]) => [h('dt', {}, term), h('dd', {}, text)]),
    ),
    h(
      'p',
      {class: 'muted'},
      [
        `Assay ${report.assay}`,
        seconds(report.seconds ?? 0),
        `${integer(model.nodes)} nodes`,
        `report schema ${report.schema}`,
        'this page needs no network',
      ].join(' · '),
    ),
  );
}

// Stripes for what is beyond a threshold, for all charts of the page.
function patterns(): SVGSVGElement {
  return svg(
    'svg',
    {width: 0, height: 0, 'aria-hidden': 'true', class: 'patterns'},
    svg(
      'defs',
      {},
      svg(
        'pattern',
        {
          id: 'stripes',
          width: 5,
          height: 5,
          patternUnits: 'userSpaceOnUse',
          patternTransform: 'rotate(45)',
        },
        svg('rect', {width: 5, height: 5, class: 'stripe-ground'}),
        svg('rect', {width: 2, height: 5, class: 'stripe'}),
      ),
    ),
  );
}

function start(): void {
  const app = document.getElementById('app') as HTMLElement;
  try {
    const report = readReport(document.getElementById('document')?.textContent ?? '');
    document.title = `${fileName(report.model.file)} · Assay report`;
    const map = new MapView(report);
    const show = (node: number) => {
      void map.show(node);
      map.element.scrollIntoView({block: 'start', behavior: 'smooth'});
    };
    app.append(
      patterns(),
      h(
        'main',
        {},
        summary(report),
        findingsList(report, show),
        map.element,
        ...(isLint(report) ? [] : [pairsTable(report), histograms(report)]),
      ),
      footer(report),
    );
    void map
      .start()
      .then(() => document.documentElement.setAttribute('data-ready', performance.now().toFixed()));
  } catch (failure) {
    if (!(failure instanceof Unreadable)) throw failure;
    app.append(
      h(
        'main',
        {},
        h(
          'header',
          {class: 'summary'},
          h('h1', {}, 'This report cannot be shown'),
          h(
            'div',
            {class: 'verdict bad', role: 'alert'},
            h('span', {class: 'verdict-sign', 'aria-hidden': 'true'}, '✕'),
            h('p', {}, failure.message),
          ),
        ),
      ),
    );
  }
}

start();
