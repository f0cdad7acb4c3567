import { describe, expect, test } from '@jest/globals'
import {
  isCallExpression,
  isForOfStatement,
  isPropertyAccessExpression,
  type Node,
} from 'typescript/unstable/ast'
import { allNodes, lineOf, readSources } from '../support/tidy/sources.ts'

const tests = readSources().files.filter(({ path }) => path.startsWith('test/'))

const calls = (part: Node, name: string): boolean =>
  isCallExpression(part) && part.expression.getText() === name

const isFiltered = (list: Node): boolean =>
  isCallExpression(list) &&
  isPropertyAccessExpression(list.expression) &&
  list.expression.name.text === 'filter'

describe('the tests', () => {
  test('in a part of a file are imported by that file', () => {
    const imported = new Set(tests.flatMap(({ imports }) => imports.map(({ of }) => of)))
    const parts = tests.filter(
      ({ path, node }) =>
        !path.endsWith('.test.ts') &&
        !path.startsWith('test/support/') &&
        allNodes(node).some(part => calls(part, 'test') || calls(part, 'describe')),
    )
    expect(parts.length).toBeGreaterThan(20)
    expect(parts.map(({ path }) => path).filter(path => !imported.has(path))).toEqual([])
  })

  test('expect a filtered list not to be empty before they loop over it', () => {
    const unguarded = tests.flatMap(({ path, node }) =>
      allNodes(node)
        .filter(isForOfStatement)
        .filter(
          loop => isFiltered(loop.expression) && allNodes(loop.statement).some(part => calls(part, 'expect')),
        )
        .map(loop => `${path}:${lineOf(node, loop)}`),
    )
    expect(unguarded).toEqual([])
  })
})
