import { describe, expect, test } from '@jest/globals'
import { isTypeReferenceNode, type Node } from 'typescript/unstable/ast'
import type { z } from 'zod'
import type { Context, DecideContext, ReadContext, WriteContext } from '../../src/kernel/contract/context.ts'
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
      false satisfies Accepts<WriteContext['records'], ReadContext['records']>,
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
