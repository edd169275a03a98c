// Verdicts: each with a sign and a word, so that color is never the only difference.
import {type MapNode, type Report} from './data';
import {h} from './dom';

export interface Verdict {
  name: string;
  sign: string;
  tone: 'good' | 'warn' | 'bad' | 'special' | 'quiet';
  rank: number; // how much it asks for attention
  means: string;
}

const kVerdicts: Verdict[] = [
  {name: 'defect', sign: '✕', tone: 'bad', rank: 6, means: 'outside its rounding bound'},
  {name: 'optimiser', sign: '⚙', tone: 'special', rank: 5, means: 'right when watched, wrong when not'},
  {name: 'suspicious', sign: '?', tone: 'warn', rank: 4, means: 'more than rounding usually does'},
  {name: 'difference', sign: '≠', tone: 'warn', rank: 3, means: 'a known other reading'},
  {name: 'tie', sign: '=', tone: 'quiet', rank: 2, means: 'a decision that rounding may turn'},
  {name: 'precision', sign: '✓', tone: 'good', rank: 1, means: 'inside its rounding bound'},
  {name: 'unsupported', sign: '–', tone: 'quiet', rank: 1, means: 'the backend lacks it'},
  {name: 'not judged', sign: '·', tone: 'quiet', rank: 0, means: 'nobody has shown its value'},
];
export const kNotJudged = kVerdicts[kVerdicts.length - 1] as Verdict;
export const kLegend = ['defect', 'optimiser', 'difference', 'precision', 'not judged'];

export function verdictOf(name: string): Verdict {
  return kVerdicts.find((one) => one.name === name) ?? {...kNotJudged, name};
}

export function worse(a: Verdict, b: Verdict): Verdict {
  return b.rank > a.rank ? b : a;
}

// Of a node: the worst of its judgements on the given backends, and of the findings about it.
export function nodeVerdicts(report: Report, only?: Set<string>): Verdict[] {
  const counts = (backend: string | undefined) => backend !== undefined && (!only || only.has(backend));
  const verdicts = report.map.nodes.map((node: MapNode) => {
    let worst = kNotJudged;
    for (const output of node.outputs) {
      for (const one of output.judged ?? []) {
        if (counts(report.backends[one.backend]?.name)) worst = worse(worst, verdictOf(one.verdict));
      }
    }
    return worst;
  });
  report.map.findings.forEach((place, i) => {
    const finding = report.findings[i];
    if (place === null || !finding || !counts(finding.backend)) return;
    verdicts[place] = worse(verdicts[place] ?? kNotJudged, verdictOf(finding.verdict));
  });
  return verdicts;
}

export function isSuspect(verdict: Verdict): boolean {
  return verdict.rank >= 3;
}

export function badge(verdict: Verdict, text = verdict.name): HTMLElement {
  return h('span', {class: `badge ${verdict.tone}`},
    h('span', {class: 'sign', 'aria-hidden': 'true'}, verdict.sign), text);
}
