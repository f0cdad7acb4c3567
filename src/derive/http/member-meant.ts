import type { z } from 'zod'
import { nearest } from '../../values/nearest.ts'

type Schema = z.core.$ZodTypes

/** Names that are taken for one another: one operation says why with this, the next one with that. */
const ALIKE: readonly (readonly string[])[] = [['comment', 'reason', 'note', 'memo', 'message']]

/** `, did you mean …?` for a name that an operation does not know at this place; empty where none is near. */
export function memberMeant(name: string, schema: z.core.$ZodType, path: readonly PropertyKey[]): string {
  const names = membersAt(schema, path)
  const others = ALIKE.find(alike => alike.includes(name)) ?? []
  const meant = names.find(one => others.includes(one)) ?? nearest(name, names)
  return meant === undefined ? '' : `, did you mean ${meant}?`
}

/** The members of the object at a path; none where it may be one of several. */
function membersAt(schema: z.core.$ZodType, [first, ...rest]: readonly PropertyKey[]): readonly string[] {
  const { def } = (schema as Schema)._zod
  const path = first === undefined ? [] : [first, ...rest]
  if (def.type === 'object') {
    if (first === undefined) return Object.keys(def.shape)
    const member = def.shape[String(first)]
    return member ? membersAt(member, rest) : []
  }
  if (def.type === 'array') return membersAt(def.element, rest)
  if (def.type === 'record') return membersAt(def.valueType, rest)
  if (def.type === 'pipe') return membersAt(isTransform(def.in) ? def.out : def.in, path)
  return 'innerType' in def ? membersAt(def.innerType, path) : []
}

const isTransform = (schema: z.core.$ZodType): boolean => (schema as Schema)._zod.def.type === 'transform'
