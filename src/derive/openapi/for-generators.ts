import { runAtOnce, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { referencedName } from './example.ts'
import {
  isSameJson,
  mapInnerSchemas,
  mapSchemas,
  type SchemaReplacement,
  type WithSchemas,
  withSchemas,
} from './published-schemas.ts'
import type { JsonSchema } from './types.ts'

/** Rewrites the document for client generators. `docs/how-to/generators.md` lists the tested ones. */
export function* rewriteForGenerators<T extends WithSchemas>(document: T): SlicedWork<T> {
  const pages: Record<string, JsonSchema> = {}
  const changed = yield* mapSchemas(document, (schema, owner, member, isAlternative) => {
    const name = pageNameOf(schema)
    if (name === undefined) return plainly(schema, owner, member, isAlternative)
    pages[name] ??= schema
    return { $ref: `${SCHEMAS}${name}` }
  })
  return withSchemas(changed, { ...changed.components.schemas, ...pages })
}

export function restoreFromGenerators<T extends WithSchemas>(document: T): T {
  const { schemas } = document.components
  const pages = Object.entries(schemas).filter(([name, schema]) => pageNameOf(schema) === name)
  const byName = new Map(pages)
  const change: SchemaReplacement = (schema, owner, member, isAlternative) =>
    byName.get(referencedName(schema.$ref ?? '')) ?? asTheyAre(schema, owner, member, isAlternative)
  const records = Object.entries(schemas).filter(([name]) => !byName.has(name))
  return runAtOnce(mapSchemas(withSchemas(document, Object.fromEntries(records)), change))
}

const SCHEMAS = '#/components/schemas/'

/** Names a page of records. Otherwise generators would use the name of the first operation that returns it. */
function pageNameOf({ properties }: JsonSchema): string | undefined {
  const record = properties?.data?.items?.$ref
  const isPage = isSameJson(Object.keys(properties ?? {}), ['data', 'hasMore', 'nextCursor'])
  return isPage && record ? `${referencedName(record)}Page` : undefined
}

interface Place {
  readonly member: string
  readonly isAlternative: boolean
}

type Rewrite = (schema: JsonSchema, place: Place) => JsonSchema

/** Writes a schema so that all generators understand it, and restores it. */
interface Form {
  readonly plain: Rewrite
  readonly back: Rewrite
}

/** Some generators have no type for null alone, so it becomes a text that is always null. */
const onlyNull: Form = {
  plain: (schema, { isAlternative }) =>
    schema.type === 'null' && !isAlternative ? { ...schema, type: ['string', 'null'], const: null } : schema,
  back: ({ const: only, ...rest }) =>
    only === null ? { ...rest, type: 'null' } : { ...rest, ...(only === undefined ? {} : { const: only }) },
}

/** Among alternatives, a pattern allows the members of an object, as Java has no class of a typed map. */
const anything: Form = {
  plain(schema, { isAlternative }) {
    const { additionalProperties, ...rest } = schema
    if (!isSameJson(additionalProperties, {})) return schema
    return {
      ...rest,
      ...(isAlternative ? { patternProperties: { '^': {} } } : { additionalProperties: true }),
    }
  },
  back(schema) {
    const { patternProperties, ...rest } = schema
    return patternProperties || schema.additionalProperties === true
      ? { ...rest, additionalProperties: {} }
      : schema
  },
}

const LIST = '^(?:'
const END = ')$'
const isNumber = ({ member }: Place): boolean => /^\d/.test(member)

/** A closed list becomes a class named after its member. For numbers, a pattern lists the values instead. */
const numberedList: Form = {
  plain(schema, place) {
    const { enum: values, ...rest } = schema
    if (!values || !isNumber(place)) return schema
    return { ...rest, pattern: LIST + values.filter(value => value !== null).join('|') + END }
  },
  back(schema, place) {
    const { pattern = '', ...rest } = schema
    if (!pattern.startsWith(LIST) || !isNumber(place)) return schema
    const values = pattern.slice(LIST.length, -END.length).split('|')
    return { ...rest, enum: Array.isArray(schema.type) ? [...values, null] : values }
  },
}

/** For a null or empty default, Go generators write the text `null`, or code that does not compile. */
const emptyDefault: Form = {
  plain(schema) {
    const { default: standard, ...rest } = schema
    return standard === null || isSameJson(standard, {}) ? { ...rest, 'x-default': standard } : schema
  },
  back(schema) {
    const { 'x-default': standard, ...rest } = schema
    return standard === undefined ? schema : { ...rest, default: standard }
  },
}

const FORMS = [onlyNull, anything, numberedList, emptyDefault]

const byForms =
  (direction: keyof Form): SchemaReplacement =>
  (schema, owner, member, isAlternative) => {
    const place = { member, isAlternative }
    const changed = FORMS.reduce((one, form) => form[direction](one, place), schema)
    return mapInnerSchemas(changed, byForms(direction), owner, member)
  }

const plainly = byForms('plain')
const asTheyAre = byForms('back')
