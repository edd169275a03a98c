// Documents for the tests: a chain of nodes of any length, one of them outside its bound.
import {type MapNode, type Report} from '../src/data';

export function chain(count: number, defect: number, scoped = false): Report {
  const nodes = Array.from({length: count}, (_, i): MapNode => {
    const name = scoped ? `/stage${Math.floor(i / 100)}/block${Math.floor(i / 10) % 10}/op${i}` : `op${i}`;
    const outside = i === defect;
    return {
      name,
      op: ['MatMul', 'Add', 'Relu', 'Softmax'][i % 4] as string,
      inputs: [...(i ? [{name: `v${i - 1}`, node: i - 1}] : [{name: 'X'}]), ...(i % 4 === 0 ? [{name: `w${i}`, parameter: 'f32[4,4]'}] : []), ...(i % 10 === 9 ? [{name: `v${i - 8}`, node: i - 8}] : [])],
      outputs: [{
        name: `v${i}`,
        type: 'f32[2,4]',
        values: [{backend: 0, count: 8, min: -1, max: 1, mean: 0, nan: 0, inf: 0}, {backend: 1, count: 8, min: -1, max: 1.5, mean: 0.1, nan: 0, inf: 0}],
        judged: [{backend: 1, verdict: outside ? 'defect' : 'precision', difference: outside ? 0.5 : 1e-8, excess: outside ? 2e5 : 0.2, detail: 'element 3: 1 ± 2e-06, found 1.5', ...(outside ? {variant: 'epsilon outside the root'} : {})}],
        ...(i >= defect ? {images: [{pair: 0, rows: 2, columns: 4, height: 2, width: 4, largest: 0.5, at: 3, cells: '00190007'}]} : {}),
      }],
      rates: [{pair: 0, delta: i < defect ? 1e-8 : 0.1, rate: outside ? 1e6 : 0.01, highlighted: outside}],
    };
  });
  return {
    schema: 1, assay: '0.1.0', seconds: 1.5,
    model: {file: 'models/chain.onnx', name: 'chain', producer: 'tests 1', opsets: {'ai.onnx': 17}, nodes: count, parameters: 16, inputs: [['X', 'f32[2,4]']], outputs: [[`v${count - 1}`, 'f32[2,4]']]},
    backends: [{name: 'reference', version: '0.1.0', answered: true, judged: 0}, {name: 'planted', version: '1', answered: true, judged: count}],
    outputs: {[`v${count - 1}`]: {rtol: 1e-6, atol: 1e-7}},
    pairs: [
      {a: 'reference', b: 'planted', metric: 'bound', threshold: 1, triggering: 1, instances: 2, max: 'Infinity', inconsistent: true, pattern: [1, 1], tolerance: {rtol: 0.5, atol: 0.5}},
      {a: 'reference', b: 'planted', metric: 'mad', threshold: 0.2, triggering: 0, instances: 2, max: 0.1, inconsistent: false, pattern: [2, 0, 0, 0, 0], tolerance: {rtol: 0.5, atol: 0.5}},
    ],
    unique: 1,
    findings: [{id: 'F1', kind: 'inconsistency', backend: 'planted', op: nodes[defect]?.op ?? '', node: nodes[defect]?.name ?? '', verdict: 'defect', detail: 'element 3', variant: 'epsilon outside the root', test: ''}],
    map: {pairs: [['reference', 'planted']], nodes, findings: [defect], texts: []},
  };
}
