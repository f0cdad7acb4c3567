import { describe, expect, test } from '@jest/globals'
import {
  type Identifier,
  isAsExpression,
  isBindingElement,
  isCallExpression,
  isIdentifier,
  isInterfaceDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  isShorthandPropertyAssignment,
  isTypeAliasDeclaration,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast'
import type { Symbol as Member } from 'typescript/unstable/sync'
import { declarationOf, isOptional, keyOf, objectsOf } from '../support/tidy/object-types.ts'
import { allNodes, lineOf, readSources, root } from '../support/tidy/sources.ts'

/**
 * The compiler refuses an unknown member of a literal only where the literal itself is handed over, not behind
 * a variable or a spread: there, an option is lost when its receiver renames it.
 */
const { files, project } = readSources()
const parts = files.flatMap(({ node }) => allNodes(node))
const paths: ReadonlySet<string> = new Set(files.map(({ path }) => `${root}/${path}`))
const { handedIn, membersNamed, receiverOfLiteral } = objectsOf(project.checker)

const isOurs = (member: Member): boolean => paths.has(declarationOf(member)?.path ?? '')

const WRITTEN: readonly unknown[] = [SyntaxKind.PropertyAssignment, SyntaxKind.ShorthandPropertyAssignment]
const isSignature = (member: Member): boolean => declarationOf(member)?.kind === SyntaxKind.PropertySignature

const isWritten = (member: Member): boolean => isOurs(member) && WRITTEN.includes(declarationOf(member)?.kind)

const placeOf = (part: Node): string => {
  const file = part.getSourceFile()
  return `${file.fileName.slice(root.length + 1)}:${lineOf(file, part)}`
}

interface Excess {
  readonly name: string
  readonly at: Node
}

/** The members that literals wrote and that receivers do not know, and the options that callers give. */
function compare() {
  const [excess, known] = [new Map<string, Excess>(), new Set<string>()]
  const [options, given] = [new Map<string, Member>(), new Set<string>()]
  for (const { node, given: members, receiver } of handedIn(parts)) {
    const optional = [...receiver.members.values()].flat().filter(one => isOptional(one) && isOurs(one))
    for (const option of optional) options.set(keyOf(option), option)
    for (const member of members) {
      const [key, { name }] = [keyOf(member), member]
      const same = (receiver.members.get(name) ?? []).map(keyOf)
      for (const option of same) if (option !== key) given.add(option)
      if (receiver.takesAny || same.length > 0) known.add(key)
      else if (isWritten(member) && optional.length > 0) excess.set(key, { name, at: node })
    }
  }
  return { excess: [...excess].filter(([key]) => !known.has(key)), options: [...options.values()], given }
}

/** The members of these names that are read other than by a receiver. */
function readMembers(names: ReadonlySet<string>): ReadonlySet<string> {
  const ofObject = (object: Node, { text }: Identifier): Member[] =>
    names.has(text) ? membersNamed(text, object) : []
  const read = parts.flatMap(part => {
    if (isPropertyAccessExpression(part) && isIdentifier(part.name))
      return ofObject(part.expression, part.name)
    const name = isBindingElement(part) ? (part.propertyName ?? part.name) : undefined
    return name && isIdentifier(name) ? ofObject(part.parent, name) : []
  })
  return new Set(read.map(keyOf))
}

const namesIn = (part: Node): string[] => allNodes(part).flatMap(one => (isIdentifier(one) ? one.text : []))

/** Types that a cast or a type argument names: their objects come from outside, such as JSON. */
const outside = new Set(
  parts.flatMap(part => {
    if (isAsExpression(part)) return namesIn(part.type)
    return isCallExpression(part) ? (part.typeArguments ?? []).flatMap(namesIn) : []
  }),
)

const nameOf = (part: { readonly name: Node }): string => ('text' in part.name ? String(part.name.text) : '')

/** Members that an object of another type always has: it may be handed on. */
const always = new Set(
  parts.flatMap(part => (isPropertySignatureDeclaration(part) && !part.postfixToken ? nameOf(part) : [])),
)

/** The name of the type whose declaration this part is in. */
function typeAround(part: Node): string {
  if (isInterfaceDeclaration(part) || isTypeAliasDeclaration(part)) return nameOf(part)
  return part.parent ? typeAround(part.parent) : ''
}

/** The options that no literal gives either, as far as the compiler knows for whom it is. */
function withoutGiver(options: readonly Member[], given: Set<string>): Member[] {
  const left = Map.groupBy(
    options.filter(option => !given.has(keyOf(option)) && isSignature(option) && !always.has(option.name)),
    ({ name }) => name,
  )
  for (const part of parts) {
    if (!isPropertyAssignment(part) && !isShorthandPropertyAssignment(part)) continue
    const name = nameOf(part)
    if (!left.get(name)?.some(option => !given.has(keyOf(option)))) continue
    const receiver = receiverOfLiteral(part.parent)
    const isFor = receiver?.takesAny === false ? receiver.members.get(name) : left.get(name)
    for (const option of isFor ?? []) given.add(keyOf(option))
  }
  return [...left.values()].flat().filter(option => !given.has(keyOf(option)))
}

const { excess, options, given } = compare()

describe('a member of an object that is handed over', () => {
  const read = readMembers(new Set(excess.map(([, { name }]) => name)))
  const lost = excess.flatMap(([key, { name, at }]) => (read.has(key) ? [] : { name, place: placeOf(at) }))
  const isOnPurpose = ({ place }: { place: string }) => place.startsWith('test/types.ts')

  test('is known to the receiver', () => {
    expect(
      lost
        .filter(one => !isOnPurpose(one))
        .map(({ name, place }) => `${place}: the receiver has no ${name}: name it as there, or leave it out`),
    ).toEqual([])
    expect(lost.filter(isOnPurpose).map(({ name }) => name)).toEqual(['sumary'])
  })

  test('is given by some caller if it is optional', () => {
    const unused = withoutGiver(options, given).map(option => declarationOf(option)?.resolve(project) as Node)
    expect(
      unused
        .filter(part => !outside.has(typeAround(part)))
        .map(part => `${placeOf(part)}: no caller gives it: have one give it, or leave it out`),
    ).toEqual([])
    expect(options.length).toBeGreaterThan(1_000)
  })
})
