// The localisation map: the graph with zoom, pan, search and a panel for the chosen node.
import {type Report, isLint} from './data';
import {h, section, svg} from './dom';
import {counted} from './format';
import {type Group, allGroups, groupNodes, homes} from './grouping';
import {type Box, LayoutEngine, type Scene} from './layout';
import {nodePanel, overviewPanel} from './node';
import {Profile} from './profile';
import {SceneView} from './scene';
import {SearchBox} from './searchbox';
import {Viewport} from './viewport';
import {type Verdict, badge, isSuspect, kLegend, nodeVerdicts, verdictOf} from './verdict';

const kReadable = 0.62; // the smallest scale at which names can be read

export class MapView {
  readonly element: HTMLElement;
  private readonly canvas = svg('svg', {
    class: 'canvas',
    tabindex: 0,
    role: 'group',
    'aria-label':
      'Graph of the network. Arrow keys step through the nodes, plus and minus zoom, 0 shows all.',
  });
  private readonly panel = h('aside', {class: 'panel', 'aria-label': 'Chosen node', tabindex: -1});
  private readonly status = h('p', {class: 'map-status', role: 'status'});
  private readonly engine = new LayoutEngine();
  private readonly scene: SceneView;
  private readonly port: Viewport;
  private readonly profile: Profile;
  private readonly search: SearchBox;
  private readonly root: Group;
  private readonly home: Map<number, Group>;
  private open = new Set<string>();
  private laid: Scene | null = null;
  private pair = 0;
  private verdicts: Verdict[] = [];
  private chosen = -1;
  private request = 0;

  constructor(private readonly report: Report) {
    this.root = groupNodes(report.map);
    this.home = homes(this.root);
    this.scene = new SceneView(report.map);
    this.port = new Viewport(this.canvas, (view, width, height) =>
      this.scene.draw(view, width, height),
    );
    this.profile = new Profile(report, (node) => void this.show(node));
    this.search = new SearchBox(
      report,
      () => this.verdicts,
      (node) => void this.show(node),
    );
    this.pair = this.firstPair();
    this.canvas.append(
      svg(
        'defs',
        {},
        svg(
          'marker',
          {
            id: 'arrow',
            viewBox: '0 0 8 8',
            refX: 7,
            refY: 4,
            markerWidth: 9,
            markerHeight: 9,
            markerUnits: 'userSpaceOnUse',
            orient: 'auto-start-reverse',
          },
          svg('path', {d: 'M0,0.8L7.5,4L0,7.2z'}),
        ),
      ),
      this.scene.root,
    );
    this.element = this.build();
    this.listen();
    this.paint();
  }

  // Lays out and draws for the first time; the page is in place by then.
  async start(): Promise<void> {
    this.openAtFirst();
    await this.relayout();
    const suspect = this.verdicts.findIndex(isSuspect);
    if (suspect >= 0) this.choose(suspect);
    this.fit();
    if (this.port.view.scale < kReadable) this.center(Math.max(0, suspect), 0.85);
  }

  async show(node: number): Promise<void> {
    if (!this.report.map.nodes[node]) return;
    let changed = false;
    for (
      let group: Group | null = this.home.get(node) ?? null;
      group?.parent;
      group = group.parent
    ) {
      if (!this.open.has(group.id)) changed = true;
      this.open.add(group.id);
    }
    this.choose(node);
    if (changed) await this.relayout();
    this.center(node, Math.max(this.port.view.scale, kReadable));
  }

  // The pair with something to show: one that disagrees and has rates, else one that has rates.
  private firstPair(): number {
    const {map, pairs} = this.report;
    const rated = new Set(map.nodes.flatMap((node) => (node.rates ?? []).map((one) => one.pair)));
    const apart = (i: number) =>
      pairs.some(
        (one) => one.inconsistent && one.a === map.pairs[i]?.[0] && one.b === map.pairs[i]?.[1],
      );
    const known = map.pairs.map((_, i) => i).filter((i) => rated.has(i));
    return known.find(apart) ?? known[0] ?? 0;
  }

  private openAtFirst(): void {
    const first = this.verdicts.findIndex(isSuspect);
    for (let group = this.home.get(first); group?.parent; group = group.parent)
      this.open.add(group.id);
    // A single group that holds everything says nothing.
    let top = this.root;
    while (top.members.length === 1 && typeof top.members[0] !== 'number') {
      top = top.members[0] as Group;
      this.open.add(top.id);
    }
  }

