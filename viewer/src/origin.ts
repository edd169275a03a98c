// Where a node comes from in the user's program, as exporters note it.
import {type MapNode} from './data';

export interface Frame {
  file: string;
  line: string;
  where: string;
  code: string;
}

export interface Origin {
  scopes: string;
  frames: Frame[]; // the innermost last
  other: [string, string][];
}

const kPython = /File "([^"]+)", line (\d+), in ([^\n]*)(?:\n[ \t]+([^\n]*))?/g;
const kTraced = /^\s*([^\s(][^(\n]*)\((\d+)\): ([^\n]*)$/gm;

export function framesOf(text: string): Frame[] {
  const python = [...text.matchAll(kPython)].map((one): Frame => ({file: one[1] ?? '', line: one[2] ?? '', where: one[3] ?? '', code: one[4] ?? ''}));
  if (python.length) return python;
  // The older exporter puts the innermost first.
  return [...text.matchAll(kTraced)].map((one): Frame => ({file: one[1] ?? '', line: one[2] ?? '', where: one[3] ?? '', code: ''})).reverse();
}

// Code of the framework itself says nothing about the user's model.
export function isLibrary(frame: Frame): boolean {
  return /(site-packages|dist-packages|\/lib\/python[\d.]+)\//.test(frame.file);
}

export function originOf(node: MapNode, texts: string[]): Origin | null {
  if (!node.origin?.length) return null;
  const origin: Origin = {scopes: '', frames: [], other: []};
  for (const [key, place] of node.origin) {
    const text = texts[place] ?? '';
    if (key === 'pkg.torch.onnx.stack_trace' || key === 'doc') {
      const frames = framesOf(text);
      if (frames.length) origin.frames = frames;
      else if (text.trim()) origin.other.push([key, text]);
    } else if (key === 'pkg.torch.onnx.name_scopes') {
      const scopes = [...text.matchAll(/'([^']*)'|"([^"]*)"/g)].map((one) => one[1] ?? one[2] ?? '');
      origin.scopes = scopes.filter((one) => one !== '').slice(-2)[0] ?? '';
    } else {
      origin.other.push([key, text]);
    }
  }
  return origin;
}
