import { describe, expect, test } from '@jest/globals'
import {
  isCallExpression,
  isForOfStatement,
  isPropertyAccessExpression,
  type Node,
} from 'typescript/unstable/ast'
import { all, lineOf, readSources } from '../support/tidy/sources.ts'

const tests = readSources().files.filter(({ path }) => path.startsWith('test/'))

const calls = (part: Node, name: string): boolean =>
  isCallExpression(part) && part.expression.getText() === name

const isFiltered = (list: Node): boolean =>
  isCallExpression(list) &&
  isPropertyAccessExpression(list.expression) &&
  list.expression.name.text === 'filter'

describe('tests', () => {
  test('in a part of a file run with that file', () => {
    const imported = new Set(tests.flatMap(({ imports }) => imports.map(({ of }) => of)))
    const parts = tests.filter(
      ({ path, node }) =>
        !path.endsWith('.test.ts') &&
        !path.startsWith('test/support/') &&
        all(node).some(part => calls(part, 'test') || calls(part, 'describe')),
    )
    expect(parts.length).toBeGreaterThan(20)
    expect(parts.map(({ path }) => path).filter(path => !imported.has(path))).toEqual([])
  })

  test('know that a filter has left something before they go through it', () => {
    const blind = tests.flatMap(({ path, node }) =>
      all(node)
        .filter(isForOfStatement)
        .filter(
          loop => isFiltered(loop.expression) && all(loop.statement).some(part => calls(part, 'expect')),
        )
        .map(loop => `${path}:${lineOf(node, loop)}`),
    )
    expect(blind).toEqual([])
  })
})
