// Search over the nodes: by name, operator, scope or verdict, the nearest match first.
import {type LocalisationMap} from './data';
import {scopesOf} from './grouping';
import {type Verdict} from './verdict';

export class SearchIndex {
  private readonly rows: {name: string; all: string}[];

  constructor(map: LocalisationMap) {
    this.rows = map.nodes.map((node) => {
      const outputs = node.outputs.map((one) => one.name).join(' ');
      return {
        name: node.name.toLowerCase(),
        all: `${node.op} ${node.name} ${outputs} ${scopesOf(node, map.texts).join(' ')}`.toLowerCase(),
      };
    });
  }

  // Every word must occur; whole names come first, then beginnings, then order of execution.
  find(query: string, verdicts: Verdict[]): number[] {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word !== '');
    if (!words.length) return [];
    const whole = words.join(' ');
    const rank = (row: {name: string}) => (row.name === whole ? 0 : row.name.startsWith(whole) ? 1 : 2);
    return this.rows
      .map((row, index) => ({row, index}))
      .filter(({row, index}) => words.every((word) => row.all.includes(word) || verdicts[index]?.name === word))
      .sort((a, b) => rank(a.row) - rank(b.row) || a.index - b.index)
      .map(({index}) => index);
  }
}
