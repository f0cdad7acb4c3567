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
  SyntaxKind,
} from 'typescript/unstable/ast'
import {
  type Checker,
  type Symbol as Member,
  ObjectFlags,
  SymbolFlags,
  type Type,
  TypeFlags,
} from 'typescript/unstable/sync'
import { root } from './sources.ts'

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
interface Receiver {
  readonly takesAny: boolean
  readonly members: ReadonlyMap<string, readonly Member[]>
}

export const isOptional = ({ flags }: Member): boolean => (flags & SymbolFlags.Optional) !== 0

/** The same for all types that have the member from one declaration. */
const declarationOf = ({ valueDeclaration, declarations }: Member) => valueDeclaration ?? declarations[0]

export const isOurs = (member: Member): boolean => {
  const { path = '' } = declarationOf(member) ?? {}
  return path.startsWith(root) && !path.includes('/node_modules/')
}

export const keyOf = (member: Member): string => {
  const { path, index } = declarationOf(member) ?? { path: '', index: member.id }
  return `${path}#${index}`
}

const WRITTEN: readonly unknown[] = [SyntaxKind.PropertyAssignment, SyntaxKind.ShorthandPropertyAssignment]

const isWritten = (member: Member): boolean => isOurs(member) && WRITTEN.includes(declarationOf(member)?.kind)

const branchesOf = (part: Node): Node[] =>
  isConditionalExpression(part) ? [part.whenTrue, part.whenFalse].flatMap(branchesOf) : [part]

const isVariable = (part: Node): boolean =>
  isIdentifier(part) || isCallExpression(part) || isAwaitExpression(part)

function handedIn(part: Node): readonly Node[] {
  if (isCallExpression(part) || isNewExpression(part))
    return (part.arguments ?? []).flatMap(branchesOf).filter(isVariable)
  return isObjectLiteralExpression(part) && part.properties.some(isSpreadAssignment) ? [part] : []
}

const alternatives = (type: Type): readonly Type[] =>
  type.isUnionType() ? (type.getTypes() ?? []).flatMap(alternatives) : [type]

const isMade = (type: Type): boolean =>
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

    /** The objects behind variables and spreads: the members that literals wrote, and the receiver of each. */
    handedIn(parts: readonly Node[]) {
      const nodes = parts.flatMap(handedIn)
      const types: (Type | undefined)[] = []
      for (let from = 0; from < nodes.length; from += AT_ONCE)
        types.push(...checker.getTypeAtLocation(nodes.slice(from, from + AT_ONCE)))
      return nodes.flatMap((node, index) => {
        const type = types[index]
        const given = (type ? alternatives(type) : []).filter(isMade).flatMap(membersOf).filter(isWritten)
        const expected = given.length > 0 ? checker.getContextualType(node as Expression) : undefined
        return expected ? [{ node, given, receiver: receiverOf(expected) }] : []
      })
    },
  }
}
