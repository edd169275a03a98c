// The panel beside the map: all that is known of one node.
import {type Finding, type Judged, type MapNode, type Output, type Report, passesOf, toNumber} from './data';
import {type Child, h} from './dom';
import {integer, number, shortened, times} from './format';
import {differenceImage} from './image';
import {type Frame, isLibrary, originOf} from './origin';
import {type Verdict, badge, isSuspect, verdictOf} from './verdict';

export interface PanelActions {
  show: (node: number) => void;
  close: () => void;
}

function part(title: string, ...children: Child[]): HTMLElement {
  return h('section', {class: 'panel-part'}, h('h4', {}, title), ...children);
}

function table(heads: string[], rows: Child[][], label: string): HTMLElement {
  return h('table', {class: 'table small', 'aria-label': label},
    h('thead', {}, h('tr', {}, ...heads.map((head, i) => h('th', {scope: 'col', class: i ? 'number' : ''}, head)))),
    h('tbody', {}, ...rows.map((cells) => h('tr', {}, ...cells.map((cell, i) => h(i ? 'td' : 'th', {scope: i ? undefined : 'row', class: i ? 'number' : ''}, cell))))));
}

function findingsAbout(report: Report, index: number): Finding[] {
  return report.findings.filter((_, i) => report.map.findings[i] === index);
}

function judgement(report: Report, one: Judged, finding: Finding | undefined): HTMLElement {
  const verdict = verdictOf(finding?.verdict ?? one.verdict);
  const excess = toNumber(one.excess);
  const share = Number.isFinite(excess) ? Math.min(1, excess) * 50 + (excess > 1 ? Math.min(50, Math.log10(excess) * 12) : 0) : 100;
  const passes = finding ? passesOf(finding) : [];
  return h('div', {class: `judged ${verdict.tone}`},
    h('div', {class: 'judged-head'}, h('strong', {}, report.backends[one.backend]?.name ?? '?'), badge(verdict)),
    h('div', {class: 'gauge', role: 'img', 'aria-label': `${times(one.excess)} of the rounding bound`}, h('span', {class: 'gauge-fill', style: `width:${share}%`}), h('span', {class: 'gauge-bound'})),
    h('dl', {class: 'facts'}, h('dt', {}, 'Largest difference'), h('dd', {}, number(one.difference)),
      h('dt', {}, 'Of its bound'), h('dd', {}, excess === 0 ? 'exactly equal' : `${times(one.excess)}${excess > 1 ? ', outside' : ', inside'}`),
      ...(one.variant ?? finding?.variant ? [h('dt', {}, 'Explained by'), h('dd', {}, one.variant ?? finding?.variant ?? '')] : []),
      ...(passes.length ? [h('dt', {}, passes.length > 1 ? 'Passes' : 'Pass'), h('dd', {}, passes.join(', '))] : [])),
    one.detail && excess > 0 ? h('p', {class: 'detail'}, shortened(one.detail, 300)) : null);
}

function values(report: Report, output: Output): HTMLElement | null {
  if (!output.values?.length) return null;
  return table(['Backend', 'min', 'max', 'mean', 'NaN', 'inf'], output.values.map((one) => [
    report.backends[one.backend]?.name ?? '?', number(one.min), number(one.max), number(one.mean),
    one.nan ? h('strong', {class: 'bad-text'}, integer(one.nan)) : integer(one.nan ?? 0),
    one.inf ? h('strong', {class: 'bad-text'}, integer(one.inf)) : integer(one.inf ?? 0)]), `Values of ${output.name}`);
}

function outputPart(report: Report, node: MapNode, index: number, output: Output, pair: number): Child[] {
  const about = findingsAbout(report, index);
  const judged = (output.judged ?? []).map((one) => judgement(report, one, about.find((finding) => finding.backend === report.backends[one.backend]?.name)));
  const image = output.images?.find((one) => one.pair === pair) ?? output.images?.[0];
  const several = node.outputs.length > 1 ? ` of ${shortened(output.name, 24)}` : '';
  const both = (output.values?.length ?? 0) > 1;
  return [
    judged.length ? part(`Judged by its bound${several}`, ...judged) : null,
    output.values?.length ? part(`Values${several}`, h('p', {class: 'muted type'}, output.type ?? ''), values(report, output)) : null,
    image ? part(`Where they differ${several}`, differenceImage(image, report.map.pairs[image.pair])) : both ? part(`Where they differ${several}`, h('p', {class: 'muted'}, 'Nowhere: the recorded values are equal.')) : null,
  ];
}

function frame(one: Frame): HTMLElement {
  return h('li', {class: isLibrary(one) ? 'library' : 'own'}, h('code', {}, `${one.file}:${one.line}`), one.where ? h('span', {class: 'muted'}, ` ${one.where}`) : null, one.code ? h('pre', {}, one.code) : null);
}

function originPart(node: MapNode, texts: string[]): HTMLElement | null {
  const origin = originOf(node, texts);
  if (!origin) return null;
  const own = origin.frames.filter((one) => !isLibrary(one));
  const shown = own.length ? own : origin.frames;
  return part('Origin in the source',
    origin.scopes ? h('p', {}, h('code', {class: 'wrap'}, origin.scopes)) : null,
    shown.length ? h('ol', {class: 'frames'}, ...shown.slice(-4).reverse().map(frame)) : null,
    origin.other.length ? h('details', {}, h('summary', {}, 'Other notes of the exporter'), h('dl', {class: 'facts stacked'}, ...origin.other.flatMap(([key, text]) => [h('dt', {}, key), h('dd', {}, shortened(text, 600))]))) : null);
}