  private build(): HTMLElement {
    const {map} = this.report;
    const button = (label: string, sign: string, act: () => void) =>
      h(
        'button',
        {type: 'button', class: 'icon', 'aria-label': label, title: label, click: act},
        sign,
      );
    const groups = allGroups(this.root);
    const pairs = h(
      'select',
      {
        'aria-label': 'Pair of backends',
        change: (event: Event) => {
          this.pair = Number((event.target as HTMLSelectElement).value);
          this.paint();
        },
      },
      ...map.pairs.map(([a, b], i) =>
        h('option', {value: i, selected: i === this.pair}, `${a} | ${b}`),
      ),
    );
    const next = h(
      'button',
      {
        type: 'button',
        class: 'button',
        title: 'Go to the next suspect',
        click: () => this.nextSuspect(),
      },
      'Next suspect',
    );
    next.disabled = !nodeVerdicts(this.report).some(isSuspect);
    const tools = h(
      'div',
      {class: 'toolbar', role: 'toolbar', 'aria-label': 'Map'},
      this.search.element,
      map.pairs.length > 1 ? pairs : null,
      next,
      groups.length
        ? h(
            'button',
            {type: 'button', class: 'button', click: () => void this.openAll(groups)},
            'Open all',
          )
        : null,
      groups.length
        ? h(
            'button',
            {type: 'button', class: 'button', click: () => void this.closeAll()},
            'Close all',
          )
        : null,
    );
    const zoom = h(
      'div',
      {class: 'zoom'},
      button('Zoom in', '+', () => this.port.zoom(1.35)),
      button('Zoom out', '−', () => this.port.zoom(1 / 1.35)),
      button('Show all', '⤢', () => this.fit()),
    );
    const legend = h(
      'ul',
      {class: 'legend', 'aria-label': 'Signs'},
      ...kLegend.map((name) => h('li', {}, badge(verdictOf(name)))),
      h(
        'li',
        {},
        h('span', {class: 'rising', 'aria-hidden': 'true'}, '▲'),
        'rate in the upper quartile',
      ),
    );
    const lead = isLint(this.report)
      ? 'Every node of the model, with the range of what it gives.'
      : 'Every node of the model. Each is judged by its own rounding bound, on the inputs that its ' +
        'backend really gave it, so that an error shows where it starts and not where it ends.';
    return section(
      'map',
      'Localisation map',
      lead,
      this.profile.element,
      tools,
      h(
        'div',
        {class: 'map-frame'},
        h('div', {class: 'map-window'}, this.canvas, zoom, this.status),
        this.panel,
      ),
      legend,
    );
  }

