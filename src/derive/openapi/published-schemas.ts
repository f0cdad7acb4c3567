import { atOnce, type Sliced } from '../../kernel/contract/time-slices.ts'
import { nameOf } from './example.ts'
import type {
  JsonSchema,
  MediaType,
  OperationObject,
  Parameter,
  Reference,
  ResponseObject,
  Schemas,
} from './types.ts'

/** The parts of a document in which schemas stand. */
interface WithSchemas {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: {
    readonly schemas: Schemas
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly responses: Readonly<Record<string, ResponseObject | Reference>>
  }
}

/** Gives what stands instead of a schema; `undefined` leaves it, and looks at those within. */
type Change = (schema: JsonSchema, owner: string, member: string) => JsonSchema | undefined

export const mapValues = <T, R>(
  all: Readonly<Record<string, T>>,
  change: (one: T, name: string) => R,
): Record<string, R> =>
  Object.fromEntries(Object.entries(all).map(([name, one]) => [name, change(one, name)]))

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const PART = 'part.'

/** What a part has to save in bytes to be worth its name. */
const WORTH = 60

/** The same document, in which schemas that come again and again are components, if that is shorter. */
export function* withParts<T extends WithSchemas>(document: T): Sliced<T> {
  const known = new Map<string, { schema: JsonSchema; owner: string; member: string; times: number }>()
  yield* mapSchemas(document, (schema, owner, member) => {
    if (schema.$ref) return schema
    const text = JSON.stringify(schema)
    const found = known.get(text)
    if (!found) known.set(text, { schema, owner, member, times: 1 })
    else found.times += 1
    return found && schema
  })
  const parts = new Map<string, string>()
  const schemas: Record<string, JsonSchema> = {}
  const byUse = [...known].sort(([, a], [, b]) => b.times - a.times)
  for (const [text, { schema, owner, member, times }] of byUse) {
    const names = [kindOf(schema, member), `${owner}.${member}`, `${owner}.${member}.${parts.size}`]
    const name = names.map(one => `${PART}${one}`).find(one => !(one in schemas)) ?? ''
    if (savedBy(text.length, times, name.length) < WORTH) continue
    parts.set(text, name)
    schemas[name] = schema
  }
  const named = {
    ...document,
    components: { ...document.components, schemas: { ...document.components.schemas, ...schemas } },
  }
  return yield* mapSchemas(named, schema => {
    const name = parts.get(JSON.stringify(schema))
    return name === undefined ? undefined : { $ref: `${SCHEMAS}${name}` }
  })
}

const SCHEMAS = '#/components/schemas/'

/** A reference is written for each, and the part with its name once. */
const savedBy = (length: number, times: number, name: number): number =>
  (length - name - SCHEMAS.length - '{"$ref":""}'.length) * times - length - name - '"": ,'.length

/** What a schema is called: as its format, the record of which it is an id, or the member. */
function kindOf({ format, type, examples = [] }: JsonSchema, member: string): string {
  const [, prefix] = /^([a-z_]+)_[0-9a-z]{26}$/.exec(String(examples[0])) ?? []
  const kind = format ?? (prefix ? `${prefix}-id` : member)
  return Array.isArray(type) ? `${kind}-or-null` : kind
}

/** The inverse of `withParts`. */
export function withoutParts<T extends WithSchemas>(document: T): T {
  const { schemas } = document.components
  const whole: Change = ({ $ref = '' }) => {
    const name = nameOf($ref)
    return name.startsWith(PART) ? within(schemas[name] ?? {}, whole, name) : undefined
  }
  const rest = Object.entries(schemas).filter(([name]) => !name.startsWith(PART))
  const components = { ...document.components, schemas: Object.fromEntries(rest) }
  return atOnce(mapSchemas({ ...document, components }, whole))
}

function* mapSchemas<T extends WithSchemas>({ paths, components, ...rest }: T, change: Change): Sliced<T> {
  const changed = {
    ...rest,
    paths: yield* eachInTurn(paths, item => mapValues(item, operation => mapOperation(operation, change))),
    components: {
      ...components,
      schemas: yield* eachInTurn(components.schemas, (schema, name) => within(schema, change, name)),
      parameters: mapValues(components.parameters, (one, name) => mapParameter(one, change, name)),
      responses: mapValues(components.responses, (one, name) => mapContent(one, change, name)),
    },
  }
  return changed as unknown as T
}

/** As `mapValues`, with a pause after each. */
export function* eachInTurn<T, R>(
  all: Readonly<Record<string, T>>,
  change: (one: T, name: string) => R,
): Sliced<Record<string, R>> {
  const changed: Record<string, R> = {}
  for (const [name, one] of Object.entries(all)) {
    changed[name] = change(one, name)
    yield
  }
  return changed
}

function mapOperation(operation: OperationObject, change: Change): OperationObject {
  const { operationId, requestBody, parameters = [], responses } = operation
  return {
    ...operation,
    parameters: parameters.map(one => mapParameter(one, change, operationId)),
    ...(requestBody ? { requestBody: mapContent(requestBody, change, operationId) } : {}),
    responses: mapValues(responses, one => mapContent(one, change, operationId)),
  }
}

const mapParameter = (one: Parameter | Reference, change: Change, owner: string): Parameter | Reference =>
  'schema' in one ? { ...one, schema: mapSchema(one.schema, change, owner, one.name) } : one

function mapContent<T extends object>(
  part: T & { readonly content?: Readonly<Record<string, MediaType>> },
  change: Change,
  owner: string,
): T {
  if (!part.content) return part
  const map = (schema: JsonSchema): JsonSchema => mapSchema(schema, change, owner, 'body')
  const content = mapValues(
    part.content,
    ({ schema, 'x-itemSchema': item, 'x-lineSchema': line, ...media }) => ({
      ...(schema ? { schema: map(schema) } : {}),
      ...(item ? { 'x-itemSchema': map(item) } : {}),
      ...(line ? { 'x-lineSchema': map(line) } : {}),
      ...media,
    }),
  )
  return { ...part, content }
}

function mapSchema(schema: JsonSchema, change: Change, owner: string, member: string): JsonSchema {
  return change(schema, owner, member) ?? within(schema, change, owner, member)
}

/** The schema with what stands within it changed. */
function within(schema: JsonSchema, change: Change, owner: string, member = ''): JsonSchema {
  const each = (one: JsonSchema): JsonSchema => mapSchema(one, change, owner, member)
  const { properties, items, additionalProperties, anyOf, oneOf } = schema
  return {
    ...schema,
    ...(properties
      ? { properties: mapValues(properties, (one, name) => mapSchema(one, change, owner, name)) }
      : {}),
    ...(items ? { items: each(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: each(additionalProperties) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(each) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(each) } : {}),
  }
}
