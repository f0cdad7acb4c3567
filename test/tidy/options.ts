import { describe, expect, test } from '@jest/globals'
import {
  type Identifier,
  isAsExpression,
  isBinaryExpression,
  isBindingElement,
  isCallExpression,
  isIdentifier,
  isInterfaceDeclaration,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  isShorthandPropertyAssignment,
  type Node,
  type PropertySignatureDeclaration,
  SyntaxKind,
} from 'typescript/unstable/ast'
import type { Symbol as Member } from 'typescript/unstable/sync'
import { isOptional, isOurs, keyOf, objectsOf } from '../support/tidy/object-types.ts'
import { allNodes, lineOf, readSources, root } from '../support/tidy/sources.ts'

/**
 * The compiler refuses an unknown member of a literal only where the literal itself is handed over, not behind
 * a variable or a spread: there, an option is lost when its receiver renames it.
 */
const { files, project } = readSources()
const parts = files.flatMap(({ node }) => allNodes(node))
const { handedIn, membersNamed } = objectsOf(project.checker)

const placeOf = (part: Node): string => {
  const file = part.getSourceFile()
  return `${file.fileName.slice(root.length + 1)}:${lineOf(file, part)}`
}

interface Excess {
  readonly key: string
  readonly name: string
  readonly place: string
}

/** The members that literals wrote for a receiver that does not know them, and that no other receiver takes. */
function excessMembers(): Excess[] {
  const excess: Excess[] = []
  const known = new Set<string>()
  for (const { node, given, receiver } of handedIn(parts)) {
    const hasOptions = [...receiver.members.values()].flat().some(one => isOptional(one) && isOurs(one))
    for (const member of given) {
      const [key, { name }] = [keyOf(member), member]
      if (receiver.takesAny || receiver.members.has(name)) known.add(key)
      else if (hasOptions) excess.push({ key, name, place: placeOf(node) })
    }
  }
  return excess.filter(({ key }) => !known.has(key))
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

const nameOf = (part: { readonly name: Node }): string => ('text' in part.name ? String(part.name.text) : '')

const isOption = (part: Node): part is PropertySignatureDeclaration =>
  isPropertySignatureDeclaration(part) && part.postfixToken?.kind === SyntaxKind.QuestionToken

/** The names that an object gets: from a literal, an assignment, or a type whose objects always have the member. */
const given = new Set(
  parts.flatMap(part => {
    if (isPropertyAssignment(part) || isShorthandPropertyAssignment(part)) return nameOf(part)
    if (isPropertySignatureDeclaration(part) && !isOption(part)) return nameOf(part)
    return isBinaryExpression(part) && isPropertyAccessExpression(part.left) ? nameOf(part.left) : []
  }),
)

const namesIn = (part: Node): string[] => allNodes(part).flatMap(one => (isIdentifier(one) ? one.text : []))

/** Types that a cast or a type argument names: their objects come from outside, such as JSON. */
const outside = new Set(
  parts.flatMap(part => {
    if (isAsExpression(part)) return namesIn(part.type)
    return isCallExpression(part) ? (part.typeArguments ?? []).flatMap(namesIn) : []
  }),
)

describe('a member of an object that is handed over', () => {
  test('is known to the receiver', () => {
    const excess = excessMembers()
    const read = readMembers(new Set(excess.map(({ name }) => name)))
    const lost = excess.filter(({ key }) => !read.has(key))
    const isOnPurpose = ({ place }: Excess) => place.startsWith('test/types.ts')
    expect(
      lost
        .filter(one => !isOnPurpose(one))
        .map(({ name, place }) => `${place}: the receiver has no ${name}: name it as there, or leave it out`),
    ).toEqual([])
    expect(lost.filter(isOnPurpose).map(({ name }) => name)).toEqual(['renamed'])
  })

  test('is given by some caller if it is optional', () => {
    const receivers = parts.filter(isInterfaceDeclaration).filter(({ name }) => !outside.has(name.text))
    const options = receivers.flatMap(({ members }) => members.filter(isOption))
    expect(options.length).toBeGreaterThan(500)
    expect(
      options
        .filter(option => !given.has(nameOf(option)))
        .map(option => `${placeOf(option)}: no caller gives it: have one give it, or leave it out`),
    ).toEqual([])
  })
})
