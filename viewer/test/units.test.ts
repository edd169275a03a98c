// The modules that need no page.
import {describe, expect, it} from 'vitest';
import {type Finding, type Pair, Unreadable, passesOf, readReport, toNumber} from '../src/data';
import {counted, list, number, shortened, times} from '../src/format';
import {allGroups, groupNodes, homes, kMostMembers, scopesOf, visibleLinks} from '../src/grouping';
import {binsOf} from '../src/histogram';
import {largestCell} from '../src/image';
import {fromElk, stacked, toElk} from '../src/layout';
import {framesOf, isLibrary, originOf} from '../src/origin';
import {sortedPairs} from '../src/pairs';
import {excessOf, logHeight} from '../src/profile';
import {SearchIndex} from '../src/search';
import {sentenceOf} from '../src/summary';
import {nodeVerdicts, verdictOf} from '../src/verdict';
import {chain} from './documents';

describe('the document', () => {
  it('is read with its numbers that JSON lacks', () => {
    const report = readReport(JSON.stringify(chain(3, 1)));
    expect(toNumber(report.pairs[0]?.max)).toBe(Infinity);
    expect(toNumber('NaN')).toBeNaN();
  });
  it('is refused when it is damaged, newer or incomplete', () => {
    expect(() => readReport('{"schema"')).toThrow(/damaged/);
    expect(() => readReport('{}')).toThrow(/no schema/);
    expect(() => readReport('{"schema": 2}')).toThrow(/version 2/);
    expect(() => readReport('{"schema": 1}')).toThrow(Unreadable);
  });
  it('names the passes of a finding in either form', () => {
    expect(passesOf({pass: 'Pad_Fusion'} as Finding)).toEqual(['Pad_Fusion']);
    expect(passesOf({passes: ['A', 'B']} as Finding)).toEqual(['A', 'B']);
    expect(passesOf({} as Finding)).toEqual([]);
  });
});

describe('numbers and names', () => {
  it('are short and exact about what is not finite', () => {
    expect(number(0.12345678)).toBe('0.1235');
    expect(number(-1e-9)).toBe('−1.00e−9');
    expect(number('Infinity')).toBe('∞');
    expect(number('NaN')).toBe('NaN');
    expect(number(undefined)).toBe('–');
    expect(times(0)).toBe('equal');
    expect(times('Infinity')).toBe('∞ ×');
  });
  it('keep both ends of a long name', () => {
    expect(shortened('abcdefghijkl', 6)).toHaveLength(6);
    expect(shortened('abcdefghijkl', 6)).toMatch(/^ab….*l$/);
    expect(shortened('short', 6)).toBe('short');
    expect(counted(1, 'node')).toBe('1 node');
    expect(counted(2000, 'node')).toBe('2,000 nodes');
    expect(list(['a', 'b', 'c'])).toBe('a, b and c');
  });
});

describe('groups', () => {
  it('are not needed for a small network', () => {
    const {map} = chain(10, 4);
    expect(allGroups(groupNodes(map))).toHaveLength(0);
  });
  it.each([true, false])('hold every node once and few members each (scopes: %s)', (scoped) => {
    const {map} = chain(2000, 4, scoped);
    const root = groupNodes(map);
    const groups = [root, ...allGroups(root)];
    expect(homes(root).size).toBe(2000);
    expect(Math.max(...groups.map((group) => group.members.length))).toBeLessThanOrEqual(kMostMembers);
    expect(root.members.length).toBeGreaterThan(10);
    for (const group of allGroups(root)) {
      expect(group.members.length).toBeGreaterThan(1);
      expect(group.parent?.members).toContain(group);
    }
  });
  it('come from the notes of an exporter where there are some', () => {
    const node = {name: 'node_1', op: 'Conv', inputs: [], outputs: [], origin: [['pkg.torch.onnx.name_scopes', 0]] as [string, number][]};
    expect(scopesOf(node, ["['', 'layer1', 'layer1.0', 'conv2d']"])).toEqual(['layer1', 'layer1.0']);
    expect(scopesOf({...node, origin: []}, [])).toEqual([]);
  });
  it('join the edges between them', () => {
    const {map} = chain(200, 4);
    const root = groupNodes(map);
    const closed = visibleLinks(map, root, new Set());
    expect(closed.every((link) => link.from !== link.to)).toBe(true);
    expect(closed.length).toBeLessThan(20);
    const open = visibleLinks(map, root, new Set(allGroups(root).map((group) => group.id)));
    expect(open).toHaveLength(199 + 20);
  });
});

describe('layout', () => {
  it('gives every visible member a box, and keeps the order without an engine', () => {
    const {map} = chain(200, 4);
    const root = groupNodes(map);
    const open = new Set([allGroups(root)[0]?.id ?? '']);
    const scene = stacked(map, root, open);
    expect(scene.boxes.size).toBe(root.members.length - 1 + (allGroups(root)[0]?.members.length ?? 0));
    expect(scene.boxes.get('n0')?.y).toBeLessThan(scene.boxes.get('n1')?.y ?? 0);
  });
  it('reads what the engine answers', () => {
    const {map} = chain(2, 1);
    const drawn = toElk(map, groupNodes(map), new Set());
    const scene = fromElk(drawn, {id: 'root', width: 9, height: 8, children: [{id: 'n0', x: 1, y: 2, width: 3, height: 4}, {id: 'n1'}], edges: [{id: 'e0', sources: ['n0'], targets: ['n1'], sections: [{id: 's', startPoint: {x: 0, y: 0}, bendPoints: [{x: 1, y: 1}], endPoint: {x: 2, y: 2}}]}]});
    expect(scene.boxes.get('n0')).toMatchObject({x: 1, y: 2, member: 0, open: false});
    expect(scene.lines[0]?.points).toEqual([[0, 0], [1, 1], [2, 2]]);
  });
});

