// Elements in one expression; text is always text, so that no name can become markup.
export type Child = Node | string | null | undefined | false;
type Properties = Record<string, string | number | boolean | undefined | ((event: never) => void)>;

function fill(element: Element, properties: Properties, children: Child[]): void {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') {
      element.addEventListener(key, value as unknown as EventListener);
    } else {
      element.setAttribute(key, value === true ? '' : String(value));
    }
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, properties, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, properties: Properties = {}, ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, properties, children);
  return element;
}

export function section(id: string, title: string, lead: string, ...children: Child[]): HTMLElement {
  return h('section', {id, class: 'part', 'aria-labelledby': `${id}-title`},
    h('div', {class: 'part-head'}, h('h2', {id: `${id}-title`}, title), lead ? h('p', {}, lead) : null),
    ...children);
}

export function empty(text: string): HTMLElement {
  return h('p', {class: 'empty'}, text);
}
