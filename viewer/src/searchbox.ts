// The search field with its list of matches, operated by keys or pointer.
import {type Report} from './data';
import {h} from './dom';
import {counted, shortened} from './format';
import {SearchIndex} from './search';
import {type Verdict, badge} from './verdict';

const kMostListed = 50;

export class SearchBox {
  readonly input = h('input', {type: 'search', id: 'search', placeholder: 'Search nodes, operators, verdicts', autocomplete: 'off', spellcheck: 'false',
    role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'matches', 'aria-label': 'Search the map', 'aria-autocomplete': 'list'});
  private readonly matches = h('ul', {id: 'matches', class: 'matches', role: 'listbox', 'aria-label': 'Matches', hidden: true});
  private readonly status = h('span', {class: 'search-count muted', role: 'status'});
  readonly element = h('div', {class: 'search'}, this.input, this.status, this.matches);
  private readonly index: SearchIndex;
  private found: number[] = [];
  private at = -1;

  constructor(private readonly report: Report, private readonly verdicts: () => Verdict[], private readonly show: (node: number) => void) {
    this.index = new SearchIndex(report.map);
    this.input.addEventListener('input', () => this.search());
    this.input.addEventListener('focus', () => this.open(this.found.length > 0));
    this.input.addEventListener('keydown', (event) => this.key(event));
    this.element.addEventListener('focusout', (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.open(false);
    });
  }

  private open(open: boolean): void {
    this.matches.hidden = !open;
    this.input.setAttribute('aria-expanded', String(open));
  }

  private search(): void {
    this.found = this.index.find(this.input.value, this.verdicts());
    this.at = -1;
    this.status.textContent = this.input.value.trim() ? (this.found.length ? counted(this.found.length, 'match', 'matches') : 'no match') : '';
    this.matches.replaceChildren(...this.found.slice(0, kMostListed).map((node, i) => this.item(node, i)));
    this.input.removeAttribute('aria-activedescendant');
    this.open(this.found.length > 0);
  }

  private item(node: number, i: number): HTMLElement {
    const row = this.report.map.nodes[node];
    return h('li', {id: `match-${i}`, role: 'option', 'aria-selected': 'false', pointerdown: (event: PointerEvent) => {
      event.preventDefault();
      this.choose(i);
    }}, badge(this.verdicts()[node] as Verdict, ''), h('strong', {}, row?.op ?? ''), h('span', {}, shortened(row?.name ?? '', 44)));
  }

  private move(to: number): void {
    const items = this.matches.children;
    items[this.at]?.setAttribute('aria-selected', 'false');
    this.at = (to + items.length) % items.length;
    const item = items[this.at];
    item?.setAttribute('aria-selected', 'true');
    item?.scrollIntoView({block: 'nearest'});
    this.input.setAttribute('aria-activedescendant', `match-${this.at}`);
  }

  private choose(i: number): void {
    const node = this.found[i];
    if (node === undefined) return;
    this.open(false);
    this.show(node);
  }

  private key(event: KeyboardEvent): void {
    const listed = this.matches.children.length;
    if (event.key === 'Escape') {
      this.open(false);
    } else if (event.key === 'Enter' && listed) {
      if (this.matches.hidden) this.move(this.at + 1); // again: the next match
      this.choose(Math.max(0, this.at));
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && listed) {
      this.open(true);
      this.move(event.key === 'ArrowDown' ? this.at + 1 : this.at - 1);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