describe('verdicts', () => {
  it('are the worst of judgements and findings, by pair', () => {
    const report = chain(10, 4);
    expect(nodeVerdicts(report).map((one) => one.name).filter((name) => name === 'defect')).toHaveLength(1);
    expect(nodeVerdicts(report, new Set(['reference']))[4]?.name).toBe('not judged');
    expect(verdictOf('something new').name).toBe('something new');
  });
  it('differ in sign and not in color alone', () => {
    const signs = ['defect', 'optimiser', 'suspicious', 'difference', 'tie', 'precision', 'unsupported', 'not judged'].map((name) => verdictOf(name).sign);
    expect(new Set(signs).size).toBe(signs.length);
  });
  it('make the sentence at the top', () => {
    const report = chain(10, 4);
    expect(sentenceOf(report)).toMatchObject({tone: 'bad'});
    expect(sentenceOf(report).text).toContain('planted computes something else');
    expect(sentenceOf(report).text).toContain('op4');
    const crash = {...report, findings: [{...report.findings[0], kind: 'crash'} as Finding]};
    expect(sentenceOf(crash).text).toContain('crashed');
    const optimiser = {...report, findings: [{...report.findings[0], kind: 'optimiser', verdict: 'optimiser', passes: ['Pad_Fusion']} as Finding]};
    expect(sentenceOf(optimiser).text).toContain('Pad_Fusion');
    const apart = {...report, findings: []};
    expect(sentenceOf(apart).tone).toBe('warn');
    expect(sentenceOf({...apart, pairs: []})).toMatchObject({tone: 'good'});
  });
});

describe('charts', () => {
  it('know which bins are beyond the threshold', () => {
    const pair = chain(3, 1).pairs[1] as Pair;
    expect(binsOf(pair).map((bin) => bin.beyond)).toEqual([false, true, true, true, true]);
    expect(binsOf({...pair, metric: 'class', threshold: 8, pattern: Array(17).fill(1) as number[]}).filter((bin) => bin.beyond)).toHaveLength(8);
    expect(binsOf({...pair, metric: 'bound', pattern: [3, 1]}).map((bin) => bin.label)).toEqual(['within', 'beyond']);
  });
  it('put the worst excess of a node on a logarithmic scale', () => {
    const report = chain(10, 4);
    expect(excessOf(report, report.map.nodes[4]!, new Set(['planted']))).toBe(2e5);
    expect(excessOf(report, report.map.nodes[4]!, new Set(['reference']))).toBeNaN();
    expect([logHeight(0, -3, 3), logHeight(1, -3, 3), logHeight(Infinity, -3, 3), logHeight(NaN, -3, 3)]).toEqual([0, 0.5, 1, 0]);
  });
  it('mark the element that differs most', () => {
    expect(largestCell({pair: 0, rows: 100, columns: 200, height: 50, width: 50, largest: 1, at: 200 * 99 + 199, cells: ''})).toEqual({x: 49, y: 49});
  });
  it('sort pairs both ways', () => {
    const {pairs} = chain(3, 1);
    expect(sortedPairs(pairs, 3, true)[0]?.metric).toBe('bound');
    expect(sortedPairs(pairs, 3, false)[0]?.metric).toBe('mad');
  });
});

describe('search', () => {
  it('takes every word, and whole names first', () => {
    const report = chain(30, 4);
    const index = new SearchIndex(report.map);
    const verdicts = nodeVerdicts(report);
    expect(index.find('op1', verdicts)[0]).toBe(1);
    expect(index.find('relu op2', verdicts)).toEqual([2, 22, 26]);
    expect(index.find('defect', verdicts)).toEqual([4]);
    expect(index.find('  ', verdicts)).toEqual([]);
    expect(index.find('nothing', verdicts)).toEqual([]);
  });
});

describe('origin', () => {
  const python = 'File "train/model.py", line 21, in forward\n    x = self.norm(x)\nFile "/usr/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1, in call\n    return f(x)';
  it('reads stack traces of both exporters', () => {
    expect(framesOf(python)).toHaveLength(2);
    expect(framesOf(python)[0]).toEqual({file: 'train/model.py', line: '21', where: 'forward', code: 'x = self.norm(x)'});
    expect(framesOf('/lib/torch/functional.py(9): relu\nmodel.py(12): forward').map((one) => one.file)).toEqual(['model.py', '/lib/torch/functional.py']);
    expect(framesOf(python).map(isLibrary)).toEqual([false, true]);
  });
  it('is nothing where the file has none', () => {
    const node = {name: 'a', op: 'Relu', inputs: [], outputs: []};
    expect(originOf(node, [])).toBeNull();
    expect(originOf({...node, origin: [['pkg.torch.onnx.stack_trace', 0], ['note', 1]]}, [python, 'x'])?.other).toEqual([['note', 'x']]);
  });
});
