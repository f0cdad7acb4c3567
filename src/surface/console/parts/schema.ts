import { z } from 'zod'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { findUploads } from '../../../kernel/contract/upload.ts'
import { jsonName } from '../../../values/json-names.ts'

export interface MemberSchema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly string[]
  readonly description?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly items?: MemberSchema
  readonly properties?: MemberSchemas
  readonly required?: readonly string[]
  readonly examples?: readonly unknown[]
  readonly once?: boolean
  readonly anyOf?: readonly MemberSchema[]
  readonly isNullable?: boolean
  /** The member of the body, an object that may be null, of which it is a part. */
  readonly whole?: string
  readonly $ref?: string
}

export type MemberSchemas = Readonly<Record<string, MemberSchema>>

const known = new WeakMap<z.ZodType, MemberSchema>()

function objectOf(schema: z.ZodType | undefined): MemberSchema {
  if (!schema) return {}
  const found = known.get(schema)
  if (found) return found
  const { $defs = {}, ...root } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  })
  const object = withoutNull(resolved(root as MemberSchema, $defs as MemberSchemas))
  known.set(schema, object)
  return object
}

const membersOf = ({ properties = {} }: MemberSchema): MemberSchemas =>
  Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, withoutNull(member)]))

function resolved({ $ref, ...member }: MemberSchema, named: MemberSchemas): MemberSchema {
  const meant = $ref === undefined ? undefined : named[$ref.split('/').at(-1) ?? '']
  const whole: MemberSchema = meant ? { ...resolved(meant, named), ...member } : member
  const { anyOf, properties, items, required } = whole
  return {
    ...whole,
    ...(anyOf && { anyOf: anyOf.map(one => resolved(one, named)) }),
    ...(items && { items: resolved(items, named) }),
    ...(required && { required: required.map(jsonName) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [jsonName(name), resolved(one, named)]),
      ),
    }),
  }
}

function withoutNull(member: MemberSchema): MemberSchema {
  const { anyOf, ...rest } = member
  const others = anyOf?.filter(({ type }) => type !== 'null')
  const [only] = others ?? []
  return anyOf && only && others?.length === 1 ? { ...only, ...rest, isNullable: true } : member
}

/** Finds a member of the body by name. Dots address nested members: `limits.dailyLimitEuros`, `parts.0.share`. */
export function bodyMemberSchema({ body }: AnyOperation, name: string): MemberSchema {
  const [first = '', ...steps] = name.split('.')
  const member = memberSchema(objectOf(body), first)
  const found = steps.reduce(memberSchema, member)
  return member.isNullable && steps.length > 0 ? { ...found, whole: first } : found
}

const memberSchema = ({ properties, items }: MemberSchema, step: string): MemberSchema =>
  withoutNull(properties?.[step] ?? items ?? {})

export const queryMemberSchemas = ({ query }: AnyOperation): MemberSchemas => membersOf(objectOf(query))

export function answerMemberSchemas({ returns: [, schema] }: AnyOperation): MemberSchemas {
  const { data, ...members } = membersOf(objectOf(schema))
  return data?.items ? membersOf(data.items) : members
}

export const secretMembers = (operation: AnyOperation): string[] =>
  Object.entries(answerMemberSchemas(operation)).flatMap(([name, { once }]) => (once === true ? [name] : []))

/** The fields that a form has by default: texts, numbers and enumerations of the body, and lists of these. */
export function formFieldNames({ body }: AnyOperation): string[] {
  const files = findUploads(body)
  return Object.entries(membersOf(objectOf(body))).flatMap(([name, { type, items }]) =>
    type !== undefined && type !== 'object' && !items?.properties && !files.has(name) ? [name] : [],
  )
}

export const requiredMembers = ({ body }: AnyOperation): readonly string[] => objectOf(body).required ?? []

export const pathParametersOf = ({ path }: AnyOperation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
