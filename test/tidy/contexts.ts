import { describe, expect, test } from '@jest/globals'
import {
  isExpressionWithTypeArguments,
  isIdentifier,
  isTypeReferenceNode,
  type Node,
} from 'typescript/unstable/ast'
import type { z } from 'zod'
import type { Context, DecideContext, ReadContext, WriteContext } from '../../src/kernel/contract/context.ts'
import type { OperationSettings } from '../../src/kernel/contract/ports.ts'
import { allNodes, lineOf, readSources } from '../support/tidy/sources.ts'

const { files, project } = readSources()
const { checker } = project

const MEMBERS = ['tenant', 'now', 'emit', 'records', 'sql', 'refuse']

/** The contexts of `src/kernel/contract/context.ts`, by their members: an alias hides the name. */
function isContext(part: Node): boolean {
  const type = checker.getTypeAtLocation(part)
  const members = MEMBERS.filter(name => type && checker.getPropertyOfType(type, name))
  return members.includes('tenant') && members.length > 2
}

function selectsMembers(part: Node): boolean {
  if (!isTypeReferenceNode(part) || !/^(Pick|Omit)$/.test(part.typeName.getText())) return false
  const [of] = part.typeArguments ?? []
  return of !== undefined && isContext(of)
}

/** What hands all of them on: composition, and what runs handlers. */
const HANDS_PORTS_ON = /^(src\/(app|kernel)|test)\//

/** `Ports` in a type, unless it is what `Pick` selects from. */
function namesWholePorts(part: Node): boolean {
  if (isExpressionWithTypeArguments(part)) return part.expression.getText() === 'Ports'
  if (!isTypeReferenceNode(part) || part.typeName.getText() !== 'Ports') return false
  const { parent } = part
  const by = isTypeReferenceNode(parent)
    ? parent.typeName
    : isExpressionWithTypeArguments(parent)
      ? parent.expression
      : undefined
  return !(by && isIdentifier(by) && by.text === 'Pick')
}

type Functions<T> = Extract<T[keyof T], (...args: never[]) => unknown>

type Note = Readonly<Record<'note.written', z.ZodString>>
type Notes = Readonly<Record<'note.written' | 'note.deleted', z.ZodString>>

type Accepts<Parameter, Argument> = Argument extends Parameter ? true : false

describe('the contexts', () => {
  test('are named, never selected member by member', () => {
    const selections = files.flatMap(({ path, node }) =>
      allNodes(node)
        .filter(selectsMembers)
        .map(part => `${path}:${lineOf(node, part)} ${part.getText()}`),
    )
    expect(selections).toEqual([])
  })

  // The compiler proves each `false` and `true`.
  test('let a helper write, emit and refuse only what its caller may', () => {
    expect([
      false satisfies Accepts<WriteContext, ReadContext>,
      false satisfies Accepts<WriteContext['em'], ReadContext['em']>,
      false satisfies Accepts<WriteContext<Notes>, WriteContext<Note>>,
      false satisfies Accepts<Context<never, Note>, Context>,
      false satisfies Accepts<DecideContext<'gone' | 'closed'>, DecideContext<'gone'>>,
    ]).not.toContain(true)
    expect([
      true satisfies Accepts<ReadContext, WriteContext<Note>>,
      true satisfies Accepts<WriteContext<Note>, Context<'gone', Notes>>,
      true satisfies Accepts<DecideContext<'gone'>, Context<'gone' | 'closed', Notes>>,
    ]).not.toContain(false)
  })
})

describe('systems, settings and the service', () => {
  test('are taken by a helper where it needs them, never all three as one', () => {
    const whole = files
      .filter(({ path }) => !HANDS_PORTS_ON.test(path))
      .flatMap(({ path, node }) =>
        allNodes(node)
          .filter(namesWholePorts)
          .map(part => `${path}:${lineOf(node, part)} ${part.parent.getText()}`),
      )
    expect(whole).toEqual([])
  })

  // The compiler proves it.
  test('keep what is called apart from what is set', () => {
    expect(true satisfies [Functions<OperationSettings>] extends [never] ? true : false).toBe(true)
  })
})
