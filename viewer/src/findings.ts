// The findings, each with its reason, and a way to its node on the map.
import {type Finding, type Report, isLint, passesOf} from './data';
import {type Child, empty, h, section} from './dom';
import {counted, shortened} from './format';
import {badge, verdictOf} from './verdict';

const kShownFirst = 12;
const kLead = 'Each suspect is judged on the values that its backend itself fed it.';
const kLintLead = 'Each is judged for all inputs and parameters in their ranges.';

function line(term: string, text: Child): Child[] {
  return text ? [h('dt', {}, term), h('dd', {}, text)] : [];
}

function card(finding: Finding, place: number | null, show: (node: number) => void): HTMLElement {
  const where = finding.node
    ? place === null
      ? h('code', {title: finding.node}, shortened(finding.node, 70))
      : h(
          'button',
          {
            type: 'button',
            class: 'link',
            title: `Show ${shortened(finding.node, 300)} on the map`,
            click: () => show(place),
          },
          shortened(finding.node, 70),
        )
    : null;
  const passes = passesOf(finding);
  return h(
    'li',
    {class: `finding ${verdictOf(finding.verdict).tone}`},
    h(
      'div',
      {class: 'finding-head'},
      badge(verdictOf(finding.verdict)),
      h('strong', {}, finding.backend),
      h('span', {}, finding.kind),
      where ? h('span', {class: 'muted'}, 'at') : null,
      where,
      finding.op ? h('span', {class: 'muted'}, finding.op) : null,
      h('span', {class: 'finding-id'}, finding.id),
    ),
    finding.detail ? h('p', {class: 'detail'}, shortened(finding.detail, 600)) : null,
    h(
      'dl',
      {class: 'facts'},
      ...line('Explained by', finding.variant),
      ...line(passes.length > 1 ? 'Passes' : 'Pass', passes.join(', ')),
      ...line('Signal', finding.signal ? String(finding.signal) : ''),
      ...line('Test', finding.test && h('code', {}, finding.test)),
      ...line(
        'Script',
        (finding.repro ?? finding.script) && h('code', {}, finding.repro ?? finding.script),
      ),
    ),
  );
}

export function findingsList(report: Report, show: (node: number) => void): HTMLElement {
  const {findings} = report;
  if (!findings.length) {
    return section(
      'findings',
      'Findings',
      '',
      empty('Nothing was found: every value that could be judged is inside the bound of its node.'),
    );
  }
  const make = (i: number) => card(findings[i] as Finding, report.map.findings[i] ?? null, show);
  const items = h(
    'ol',
    {class: 'findings'},
    ...findings.slice(0, kShownFirst).map((_, i) => make(i)),
  );
  const more =
    findings.length > kShownFirst &&
    h(
      'button',
      {
        type: 'button',
        class: 'button',
        click: () => {
          items.append(...findings.slice(kShownFirst).map((_, i) => make(i + kShownFirst)));
          (more as HTMLElement).remove();
        },
      },
      `Show all ${findings.length}`,
    );
  return section(
    'findings',
    'Findings',
    `${counted(findings.length, 'finding')}, in order of execution. ` +
      (isLint(report) ? kLintLead : kLead),
    items,
    more,
  );
}
