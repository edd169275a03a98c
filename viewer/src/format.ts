// Numbers, counts and long names as the page writes them.
import {type Numeric, toNumber} from './data';

export function number(value: Numeric | undefined): string {
  if (value === undefined) return '–';
  const x = toNumber(value);
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : '−∞';
  if (x === 0) return '0';
  const size = Math.abs(x);
  const text = size >= 1e6 || size < 1e-3 ? x.toExponential(2) : Number(x.toPrecision(4)).toString();
  return text.replace(/e([+-])(\d+)/, (_, sign: string, digits: string) =>
    `e${sign === '-' ? '−' : ''}${digits}`).replace(/^-/, '−');
}

export function integer(value: number): string {
  return value.toLocaleString('en-US');
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${integer(count)} ${count === 1 ? one : many}`;
}

export function times(excess: Numeric): string {
  const x = toNumber(excess);
  if (x === 0) return 'equal';
  return Number.isFinite(x) ? `${number(excess)} ×` : '∞ ×';
}

// The middle is what names of one model share.
export function shortened(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const head = Math.ceil((most - 1) * 0.4);
  return `${characters.slice(0, head).join('')}…${characters.slice(head - most + 1).join('')}`;
}

export function list(words: string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

export function seconds(value: number): string {
  return value < 60 ? `${value.toFixed(1)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

export function fileName(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return parts[parts.length - 1] ?? path;
}
