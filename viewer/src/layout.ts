// Layout: elkjs in a worker of its own, so that the page answers while it thinks.
import ELK, {type ElkExtendedEdge, type ElkNode} from 'elkjs/lib/elk-api';
import {type LocalisationMap} from './data';
import {shortened} from './format';
import {type Group, type Link, type Member, boxId, visibleLinks} from './grouping';

export interface Box {
  id: string;
  x: number;
  y: number;
  width: number;
  height: number;
  depth: number;
  member: Member;
  open: boolean;
}

export interface Line {
  from: string;
  to: string;
  count: number;
  points: [number, number][];
}

export interface Scene {
  boxes: Map<string, Box>;
  lines: Line[];
  width: number;
  height: number;
}

const kNodeHeight = 46, kHeader = 34, kGap = 26;
export const kLongestLabel = 24;

const kOptions: Record<string, string> = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.layered.spacing.nodeNodeBetweenLayers': '30',
  'elk.spacing.nodeNode': '24',
  'elk.spacing.edgeNode': '14',
  'elk.spacing.componentComponent': '40',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.layered.nodePlacement.favorStraightEdges': 'true',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
};
// Beyond this many boxes speed is worth more than a bend.
const kLarge = 600;
const kFast: Record<string, string> = {'elk.layered.thoroughness': '1', 'elk.layered.layering.strategy': 'LONGEST_PATH', 'elk.edgeRouting': 'POLYLINE'};

function widthOf(map: LocalisationMap, member: Member): number {
  const lines = typeof member === 'number'
    ? [(map.nodes[member]?.op ?? '').slice(0, kLongestLabel), shortened(map.nodes[member]?.name ?? '', kLongestLabel)]
    : [shortened(member.title, kLongestLabel), '000 nodes'];
  return Math.round(Math.max(96, ...lines.map((line, i) => line.length * (i ? 6.3 : 7.6))) + 54);
}

interface Drawn {
  graph: ElkNode;
  members: Map<string, {member: Member; open: boolean; depth: number}>;
  links: Link[];
}

export function toElk(map: LocalisationMap, root: Group, open: Set<string>): Drawn {
  const members: Drawn['members'] = new Map();
  const make = (member: Member, depth: number): ElkNode => {
    const id = boxId(member);
    const isOpen = typeof member !== 'number' && open.has(member.id);
    members.set(id, {member, open: isOpen, depth});
    if (!isOpen) return {id, width: widthOf(map, member), height: kNodeHeight};
    return {
      id,
      layoutOptions: {'elk.padding': `[top=${kHeader + 12},left=18,bottom=18,right=18]`},
      children: (member as Group).members.map((one) => make(one, depth + 1)),
    };
  };
  const children = root.members.map((one) => make(one, 0));
  const links = visibleLinks(map, root, open);
  const edges: ElkExtendedEdge[] = links.map((link, i) => ({id: `e${i}`, sources: [link.from], targets: [link.to]}));
  const layoutOptions = members.size > kLarge ? {...kOptions, ...kFast} : kOptions;
  return {graph: {id: 'root', layoutOptions, children, edges}, members, links};
}

export function fromElk(drawn: Drawn, laid: ElkNode): Scene {
  const boxes = new Map<string, Box>();
  const visit = (node: ElkNode) => {
    for (const child of node.children ?? []) {
      const known = drawn.members.get(child.id);
      if (!known) continue;
      boxes.set(child.id, {id: child.id, x: child.x ?? 0, y: child.y ?? 0, width: child.width ?? 0, height: child.height ?? 0, ...known});
      visit(child);
    }
  };
  visit(laid);
  const edges = new Map((laid.edges ?? []).map((edge) => [edge.id, edge]));
  const lines = drawn.links.map((link, i): Line => {
    const points: [number, number][] = [];
    for (const part of edges.get(`e${i}`)?.sections ?? []) {
      for (const point of [part.startPoint, ...(part.bendPoints ?? []), part.endPoint]) points.push([point.x, point.y]);
    }
    return {...link, points};
  });
  return {boxes, lines, width: laid.width ?? 0, height: laid.height ?? 0};
}

// Without the engine: one column, in order of execution.
export function stacked(map: LocalisationMap, root: Group, open: Set<string>): Scene {
  const drawn = toElk(map, root, open);
  const boxes = new Map<string, Box>();
  let y = 0, widest = 0;
  for (const [id, known] of drawn.members) {
    if (known.open) continue;
    const width = widthOf(map, known.member);
    boxes.set(id, {id, x: 0, y, width, height: kNodeHeight, ...known});
    widest = Math.max(widest, width);
    y += kNodeHeight + kGap;
  }
  const lines = drawn.links.flatMap((link): Line[] => {
    const from = boxes.get(link.from), to = boxes.get(link.to);
    if (!from || !to) return [];
    return [{...link, points: [[from.x + from.width / 2, from.y + from.height], [to.x + to.width / 2, to.y]]}];
  });
  return {boxes, lines, width: widest, height: y};
}

async function engineUrl(): Promise<string> {
  const packed = Uint8Array.from(atob(document.getElementById('layout-engine')?.textContent ?? ''), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const program = await new Response(stream).blob();
  return URL.createObjectURL(new Blob([program], {type: 'text/javascript'}));
}

export class LayoutEngine {
  private engine: Promise<InstanceType<typeof ELK>> | null = null;

  private start(): Promise<InstanceType<typeof ELK>> {
    this.engine ??= engineUrl().then((url) => new ELK({workerFactory: () => new Worker(url)}));
    return this.engine;
  }

  async layout(map: LocalisationMap, root: Group, open: Set<string>): Promise<Scene> {
    try {
      const engine = await this.start();
      const drawn = toElk(map, root, open);
      return fromElk(drawn, await engine.layout(drawn.graph));
    } catch (failure) {
      console.warn('the layout engine failed, nodes are stacked', failure);
      return stacked(map, root, open);
    }
  }
}
