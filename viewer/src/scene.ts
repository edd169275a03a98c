// Draws the part of a laid-out map that is in view, as SVG.
import {type LocalisationMap} from './data';
import {svg} from './dom';
import {counted, shortened} from './format';
import {type Box, type Line, type Scene, kLongestLabel} from './layout';
import {type Verdict, isSuspect, kNotJudged, worse} from './verdict';

export interface View {
  x: number; // of the map, at the left upper corner of the window
  y: number;
  scale: number;
}

const kMargin = 200; // pixels around the window that are drawn as well
const kCorner = 7;

function pathOf(points: [number, number][]): string {
  if (points.length < 2) return '';
  const [first, ...rest] = points as [[number, number], ...[number, number][]];
  let path = `M${first[0]},${first[1]}`;
  rest.forEach((point, i) => {
    const before = points[i] as [number, number], after = rest[i + 1];
    if (!after) {
      path += `L${point[0]},${point[1]}`;
      return;
    }
    const near = (other: [number, number]): [number, number] => {
      const dx = other[0] - point[0], dy = other[1] - point[1], length = Math.hypot(dx, dy) || 1;
      const part = Math.min(kCorner, length / 2) / length;
      return [point[0] + dx * part, point[1] + dy * part];
    };
    const [a, b] = [near(before), near(after)];
    path += `L${a[0]},${a[1]}Q${point[0]},${point[1]} ${b[0]},${b[1]}`;
  });
  return path;
}

interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

function areaOf(line: Line): Area {
  const xs = line.points.map((one) => one[0]), ys = line.points.map((one) => one[1]);
  return {left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys)};
}

function meets(area: Area, window: Area): boolean {
  return area.left <= window.right && area.right >= window.left && area.top <= window.bottom && area.bottom >= window.top;
}

export class SceneView {
  readonly root = svg('g', {class: 'scene'});
  private readonly lineLayer = svg('g', {class: 'lines', 'aria-hidden': 'true'});
  private readonly openLayer = svg('g', {class: 'opens'});
  private readonly boxLayer = svg('g', {class: 'boxes'});
  private scene: Scene = {boxes: new Map(), lines: [], width: 0, height: 0};
  private areas: Area[] = [];
  private drawnBoxes = new Map<string, SVGElement>();
  private drawnLines = new Map<number, SVGElement>();
  private verdicts: Verdict[] = [];
  private highlighted: boolean[] = [];
  private selected: string | null = null;

  constructor(private readonly map: LocalisationMap) {
    this.root.append(this.openLayer, this.lineLayer, this.boxLayer);
  }

  show(scene: Scene): void {
    this.scene = scene;
    this.areas = scene.lines.map(areaOf);
    this.clear();
  }

  paint(verdicts: Verdict[], highlighted: boolean[]): void {
    this.verdicts = verdicts;
    this.highlighted = highlighted;
    this.clear();
  }

  select(id: string | null): void {
    if (this.selected !== null) this.drawnBoxes.get(this.selected)?.classList.remove('selected');
    this.selected = id;
    if (id !== null) this.drawnBoxes.get(id)?.classList.add('selected');
    for (const [i, element] of this.drawnLines) element.classList.toggle('near', this.touches(i));
  }

  // Adds what has come into view and drops what has left it.
  draw(view: View, width: number, height: number): void {
    this.root.setAttribute('transform', `scale(${view.scale}) translate(${-view.x},${-view.y})`);
    this.root.classList.toggle('far', view.scale < 0.42);
    const margin = kMargin / view.scale;
    const window = {left: view.x - margin, top: view.y - margin, right: view.x + width / view.scale + margin, bottom: view.y + height / view.scale + margin};
    for (const [id, box] of this.scene.boxes) {
      const inside = meets({left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height}, window);
      this.keep(this.drawnBoxes, id, inside, () => (box.open ? this.openLayer : this.boxLayer).appendChild(this.box(box)));
    }
    this.areas.forEach((area, i) => {
      this.keep(this.drawnLines, i, meets(area, window), () => this.lineLayer.appendChild(this.line(i)));
    });
  }

  element(id: string): SVGElement | undefined {
    return this.drawnBoxes.get(id);
  }

  verdictOf(box: Box): Verdict {
    const nodes = typeof box.member === 'number' ? [box.member] : box.member.nodes;
    return nodes.map((node) => this.verdicts[node] ?? kNotJudged).reduce(worse, kNotJudged);
  }