  private listen(): void {
    this.canvas.addEventListener(
      'wheel',
      (event) => {
        event.preventDefault();
        const area = this.canvas.getBoundingClientRect();
        this.port.zoom(
          Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)),
          event.clientX - area.left,
          event.clientY - area.top,
        );
      },
      {passive: false},
    );
    this.canvas.addEventListener('pointerdown', (event) => this.drag(event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.port.redraw()).observe(this.canvas);
  }

  private key(event: KeyboardEvent): void {
    const step = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
    const last = this.report.map.nodes.length - 1;
    if (step !== undefined) void this.show(Math.min(last, Math.max(0, this.chosen + step)));
    else if (event.key === '+' || event.key === '=') this.port.zoom(1.35);
    else if (event.key === '-') this.port.zoom(1 / 1.35);
    else if (event.key === '0') this.fit();
    else if (event.key === 'n') this.nextSuspect();
    else if (event.key === '/') this.search.input.focus();
    else if (event.key === 'Escape') this.choose(-1);
    else return;
    event.preventDefault();
  }

  // A press that moves pans; one that does not is a click on what lies there.
  private drag(event: PointerEvent): void {
    if (event.button !== 0) return;
    const start = {x: event.clientX, y: event.clientY, view: this.port.view};
    const target = (event.target as Element).closest('[data-id]')?.getAttribute('data-id') ?? null;
    let moved = false;
    this.canvas.setPointerCapture(event.pointerId);
    const move = (now: PointerEvent) => {
      const dx = now.clientX - start.x,
        dy = now.clientY - start.y;
      moved ||= Math.hypot(dx, dy) > 4;
      if (!moved) return;
      const {x, y, scale} = start.view;
      this.port.move(x - dx / scale, y - dy / scale);
      this.canvas.classList.add('panning');
    };
    const end = () => {
      this.canvas.removeEventListener('pointermove', move);
      this.canvas.classList.remove('panning');
      if (!moved && target !== null) this.press(target);
    };
    this.canvas.addEventListener('pointermove', move);
    this.canvas.addEventListener('pointerup', end, {once: true});
    this.canvas.addEventListener('pointercancel', end, {once: true});
  }

  private press(id: string): void {
    const box = this.laid?.boxes.get(id);
    if (!box) return;
    if (typeof box.member === 'number') this.choose(box.member);
    else void this.toggle(box);
  }

  // Opens or closes a group, and keeps it where it was on the screen.
  private async toggle(box: Box): Promise<void> {
    const {view} = this.port;
    const before = {x: box.x + box.width / 2 - view.x, y: box.y - view.y};
    if (!this.open.delete(box.id)) this.open.add(box.id);
    await this.relayout();
    const after = this.laid?.boxes.get(box.id);
    if (!after) return;
    this.port.move(after.x + after.width / 2 - before.x, after.y - before.y);
  }

  private async openAll(groups: Group[]): Promise<void> {
    groups.forEach((group) => this.open.add(group.id));
    await this.relayout();
    if (this.chosen >= 0) this.center(this.chosen, this.port.view.scale);
    else this.fit();
  }

  private async closeAll(): Promise<void> {
    this.open.clear();
    await this.relayout();
    this.fit();
  }

  private nextSuspect(): void {
    const suspects = this.verdicts.flatMap((verdict, i) => (isSuspect(verdict) ? [i] : []));
    const next = suspects.find((i) => i > this.chosen) ?? suspects[0];
    if (next !== undefined) void this.show(next);
  }

  private choose(node: number): void {
    this.chosen = node;
    this.scene.select(node < 0 ? null : `n${node}`);
    this.profile.select(node);
    const actions = {show: (index: number) => void this.show(index), close: () => this.choose(-1)};
    this.panel.replaceChildren(
      node < 0
        ? overviewPanel(this.report, this.verdicts, actions)
        : nodePanel(this.report, node, this.verdicts[node] as Verdict, this.pair, actions),
    );
    this.panel.scrollTop = 0;
  }

  // Everything that depends on the pair.
  private paint(): void {
    const names = this.report.map.pairs[this.pair];
    const only = new Set(names ?? this.report.backends.map((one) => one.name));
    this.verdicts = nodeVerdicts(this.report, names ? only : undefined);
    this.scene.paint(
      this.verdicts,
      this.report.map.nodes.map(
        (node) => node.rates?.some((one) => one.pair === this.pair && one.highlighted) ?? false,
      ),
    );
    this.profile.paint(this.pair, only, this.verdicts);
    this.choose(this.chosen);
    this.port.redraw();
  }

  private async relayout(): Promise<void> {
    const mine = ++this.request;
    this.status.textContent = 'Laying out…';
    this.canvas.setAttribute('aria-busy', 'true');
    const laid = await this.engine.layout(this.report.map, this.root, this.open);
    if (mine !== this.request) return;
    this.laid = laid;
    this.scene.show(laid);
    this.scene.select(this.chosen < 0 ? null : `n${this.chosen}`);
    this.canvas.removeAttribute('aria-busy');
    const shown = [...laid.boxes.values()].filter((box) => !box.open).length;
    const all = this.report.map.nodes.length;
    const boxes = shown < all ? ` in ${counted(shown, 'box', 'boxes')}` : '';
    this.status.textContent = counted(all, 'node') + boxes;
    this.port.redraw();
  }

  private fit(): void {
    if (this.laid) this.port.fit({x: 0, y: 0, width: this.laid.width, height: this.laid.height});
  }

  private center(node: number, scale: number): void {
    let box = this.laid?.boxes.get(`n${node}`);
    for (let group = this.home.get(node) ?? null; !box && group; group = group.parent) {
      box = this.laid?.boxes.get(group.id);
    }
    if (box) this.port.center(box, scale);
  }
}
