import { z } from 'zod'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { uploadsIn } from '../../../kernel/contract/upload.ts'
import { jsonName } from '../../../values/json-names.ts'

/** What a page needs to know of a member. */
export interface MemberSchema {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly description?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly items?: MemberSchema
  readonly properties?: Members
  readonly required?: readonly string[]
  readonly examples?: readonly unknown[]
  /** Shown in the answer to the call that makes it, and never again. */
  readonly once?: boolean
  readonly anyOf?: readonly MemberSchema[]
  readonly isNullable?: boolean
  /** Where the schema stands that is meant. */
  readonly $ref?: string
}

export type Members = Readonly<Record<string, MemberSchema>>

const known = new WeakMap<z.ZodType, MemberSchema>()

/** An object as the contract has it: of what it lets one choose from, that which is not null. */
function objectOf(schema: z.ZodType | undefined): MemberSchema {
  if (!schema) return {}
  const found = known.get(schema)
  if (found) return found
  const { $defs = {}, ...root } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  })
  const object = withoutNull(resolved(root as MemberSchema, $defs as Members))
  known.set(schema, object)
  return object
}

/** The members of an object, by their names. */
const membersOf = ({ properties = {} }: MemberSchema): Members =>
  Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, withoutNull(member)]))

/** A schema that has a name stands in one place, and others refer to it: here it stands where it is meant. */
function resolved({ $ref, ...member }: MemberSchema, named: Members): MemberSchema {
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

/** `anyOf` of something and null is that something. */
function withoutNull(member: MemberSchema): MemberSchema {
  const { anyOf, ...rest } = member
  const others = anyOf?.filter(({ type }) => type !== 'null')
  const [only] = others ?? []
  return anyOf && only && others?.length === 1 ? { ...only, ...rest, isNullable: true } : member
}

/** A member of the body by its name; a member of a member by dots: `limits.dailyLimitEuros`, `parts.0.share`. */
export function bodyMember({ body }: AnyOperation, name: string): MemberSchema {
  const steps = name.split('.')
  const found = steps.reduce<MemberSchema | undefined>(
    (schema, step) => withoutNull(schema?.properties?.[step] ?? schema?.items ?? {}),
    objectOf(body),
  )
  return found ?? {}
}

export const queryMembers = ({ query }: AnyOperation): Members => membersOf(objectOf(query))

/** The members of the record that an operation answers, or of each record of its list. */
export function answerMembers({ returns: [, schema] }: AnyOperation): Members {
  const { data, ...members } = membersOf(objectOf(schema))
  return data?.items ? membersOf(data.items) : members
}

/** The members of the answer that are shown once. */
export const secretsOf = (operation: AnyOperation): string[] =>
  Object.entries(answerMembers(operation)).flatMap(([name, { once }]) => (once === true ? [name] : []))

/** What a form asks for where nothing else is said: the texts, numbers and choices of the body, and lists of them. */
export function fieldsOf({ body }: AnyOperation): string[] {
  const files = uploadsIn(body)
  return Object.entries(membersOf(objectOf(body))).flatMap(([name, { type, items }]) =>
    type !== undefined && type !== 'object' && !items?.properties && !files.has(name) ? [name] : [],
  )
}

/** The members without which the body is refused. */
export const requiredOf = ({ body }: AnyOperation): readonly string[] => objectOf(body).required ?? []

/** The names of the parameters in an operation's path. */
export const parametersIn = ({ path }: AnyOperation): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
