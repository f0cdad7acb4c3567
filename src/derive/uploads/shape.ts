import { z } from 'zod'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import { uploadsIn } from '../../kernel/contract/upload.ts'

const found = new WeakMap<AnyOperation, readonly string[]>()

/** The members of a body that are neither files nor texts: in `multipart/form-data` they come as JSON. */
export function membersAsJson(operation: AnyOperation): readonly string[] {
  const known = found.get(operation) ?? readMembers(operation)
  found.set(operation, known)
  return known
}

function readMembers({ body }: AnyOperation): readonly string[] {
  const files = uploadsIn(body)
  const members = Object.entries<z.ZodType>((body as z.ZodObject).shape)
  return members.flatMap(([name, member]) =>
    files.has(name) || isText(z.toJSONSchema(member, { io: 'input', unrepresentable: 'any' })) ? [] : [name],
  )
}

/** A text, or one that may be null. References stand for objects. */
function isText({ type, anyOf, enum: values, const: only }: z.core.JSONSchema.BaseSchema): boolean {
  if (anyOf) return anyOf.some(option => isText(option as z.core.JSONSchema.BaseSchema))
  if (type) return type === 'string'
  return [...(values ?? []), only].some(value => typeof value === 'string')
}