function link(report: Report, index: number, actions: PanelActions): HTMLElement {
  const node = report.map.nodes[index];
  return h('button', {type: 'button', class: 'link', click: () => actions.show(index)}, `${node?.op} ${shortened(node?.name ?? '', 40)}`);
}

function wiring(report: Report, node: MapNode, index: number, actions: PanelActions): HTMLElement {
  const users = report.map.nodes.flatMap((one, i) => (one.inputs.some((input) => input.node === index) ? [i] : []));
  const inputs = node.inputs.map((input) => h('li', {}, input.node !== undefined ? link(report, input.node, actions) : h('span', {}, shortened(input.name || 'not given', 44)),
    input.parameter ? h('span', {class: 'muted'}, ` parameter ${input.parameter}`) : input.node === undefined && input.name ? h('span', {class: 'muted'}, ' input of the model') : null));
  const outputs = users.slice(0, 12).map((i) => h('li', {}, link(report, i, actions)));
  return part('Fed by and feeding',
    inputs.length ? h('ul', {class: 'wires', 'aria-label': 'Inputs'}, ...inputs) : h('p', {class: 'muted'}, 'It has no inputs.'),
    h('p', {class: 'arrow', 'aria-hidden': 'true'}, '↓'),
    users.length ? h('ul', {class: 'wires', 'aria-label': 'Used by'}, ...outputs, users.length > 12 ? h('li', {class: 'muted'}, `and ${users.length - 12} more`) : null) : h('p', {class: 'muted'}, 'An output of the model, or unused.'));
}

function ratePart(report: Report, node: MapNode, pair: number): HTMLElement | null {
  const rate = node.rates?.find((one) => one.pair === pair);
  if (!rate) return null;
  const names = report.map.pairs[pair] ?? ['', ''];
  return part(`How the difference grows, ${names[0]} | ${names[1]}`, h('dl', {class: 'facts'}, h('dt', {}, 'Mean difference δ'), h('dd', {}, number(rate.delta)), h('dt', {}, 'Rate R'), h('dd', {}, number(rate.rate)),
    h('dt', {}, 'Upper quartile'), h('dd', {}, rate.highlighted ? '▲ yes, highlighted' : 'no')));
}

export function nodePanel(report: Report, index: number, verdict: Verdict, pair: number, actions: PanelActions): HTMLElement {
  const node = report.map.nodes[index] as MapNode;
  const about = findingsAbout(report, index).filter((finding) => !node.outputs.some((output) => output.judged?.some((one) => report.backends[one.backend]?.name === finding.backend)));
  return h('div', {class: 'panel-body'},
    h('div', {class: 'panel-head'}, h('div', {}, h('h3', {}, node.domain ? `${node.domain}.${node.op}` : node.op), h('p', {class: 'node-name', title: node.name}, node.name)),
      h('button', {type: 'button', class: 'icon', 'aria-label': 'Close the panel', click: actions.close}, '✕')),
    h('p', {class: 'panel-verdict'}, badge(verdict), h('span', {class: 'muted'}, ` ${verdict.means} · node ${integer(index + 1)} of ${integer(report.map.nodes.length)}`)),
    ...about.map((one) => h('p', {class: 'detail'}, `${one.id} ${one.backend}: ${one.kind}. ${shortened(one.detail ?? '', 300)}${passesOf(one).length ? ` Pass: ${passesOf(one).join(', ')}.` : ''}`)),
    ...node.outputs.flatMap((output) => outputPart(report, node, index, output, pair)),
    ratePart(report, node, pair),
    originPart(node, report.map.texts),
    node.attributes?.length ? part('Attributes', h('dl', {class: 'facts'}, ...node.attributes.flatMap(([name, text]) => [h('dt', {}, name), h('dd', {}, h('code', {class: 'wrap'}, shortened(text, 400)))]))) : null,
    wiring(report, node, index, actions));
}

// With nothing chosen, the panel leads to what is worth choosing.
export function overviewPanel(report: Report, verdicts: Verdict[], actions: PanelActions): HTMLElement {
  const suspects = verdicts.flatMap((verdict, i) => (isSuspect(verdict) ? [i] : []));
  const judged = verdicts.filter((one) => one.rank > 0).length;
  const item = (i: number) => h('li', {}, badge(verdicts[i] as Verdict), link(report, i, actions));
  return h('div', {class: 'panel-body'},
    h('div', {class: 'panel-head'}, h('h3', {}, suspects.length ? 'Suspects, in order of execution' : 'No suspects')),
    suspects.length
      ? h('ol', {class: 'suspects'}, ...suspects.slice(0, 60).map(item), suspects.length > 60 ? h('li', {class: 'muted'}, `and ${suspects.length - 60} more`) : null)
      : h('p', {}, judged ? `All ${integer(judged)} judged nodes are inside their rounding bounds.` : 'No backend has shown inner values, so no node could be judged.'),
    h('p', {class: 'muted'}, 'Choose a node to see its attributes, where it comes from, both values, their difference, and the bound.'));
}
