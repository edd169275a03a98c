// The pattern: how many instances have which distance, a small chart for each pair and distance.
import {type Pair, type Report} from './data';
import {empty, h, section, svg} from './dom';
import {counted, integer, number} from './format';

export interface Bin {
  label: string;
  count: number;
  beyond: boolean; // above the threshold
}

export function binsOf(pair: Pair): Bin[] {
  const {metric, pattern, threshold} = pair;
  if (metric === 'bound' && pattern.length === 2) {
    return pattern.map((count, i) => ({label: i ? 'beyond' : 'within', count, beyond: i === 1}));
  }
  if (metric === 'class') return pattern.map((count, i) => ({label: String(i), count, beyond: i > threshold}));
  const width = 1 / pattern.length;
  return pattern.map((count, i) => ({
    label: `${number(i * width)}–${number((i + 1) * width)}`, count, beyond: i * width >= threshold - 1e-9}));
}

const kWidth = 260, kHeight = 120, kFoot = 22, kHead = 18;

function chart(bins: Bin[]): SVGSVGElement {
  const step = kWidth / bins.length;
  const largest = Math.max(1, ...bins.map((one) => one.count));
  const room = kHeight - kFoot - kHead;
  const every = bins.length > 10 ? 4 : 1;
  const first = bins.findIndex((one) => one.beyond);
  const marks = bins.flatMap((bin, i) => {
    const size = bin.count ? Math.max(3, (bin.count / largest) * room) : 0;
    const middle = i * step + step / 2, top = kHead + room - size;
    return [
      size ? svg('rect', {class: `bar${bin.beyond ? ' beyond' : ''}`, x: i * step + step * 0.12, y: top, width: step * 0.76, height: size, rx: 2},
        svg('title', {}, `${bin.label}: ${counted(bin.count, 'instance')}`)) : null,
      bin.count ? svg('text', {class: 'count', x: middle, y: top - 5, 'text-anchor': 'middle'}, integer(bin.count)) : null,
      i % every === 0 ? svg('text', {class: 'tick', x: middle, y: kHeight - 6, 'text-anchor': 'middle'}, bin.label) : null,
    ];
  });
  const base = svg('line', {class: 'axis', x1: 0, x2: kWidth, y1: kHead + room, y2: kHead + room});
  const limit = first > 0 ? svg('line', {class: 'limit', x1: first * step, x2: first * step, y1: 4, y2: kHead + room}) : null;
  const words = bins.filter((one) => one.count).map((one) => `${one.label}: ${one.count}`).join(', ');
  return svg('svg', {class: 'histogram', viewBox: `0 0 ${kWidth} ${kHeight}`, role: 'img', 'aria-label': `Instances by distance. ${words || 'None.'}`}, base, limit, ...marks);
}

const kNames: Record<string, string> = {bound: 'by the rounding bound', mad: 'by mean difference', class: 'by class rank'};

export function histograms(report: Report): HTMLElement {
  const shown = report.pairs.filter((pair) => pair.pattern.length && pair.instances > 0);
  const lead = 'How many instances lie how far apart. Right of the dashed line is beyond the threshold, striped. Inconsistencies of the same pattern count as one.';
  if (!shown.length) return section('distances', 'Distances', '', empty('No instance was compared.'));
  return section('distances', 'Distances', lead, h('div', {class: 'charts'}, ...shown.map((pair) =>
    h('figure', {class: 'card'}, h('figcaption', {}, h('strong', {}, `${pair.a} | ${pair.b}`),
      h('span', {class: 'muted'}, `${kNames[pair.metric] ?? pair.metric}, ${counted(pair.instances, 'instance')}`)), chart(binsOf(pair))))));
}
