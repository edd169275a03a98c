// The difference image: cells in ten steps, the largest marked, broken ones crossed.
import {type Image, toNumber} from './data';
import {h, svg} from './dom';
import {integer, number} from './format';

const kSize = 256;

export interface Cell {
  x: number;
  y: number;
}

// The cell of the element that differs most.
export function largestCell(image: Image): Cell {
  return {
    x: Math.floor(((image.at % image.columns) * image.width) / image.columns),
    y: Math.floor((Math.floor(image.at / image.columns) * image.height) / image.rows),
  };
}

export function differenceImage(image: Image, pair: [string, string] | undefined): HTMLElement {
  const cell = Math.max(2, Math.floor(kSize / Math.max(image.width, image.height, 8)));
  const levels = new Map<string, string[]>();
  for (let i = 0; i < image.cells.length; ++i) {
    const level = image.cells[i] as string;
    if (level === '0') continue;
    const x = (i % image.width) * cell, y = Math.floor(i / image.width) * cell;
    levels.set(level, [...(levels.get(level) ?? []), `M${x},${y}h${cell}v${cell}h-${cell}z`]);
  }
  const width = image.width * cell, height = image.height * cell;
  const broken = levels.has('!');
  const paths = [...levels].map(([level, parts]) => svg('path', {class: level === '!' ? 'broken' : `level l${level}`, d: parts.join('')}));
  const top = largestCell(image);
  const mark = svg('rect', {class: 'largest', x: top.x * cell - 1, y: top.y * cell - 1, width: cell + 2, height: cell + 2});
  const where = `element ${integer(image.at)}`;
  const what = `${pair ? `${pair[0]} − ${pair[1]}` : ''}: largest ${number(image.largest)} at ${where}`;
  return h('figure', {class: 'difference'},
    svg('svg', {viewBox: `-2 -2 ${width + 4} ${height + 4}`, width: width + 4, height: height + 4, role: 'img', 'aria-label': `Difference image, ${what}`},
      svg('rect', {class: 'ground', width, height}), ...paths, mark),
    h('figcaption', {}, what, h('br'), h('span', {class: 'muted'}, `${integer(image.rows)} × ${integer(image.columns)} elements on ${image.height} × ${image.width} cells`),
      scale(toNumber(image.largest), broken)));
}

function scale(largest: number, broken: boolean): HTMLElement {
  const steps = Array.from({length: 9}, (_, i) => h('span', {class: `swatch l${i + 1}`}));
  return h('div', {class: 'scale', 'aria-hidden': 'true'}, h('span', {}, Number.isFinite(largest) ? number(largest * 1e-4) : '0'), ...steps, h('span', {}, Number.isFinite(largest) ? number(largest) : 'finite'),
    broken ? h('span', {class: 'swatch broken-swatch'}) : null, broken ? h('span', {}, 'not a number') : null);
}
