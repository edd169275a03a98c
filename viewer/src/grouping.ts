// Groups: how a large network becomes a map with few enough boxes to read.
import {type LocalisationMap, type MapNode} from './data';

export interface Group {
  id: string;
  title: string;
  parent: Group | null;
  members: Member[];
  nodes: number[]; // all inside, in order of execution
}
export type Member = number | Group;

export const kFlatUpTo = 120; // nodes that are drawn without any groups
export const kMostMembers = 60; // of a group, before it is cut into runs

// The scopes of a node in the user's program: as the exporter has noted them, else by its name.
export function scopesOf(node: MapNode, texts: string[]): string[] {
  const noted = node.origin?.find(([key]) => key === 'pkg.torch.onnx.name_scopes');
  if (noted) {
    const scopes = [...(texts[noted[1]] ?? '').matchAll(/'([^']*)'|"([^"]*)"/g)].map((one) => one[1] ?? one[2] ?? '');
    return scopes.slice(0, -1).filter((one) => one !== '');
  }
  const parts = node.name.split('/').filter((part) => part !== '');
  return parts.slice(0, -1).map((_, i) => parts.slice(0, i + 1).join('/'));
}

function makeGroup(id: string, title: string, parent: Group | null): Group {
  return {id, title, parent, members: [], nodes: []};
}

function firstOf(member: Member): number {
  return typeof member === 'number' ? member : (member.nodes[0] ?? 0);
}

function nodesOf(member: Member): number[] {
  return typeof member === 'number' ? [member] : member.nodes;
}

// What is left of a scope's name behind its parent's.
function titleOf(scope: string, parent: string): string {
  return scope.startsWith(parent) ? scope.slice(parent.length).replace(/^[./]/, '') || scope : scope;
}

function scopeTree(map: LocalisationMap): Group {
  const root = makeGroup('', '', null);
  const groups = new Map<string, Group>();
  map.nodes.forEach((node, index) => {
    let group = root, parent = '';
    for (const scope of scopesOf(node, map.texts)) {
      let next = groups.get(scope);
      if (!next) {
        next = makeGroup(`g:${scope}`, titleOf(scope, parent), group);
        groups.set(scope, next);
        group.members.push(next);
      }
      group = next;
      parent = scope;
    }
    group.members.push(index);
    for (let up: Group | null = group; up; up = up.parent) up.nodes.push(index);
  });
  return root;
}

// A group of one is no group, and a group in a group of its own is one.
function simplify(group: Group): void {
  group.members = group.members.map((member) => {
    if (typeof member === 'number') return member;
    simplify(member);
    if (member.members.length !== 1) return member;
    const only = member.members[0] as Member;
    if (typeof only === 'number') return only;
    only.title = `${member.title} / ${only.title}`;
    only.parent = group;
    return only;
  });
  group.members.sort((a, b) => firstOf(a) - firstOf(b));
}

// Runs in order of execution have edges in one direction only, so that they lie one below another.
function cut(group: Group): void {
  for (const member of group.members) if (typeof member !== 'number') cut(member);
  const count = group.members.length;
  if (count <= kMostMembers) return;
  const levels = Math.ceil(Math.log(count) / Math.log(kMostMembers));
  const size = Math.ceil(count ** (1 / levels)); // as wide at every level
  const runs: Member[] = [];
  for (let start = 0; start < count; start += size) {
    const members = group.members.slice(start, start + size);
    const nodes = members.flatMap(nodesOf).sort((a, b) => a - b);
    const run = makeGroup(`${group.id}#${start}`, `nodes ${(nodes[0] ?? 0) + 1}–${(nodes[nodes.length - 1] ?? 0) + 1}`, group);
    run.members = members;
    run.nodes = nodes;
    for (const member of members) if (typeof member !== 'number') member.parent = run;
    runs.push(run);
  }
  group.members = runs;
  cut(group);
}

export function groupNodes(map: LocalisationMap): Group {
  if (map.nodes.length <= kFlatUpTo) {
    const root = makeGroup('', '', null);
    root.members = map.nodes.map((_, i) => i);
    root.nodes = map.nodes.map((_, i) => i);
    return root;
  }
  const root = scopeTree(map);
  simplify(root);
  cut(root);
  return root;
}

export function allGroups(root: Group): Group[] {
  return root.members.flatMap((member) => (typeof member === 'number' ? [] : [member, ...allGroups(member)]));
}

// The group that each node lies in directly.
export function homes(root: Group): Map<number, Group> {
  const found = new Map<number, Group>();
  for (const group of [root, ...allGroups(root)]) {
    for (const member of group.members) if (typeof member === 'number') found.set(member, group);
  }
  return found;
}

export interface Link {
  from: string;
  to: string;
  count: number;
}

export function boxId(member: Member): string {
  return typeof member === 'number' ? `n${member}` : member.id;
}

// The edges between what is visible when the groups in `open` are open.
export function visibleLinks(map: LocalisationMap, root: Group, open: Set<string>): Link[] {
  const shown = new Map<number, string>();
  const visit = (group: Group) => {
    for (const member of group.members) {
      if (typeof member === 'number') shown.set(member, boxId(member));
      else if (open.has(member.id)) visit(member);
      else for (const node of member.nodes) shown.set(node, member.id);
    }
  };
  visit(root);
  const links = new Map<string, Link>();
  map.nodes.forEach((node, index) => {
    const to = shown.get(index) as string;
    for (const input of node.inputs) {
      const from = input.node === undefined ? undefined : shown.get(input.node);
      if (from === undefined || from === to) continue;
      const key = `${from}\n${to}`;
      const link = links.get(key);
      if (link) link.count += 1;
      else links.set(key, {from, to, count: 1});
    }
  });
  return [...links.values()];
}
