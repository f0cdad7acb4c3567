import {
  type Expression,
  isAwaitExpression,
  isCallExpression,
  isConditionalExpression,
  isIdentifier,
  isNewExpression,
  isObjectLiteralExpression,
  isSpreadAssignment,
  type Node,
} from 'typescript/unstable/ast'
import {
  type Checker,
  type Symbol as Member,
  ObjectFlags,
  SymbolFlags,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync'

/** Types are asked for in batches, as each question is a message to another process. */
const AT_ONCE = 1_000

const ANYTHING =
  TypeFlags.Any |
  TypeFlags.Unknown |
  TypeFlags.NonPrimitive |
  TypeFlags.TypeParameter |
  TypeFlags.Index |
  TypeFlags.IndexedAccess |
  TypeFlags.Conditional

/** A class, an interface, an array or a mapped type: not what literals are made of. */
const DECLARED = ObjectFlags.ClassOrInterface | ObjectFlags.Reference | ObjectFlags.Mapped

/** What a receiver knows of an object that is handed to it. */
export interface Receiver {
  readonly takesAny: boolean
  readonly members: ReadonlyMap<string, readonly Member[]>
}

export const isOptional = ({ flags }: Member): boolean => (flags & SymbolFlags.Optional) !== 0

/** The same for all types that have the member from one declaration. */
export const declarationOf = ({ valueDeclaration, declarations }: Member) =>
  valueDeclaration ?? declarations[0]

export const keyOf = (member: Member): string => {
  const { path, index } = declarationOf(member) ?? { path: '', index: member.id }
  return `${path}#${index}`
}

const branchesOf = (part: Node): Node[] =>
  isConditionalExpression(part) ? [part.whenTrue, part.whenFalse].flatMap(branchesOf) : [part]

function handedIn(part: Node): readonly Node[] {
  if (isCallExpression(part) || isNewExpression(part)) return (part.arguments ?? []).flatMap(branchesOf)
  return isObjectLiteralExpression(part) && part.properties.some(isSpreadAssignment) ? [part] : []
}

const mayBeWritten = (part: Node): boolean =>
  isObjectLiteralExpression(part) || isIdentifier(part) || isCallExpression(part) || isAwaitExpression(part)

const alternatives = (type: Type): readonly Type[] =>
  type.isUnionType() ? (type.getTypes() ?? []).flatMap(alternatives) : [type]

const isWritten = (type: Type): boolean =>
  type.isIntersectionType() || (type.isObjectType() && (type.objectFlags & DECLARED) === 0)

/** Answers about the types of objects, each asked for once. */
export function objectsOf(checker: Checker) {
  const byType = new Map<number, readonly Member[]>()
  const receivers = new Map<number, Receiver>()

  function membersOf(type: Type): readonly Member[] {
    const members = byType.get(type.id) ?? checker.getPropertiesOfType(type)
    byType.set(type.id, members)
    return members
  }

  function receiverOf(type: Type): Receiver {
    const known = receivers.get(type.id)
    if (known) return known
    const objects = alternatives(type).filter(one => one.isObjectType() || one.isIntersectionType())
    const members = Map.groupBy(objects.flatMap(membersOf), ({ name }) => name)
    const takesAny =
      members.size === 0 ||
      alternatives(type).some(({ flags }) => (flags & ANYTHING) !== 0) ||
      objects.some(one => checker.getIndexInfosOfType(one).length > 0)
    receivers.set(type.id, { takesAny, members })
    return { takesAny, members }
  }

  return {
    membersNamed(name: string, object: Node): Member[] {
      const type = checker.getTypeAtLocation(object)
      return (type ? alternatives(type) : []).flatMap(one =>
        membersOf(one).filter(member => member.name === name),
      )
    },

    receiverOfLiteral: (literal: Node): Receiver | undefined => {
      const expected = checker.getContextualType(literal as Expression)
      return expected && receiverOf(expected)
    },

    /** The objects of literals that are handed on in these parts of files: the members of each, and its receiver. */
    handedIn(parts: readonly Node[]) {
      const nodes = [...new Set(parts.flatMap(handedIn).filter(mayBeWritten))]
      const types: (Type | undefined)[] = []
      for (let from = 0; from < nodes.length; from += AT_ONCE)
        types.push(...checker.getTypeAtLocation(nodes.slice(from, from + AT_ONCE)))
      return nodes.flatMap((node, index) => {
        const type = types[index]
        const given = type ? alternatives(type).filter(isWritten).flatMap(membersOf) : []
        const expected = given.length > 0 ? checker.getContextualType(node as Expression) : undefined
        return expected ? [{ node, given, receiver: receiverOf(expected) }] : []
      })
    },
  }
}
