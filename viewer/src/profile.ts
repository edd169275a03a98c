// The whole network in one strip: every node in order of execution, by its bound and by its rate.
import {type MapNode, type Report, toNumber} from './data';
import {h, svg} from './dom';
import {number, shortened, times} from './format';
import {type Verdict, isSuspect} from './verdict';

const kWidth = 1200, kLane = 54;
const kMostMarks = 80;

// The worst multiple of its bound that a node has on the given backends; NaN where nobody knows.
export function excessOf(report: Report, node: MapNode, only: Set<string>): number {
  let worst = NaN;
  for (const output of node.outputs) {
    for (const one of output.judged ?? []) {
      if (!only.has(report.backends[one.backend]?.name ?? '')) continue;
      const excess = toNumber(one.excess);
      worst = Number.isNaN(worst) ? excess : Math.max(worst, excess);
    }
  }
  return worst;
}

export function deltaOf(node: MapNode, pair: number): number {
  return toNumber(node.rates?.find((one) => one.pair === pair)?.delta);
}

// Heights 0 … 1 on a logarithmic scale between two powers of ten.
export function logHeight(value: number, low: number, high: number): number {
  if (!(value > 0)) return 0;
  if (!Number.isFinite(value)) return 1;
  return Math.min(1, Math.max(0.03, (Math.log10(value) - low) / (high - low || 1)));
}

function bars(heights: number[], top: number, pick: (i: number) => boolean): string {
  const step = kWidth / heights.length;
  const width = Math.max(0.6, step - Math.min(2, step * 0.25));
  return heights.map((height, i) => {
    if (!(height > 0) || !pick(i)) return '';
    const size = height * (kLane - 6);
    return `M${(i * step).toFixed(2)},${top + kLane}h${width.toFixed(2)}v${(-size).toFixed(2)}h${(-width).toFixed(2)}z`;
  }).join('');
}

export class Profile {
  readonly element = h('div', {class: 'profile', tabindex: 0, role: 'slider', 'aria-label': 'All nodes in order of execution; arrow keys step through them', 'aria-valuemin': 1});
  private readonly hint = h('p', {class: 'profile-hint muted', 'aria-live': 'polite'});
  private readonly cursor = svg('line', {class: 'cursor', y1: 0, y2: 2 * kLane + 14, visibility: 'hidden'});
  private readonly count: number;
  private selected = -1;
  private describe: (i: number) => string = () => '';

  constructor(private readonly report: Report, private readonly show: (node: number) => void) {
    this.count = report.map.nodes.length;
    this.element.setAttribute('aria-valuemax', String(this.count));
    this.element.addEventListener('pointermove', (event) => this.tell(this.nodeAt(event)));
    this.element.addEventListener('pointerleave', () => this.tell(this.selected));
    this.element.addEventListener('click', (event) => this.show(this.nodeAt(event)));
    this.element.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1, PageDown: 25, PageUp: -25}[event.key];
      if (step === undefined || !this.count) return;
      event.preventDefault();
      this.show(Math.min(this.count - 1, Math.max(0, this.selected + step)));
    });
  }

  paint(pair: number, only: Set<string>, verdicts: Verdict[]): void {
    const {nodes} = this.report.map;
    const excesses = nodes.map((node) => excessOf(this.report, node, only)), deltas = nodes.map((node) => deltaOf(node, pair));
    const finite = deltas.filter((one) => one > 0 && Number.isFinite(one));
    const high = Math.log10(Math.max(1e-9, ...finite)) + 0.2;
    const byBound = excesses.map((one) => logHeight(one, -3, 3)), byDelta = deltas.map((one) => logHeight(one, high - 8, high));
    const marks = verdicts.flatMap((verdict, i) => (isSuspect(verdict) ? [this.mark(verdict, i)] : []));
    const suspect = (i: number) => isSuspect(verdicts[i] as Verdict);
    this.element.replaceChildren(
      svg('svg', {viewBox: `0 0 ${kWidth} ${2 * kLane + 14}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'},
        svg('path', {class: 'bar', d: bars(byBound, 0, (i) => !suspect(i))}), svg('path', {class: 'bar beyond', d: bars(byBound, 0, suspect)}),
        svg('line', {class: 'limit', x1: 0, x2: kWidth, y1: kLane - (kLane - 6) / 2, y2: kLane - (kLane - 6) / 2}),
        svg('path', {class: 'bar delta', d: bars(byDelta, kLane + 10, () => true)}),
        svg('line', {class: 'axis', x1: 0, x2: kWidth, y1: kLane, y2: kLane}), svg('line', {class: 'axis', x1: 0, x2: kWidth, y1: 2 * kLane + 10, y2: 2 * kLane + 10}), this.cursor),
      h('div', {class: 'profile-words', 'aria-hidden': 'true'}, ...marks.slice(0, kMostMarks), h('span', {class: 'lane first'}, 'own error, as a multiple of its rounding bound (dashed: 1 ×)'), h('span', {class: 'lane second'}, 'difference of the pair, δ')),
      this.hint);
    this.describe = (i) => {
      const node = nodes[i] as MapNode, parts = [`${i + 1}: ${node.op} ${shortened(node.name, 60)}`];
      if (!Number.isNaN(excesses[i])) parts.push(`${times(excesses[i] as number)} of its bound`);
      if (!Number.isNaN(deltas[i])) parts.push(`δ ${number(deltas[i] as number)}`);
      return parts.join(' · ');
    };
    this.tell(this.selected);
  }

  private mark(verdict: Verdict, node: number): HTMLElement {
    return h('span', {class: `mark ${verdict.tone}`, style: `left:${((node + 0.5) / this.count) * 100}%`}, verdict.sign);
  }

  select(node: number): void {
    this.selected = node;
    const x = ((node + 0.5) * kWidth) / Math.max(1, this.count);
    this.cursor.setAttribute('visibility', node < 0 ? 'hidden' : 'visible');
    this.cursor.setAttribute('x1', String(x));
    this.cursor.setAttribute('x2', String(x));
    this.element.setAttribute('aria-valuenow', String(node + 1));
    this.tell(node);
  }

  private nodeAt(event: MouseEvent): number {
    const area = this.element.getBoundingClientRect();
    return Math.min(this.count - 1, Math.max(0, Math.floor(((event.clientX - area.left) / area.width) * this.count)));
  }

  private tell(node: number): void {
    const text = node >= 0 && node < this.count ? this.describe(node) : 'Point at a bar to read it, click it to go there.';
    this.hint.textContent = text;
    this.element.setAttribute('aria-valuetext', text);
  }
}
