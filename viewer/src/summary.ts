// The top of the page: what was compared, the verdict in one sentence, and the figures.
import {type Finding, type Report, isLint, passesOf} from './data';
import {type Child, h} from './dom';
import {counted, fileName, integer, list, number, shortened} from './format';
import {verdictOf} from './verdict';

export interface Sentence {
  tone: 'good' | 'warn' | 'bad';
  sign: string;
  text: string;
}

const kEnded: Record<string, string> = {
  crash: 'crashed',
  hang: 'gave no answer in time',
  memory: 'ran out of memory',
};

function at(finding: Finding): string {
  if (!finding.node) return '';
  return ` at ${shortened(finding.node, 60)}${finding.op ? ` (${finding.op})` : ''}`;
}

function because(finding: Finding): string {
  const passes = passesOf(finding);
  if (passes.length) {
    const many = passes.length > 1;
    const named = `${many ? 'passes' : 'pass'} ${list(passes)}`;
    return `; the ${named} of its optimiser ${many ? 'do' : 'does'} it`;
  }
  return finding.variant ? `, explained by “${finding.variant}”` : '';
}

function backendsOf(findings: Finding[]): string {
  return list([...new Set(findings.map((one) => one.backend))]);
}

function lintSentence(findings: Finding[]): Sentence {
  const [first] = findings;
  if (!first) return {tone: 'good', sign: '✓', text: 'Every operation is proved safe.'};
  const text = `${counted(findings.length, 'operation')} can fail, first${at(first)}.`;
  return {tone: 'bad', sign: '✕', text};
}

export function sentenceOf(report: Report): Sentence {
  const {findings} = report;
  if (isLint(report)) return lintSentence(findings);
  const of = (verdict: string) => findings.filter((one) => one.verdict === verdict);
  const first = (some: Finding[]) => some[0] as Finding;
  const ended = findings.filter((one) => kEnded[one.kind]);
  const wrong = of('defect').filter((one) => !kEnded[one.kind]);
  if (wrong.length) {
    const one = first(wrong);
    const many = new Set(wrong.map((f) => f.backend)).size > 1;
    const what =
      one.kind === 'nondeterminism'
        ? `${one.backend} does not say the same twice${at(one)}`
        : `${backendsOf(wrong)} ${many ? 'compute' : 'computes'} something else than the model ` +
          `means, first${at(one) || ' in what it accepts'}`;
    return {tone: 'bad', sign: '✕', text: `${what}${because(one)}.`};
  }
  const optimiser = of('optimiser');
  if (optimiser.length) {
    const one = first(optimiser);
    return {
      tone: 'bad',
      sign: '⚙',
      text:
        `${backendsOf(optimiser)} is right when watched and wrong when not${at(one)}` +
        `${because(one)}.`,
    };
  }
  if (ended.length) {
    return {
      tone: 'bad',
      sign: '✕',
      text: `${first(ended).backend} ${kEnded[first(ended).kind]}${at(first(ended))}.`,
    };
  }
  const known = [...of('difference'), ...of('suspicious')];
  if (known.length) {
    return {
      tone: 'warn',
      sign: '≠',
      text:
        `${backendsOf(known)} differs beyond rounding in a way that can be defended, ` +
        `first${at(first(known))}${because(first(known))}.`,
    };
  }
  const apart = report.pairs.filter((one) => one.inconsistent);
  if (apart[0]) {
    return {
      tone: 'warn',
      sign: '≠',
      text: `${apart[0].a} and ${apart[0].b} disagree, and no single node explains it.`,
    };
  }
  const lacking = of('unsupported');
  if (lacking.length) {
    return {
      tone: 'warn',
      sign: '–',
      text: `${backendsOf(lacking)} cannot run this model; the others agree within rounding.`,
    };
  }
  return {
    tone: 'good',
    sign: '✓',
    text: `All ${report.backends.length} backends agree: rounding explains every difference.`,
  };
}

