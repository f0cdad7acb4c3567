import { z } from 'zod'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'

/** What a form needs to know of a member. */
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
  readonly anyOf?: readonly MemberSchema[]
  readonly isNullable?: boolean
  /** Where the schema stands that is meant. */
  readonly $ref?: string
}

type Members = Readonly<Record<string, MemberSchema>>

const known = new WeakMap<z.ZodType, Members>()

/** The members of a body or query, as the contract has them. */
function membersOf(schema: z.ZodType | undefined): Members {
  if (!schema) return {}
  const found = known.get(schema)
  if (found) return found
  const { $defs = {}, ...root } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
  })
  const { properties = {} } = resolved(root as MemberSchema, $defs as Members)
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, withoutNull(member)]),
  )
  known.set(schema, members)
  return members
}

/** A schema that has a name stands in one place, and others refer to it: here it stands where it is meant. */
function resolved({ $ref, ...member }: MemberSchema, named: Members): MemberSchema {
  const meant = $ref === undefined ? undefined : named[$ref.split('/').at(-1) ?? '']
  const whole: MemberSchema = meant ? { ...resolved(meant, named), ...member } : member
  const { anyOf, properties } = whole
  return {
    ...whole,
    ...(anyOf && { anyOf: anyOf.map(one => resolved(one, named)) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, resolved(one, named)]),
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
    { properties: membersOf(body) },
  )
  return found ?? {}
}

export const queryMembers = ({ query }: AnyOperation): Members => membersOf(query)