  private clear(): void {
    for (const layer of [this.openLayer, this.lineLayer, this.boxLayer]) layer.replaceChildren();
    this.drawnBoxes.clear();
    this.drawnLines.clear();
  }

  private keep<K>(drawn: Map<K, SVGElement>, key: K, wanted: boolean, make: () => SVGElement): void {
    const element = drawn.get(key);
    if (wanted && !element) drawn.set(key, make());
    if (!wanted && element) {
      element.remove();
      drawn.delete(key);
    }
  }

  private touches(i: number): boolean {
    const line = this.scene.lines[i];
    return this.selected !== null && (line?.from === this.selected || line?.to === this.selected);
  }

  private line(i: number): SVGElement {
    const line = this.scene.lines[i] as Line;
    return svg('path', {class: `line${this.touches(i) ? ' near' : ''}${line.count > 1 ? ' many' : ''}`, d: pathOf(line.points), 'marker-end': 'url(#arrow)'});
  }

  private box(box: Box): SVGElement {
    const verdict = this.verdictOf(box);
    const kind = box.open ? 'open' : typeof box.member === 'number' ? 'node' : 'group';
    const element = svg('g', {
      class: `box ${kind} ${verdict.tone} ${verdict.name.replace(' ', '-')}${box.id === this.selected ? ' selected' : ''}`,
      transform: `translate(${box.x},${box.y})`, 'data-id': box.id, role: 'button', tabindex: -1,
      'aria-label': this.label(box, verdict),
    });
    if (kind === 'group') element.append(svg('rect', {class: 'back', x: 5, y: 5, width: box.width, height: box.height, rx: 9}));
    element.append(svg('rect', {class: 'frame', width: box.width, height: box.height, rx: kind === 'open' ? 12 : 9}));
    if (kind === 'open') this.fillOpen(element, box);
    else this.fillClosed(element, box, verdict);
    return element;
  }

  private label(box: Box, verdict: Verdict): string {
    if (typeof box.member !== 'number') return `Group ${box.member.title}, ${counted(box.member.nodes.length, 'node')}, ${verdict.name}, ${box.open ? 'open' : 'closed'}`;
    const node = this.map.nodes[box.member];
    return `${node?.op} ${shortened(node?.name ?? '', 80)}, ${verdict.name}`;
  }

  private fillOpen(element: SVGElement, box: Box): void {
    const title = typeof box.member === 'number' ? '' : box.member.title;
    element.append(svg('rect', {class: 'header', x: 0.5, y: 0.5, width: box.width - 1, height: 33, rx: 12}),
      svg('text', {class: 'title', x: 16, y: 22}, shortened(title, Math.max(6, Math.floor(box.width / 9)))),
      svg('text', {class: 'toggle', x: box.width - 22, y: 22}, '−'));
  }

  private fillClosed(element: SVGElement, box: Box, verdict: Verdict): void {
    const middle = box.height / 2;
    element.append(svg('circle', {class: 'disc', cx: 22, cy: middle, r: 11}), svg('text', {class: 'sign', x: 22, y: middle + 4.5}, verdict.sign));
    if (typeof box.member === 'number') {
      const node = this.map.nodes[box.member];
      element.append(svg('text', {class: 'op', x: 42, y: 19.5}, (node?.op ?? '').slice(0, kLongestLabel)), svg('text', {class: 'name', x: 42, y: 35}, shortened(node?.name ?? '', kLongestLabel)));
      if (this.highlighted[box.member]) element.append(svg('text', {class: 'rising', x: box.width - 14, y: 16}, '▲'));
      element.append(svg('title', {}, `${node?.op} ${shortened(node?.name ?? '', 300)}: ${verdict.name}`));
      return;
    }
    const suspects = box.member.nodes.filter((node) => isSuspect(this.verdicts[node] ?? kNotJudged)).length;
    const note = counted(box.member.nodes.length, 'node') + (suspects ? `, ${suspects} suspect` : '');
    element.append(svg('text', {class: 'op', x: 42, y: 19.5}, shortened(box.member.title, kLongestLabel)), svg('text', {class: 'name', x: 42, y: 35}, note), svg('text', {class: 'toggle', x: box.width - 16, y: 19.5}, '+'));
  }
}
