// The table of pairs, sortable by any column.
import {type Pair, type Report, toNumber} from './data';
import {type Child, empty, h, section} from './dom';
import {integer, number} from './format';

interface Column {
  title: string;
  numeric: boolean;
  key: (pair: Pair) => number | string;
  show: (pair: Pair) => Child;
}

function outcome(pair: Pair): HTMLElement {
  const sign = h('span', {class: 'sign', 'aria-hidden': 'true'}, pair.inconsistent ? '✕' : '✓');
  return h('span', {class: `badge ${pair.inconsistent ? 'bad' : 'good'}`}, sign, pair.inconsistent ? 'inconsistent' : 'consistent');
}

const kColumns: Column[] = [
  {title: 'Pair', numeric: false, key: (p) => `${p.a} ${p.b}`, show: (p) => h('span', {class: 'pair'}, p.a, h('span', {class: 'muted'}, ' | '), p.b)},
  {title: 'Distance', numeric: false, key: (p) => p.metric, show: (p) => p.metric},
  {title: 'Triggering', numeric: true, key: (p) => p.triggering, show: (p) => `${integer(p.triggering)} of ${integer(p.instances)}`},
  {title: 'Largest', numeric: true, key: (p) => toNumber(p.max), show: (p) => number(p.max)},
  {title: 'Threshold', numeric: true, key: (p) => p.threshold, show: (p) => number(p.threshold)},
  {title: 'Needs rtol', numeric: true, key: (p) => toNumber(p.tolerance.rtol), show: (p) => number(p.tolerance.rtol)},
  {title: 'or atol', numeric: true, key: (p) => toNumber(p.tolerance.atol), show: (p) => number(p.tolerance.atol)},
  {title: 'Outcome', numeric: false, key: (p) => (p.inconsistent ? 0 : 1), show: outcome},
];

export function sortedPairs(pairs: Pair[], column: number, descending: boolean): Pair[] {
  const key = (kColumns[column] as Column).key;
  const sign = descending ? -1 : 1;
  return [...pairs].sort((a, b) => {
    const left = key(a), right = key(b);
    return left < right ? -sign : left > right ? sign : 0;
  });
}

function row(pair: Pair): HTMLElement {
  return h('tr', {class: pair.inconsistent ? 'marked' : ''}, ...kColumns.map((column, i) =>
    h(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : undefined, class: column.numeric ? 'number' : ''}, column.show(pair))));
}

export function pairsTable(report: Report): HTMLElement {
  const lead = 'Every backend against every other. The distance “bound” counts in multiples of what rounding allows; “mad” and “class” are the published ones.';
  if (!report.pairs.length) {
    return section('pairs', 'Pairs', '', empty('No two backends have answered, so there is nothing to compare.'));
  }
  const body = h('tbody', {}, ...report.pairs.map(row));
  let sorted = -1, descending = false;
  const heads = kColumns.map((column, i) => h('th', {scope: 'col', class: column.numeric ? 'number' : ''},
    h('button', {type: 'button', click: () => {
      descending = sorted === i ? !descending : column.numeric;
      sorted = i;
      body.replaceChildren(...sortedPairs(report.pairs, i, descending).map(row));
      heads.forEach((head, at) => head.setAttribute('aria-sort', at === i ? (descending ? 'descending' : 'ascending') : 'none'));
    }}, column.title)));
  return section('pairs', 'Pairs', lead,
    h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of pairs'},
      h('table', {class: 'table'}, h('thead', {}, h('tr', {}, ...heads)), body)));
}