function tile(label: string, value: string, note: string, href?: string): HTMLElement {
  const inside: Child[] = [
    h('span', {class: 'tile-label'}, label),
    h('span', {class: 'tile-value'}, value),
    h('span', {class: 'tile-note'}, note),
  ];
  return href ? h('a', {class: 'tile', href}, ...inside) : h('div', {class: 'tile'}, ...inside);
}

function tiles(report: Report): HTMLElement {
  const defects = report.findings.filter((one) => verdictOf(one.verdict).tone === 'bad').length;
  const apart = report.pairs.filter((one) => one.inconsistent).length;
  let judged = 0,
    inside = 0;
  for (const node of report.map.nodes) {
    for (const output of node.outputs) {
      for (const one of output.judged ?? []) {
        judged += 1;
        if (one.verdict === 'precision') inside += 1;
      }
    }
  }
  return h(
    'div',
    {class: 'tiles'},
    tile(
      'Findings',
      integer(report.findings.length),
      report.findings.length ? counted(defects, 'defect') : 'nothing to look at',
      '#findings',
    ),
    tile(
      'Pairs that disagree',
      `${apart} of ${report.pairs.length}`,
      counted(report.unique, 'unique pattern'),
      '#pairs',
    ),
    tile(
      'Inner values judged',
      integer(judged),
      judged === inside
        ? judged
          ? 'all inside their bounds'
          : 'no backend shows them'
        : `${integer(judged - inside)} outside their bounds`,
      '#map',
    ),
    tile(
      'Model',
      counted(report.model.nodes, 'node'),
      `${integer(report.model.parameters)} parameters`,
    ),
  );
}

function backends(report: Report): HTMLElement {
  return h(
    'ul',
    {class: 'backends', 'aria-label': 'Backends'},
    ...report.backends.map((one) => {
      const failed = report.findings.find(
        (finding) => finding.backend === one.name && !one.answered,
      );
      return h(
        'li',
        {},
        h(
          'span',
          {class: `dot ${one.answered ? 'good' : 'bad'}`, 'aria-hidden': 'true'},
          one.answered ? '✓' : '✕',
        ),
        h('strong', {}, one.name),
        ' ',
        h('span', {class: 'muted'}, one.version),
        one.answered ? null : h('span', {class: 'bad-text'}, ` ${failed?.kind ?? 'no answer'}`),
      );
    }),
  );
}

// What rounding justifies for each output, and the releases that a bisection has named.
function facts(report: Report): HTMLElement {
  const rows: [string, Child][] = Object.entries(report.outputs ?? {})
    .slice(0, 6)
    .map(([name, one]) => [
      `Output ${shortened(name, 40)}`,
      `rounding justifies rtol ${number(one.rtol)}, atol ${number(one.atol)}`,
    ]);
  const {releases} = report;
  if (releases?.first_bad) rows.push(['First bad release', releases.first_bad]);
  if (releases?.first_good) rows.push(['First good release', releases.first_good]);
  return h(
    'dl',
    {class: 'facts'},
    ...rows.flatMap(([term, text]) => [h('dt', {}, term), h('dd', {}, text)]),
  );
}

export function summary(report: Report): HTMLElement {
  const sentence = sentenceOf(report);
  return h(
    'header',
    {class: 'summary'},
    h(
      'p',
      {class: 'eyebrow'},
      h('span', {class: 'mark'}, 'Assay'),
      isLint(report) ? ' Lint report' : ' Comparison report',
    ),
    h('h1', {title: report.model.file}, shortened(fileName(report.model.file), 80)),
    backends(report),
    h(
      'div',
      {class: `verdict ${sentence.tone}`, role: 'status'},
      h('span', {class: 'verdict-sign', 'aria-hidden': 'true'}, sentence.sign),
      h('p', {}, sentence.text),
    ),
    tiles(report),
    facts(report),
  );
}
