import { runAtOnce, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { referencedName } from './example.ts'
import type {
  JsonSchema,
  MediaTypeObject,
  OperationObject,
  ParameterObject,
  ResponseObject,
  SchemaReference,
  Schemas,
} from './types.ts'

type Operation = Pick<OperationObject, 'operationId' | 'parameters' | 'requestBody' | 'responses'>

export interface WithSchemas {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Schemas
    readonly parameters: Readonly<Record<string, ParameterObject>>
    readonly responses: Readonly<Record<string, ResponseObject | SchemaReference>>
  }
}

/**
 * Returns the replacement of a schema; `undefined` keeps it, and continues with its inner schemas. The last
 * argument says whether it is one of several alternatives.
 */
export type SchemaReplacement = (
  schema: JsonSchema,
  owner: string,
  member: string,
  isAlternative: boolean,
) => JsonSchema | undefined

export const mapValues = <T, R>(
  all: Readonly<Record<string, T>>,
  change: (one: T, name: string) => R,
): Record<string, R> =>
  Object.fromEntries(Object.entries(all).map(([name, one]) => [name, change(one, name)]))

export const isSameJson = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

export const withSchemas = <T extends WithSchemas>(document: T, schemas: Schemas): T => ({
  ...document,
  components: { ...document.components, schemas },
})

interface Part {
  readonly schema: JsonSchema
  owner: string
  member: string
  times: number
}

/** Writes what several schemas have in common once: first whole schemas, then values that only their words tell apart. */
export function* withSharedSchemas<T extends WithSchemas>(document: T): SlicedWork<T> {
  return yield* withSharedParts(yield* withSharedParts(document, wholeSchema), bareValue)
}

/** A schema as a part, and what stays beside the reference to it. */
interface Split {
  readonly part: JsonSchema
  readonly own: JsonSchema
}

type Splitting = (schema: JsonSchema, member: string) => Split | undefined

const wholeSchema: Splitting = (schema, member) =>
  canBePart(schema, member) ? { part: schema, own: {} } : undefined

const bareValue: Splitting = ({ description, 'x-default': standard, ...part }) => {
  const own = {
    ...(description === undefined ? {} : { description }),
    ...(standard === undefined ? {} : { 'x-default': standard }),
  }
  return isValue(part) ? { part, own } : undefined
}

function* withSharedParts<T extends WithSchemas>(document: T, split: Splitting): SlicedWork<T> {
  const known = new Map<string, Part>()
  const named = new Map<string, string>()
  const ambiguous = new Set<string>()
  yield* mapSchemas(document, (schema, owner, member) => {
    if (schema.$ref) return schema
    const { part } = split(schema, member) ?? {}
    if (!part) return undefined
    const text = JSON.stringify(part)
    const own = `${owner}.${member}`
    if (named.has(own) && named.get(own) !== text) ambiguous.add(own)
    named.set(own, text)
    const found = known.get(text)
    if (!found) known.set(text, { schema: part, owner, member, times: 1 })
    else {
      found.times += 1
      // Prefers the shorter name: `Webhook.retries` before `CreatedWebhook.retries`.
      if (owner.length < found.owner.length) Object.assign(found, { owner, member })
    }
    return found && schema
  })
  const { schemas } = document.components
  const taken = new Set(Object.keys(schemas).map(classOf))
  const parts = new Map(
    Object.entries(schemas).flatMap(([name, one]) => (isPart(name) ? [[JSON.stringify(one), name]] : [])),
  )
  const added: Record<string, JsonSchema> = {}
  for (const [text, part] of [...known].sort(([, a], [, b]) => b.times - a.times)) {
    const name = namesOf(part).find(one => !(one in added) && !taken.has(classOf(one)))
    const isClear = isValue(part.schema) || !ambiguous.has(`${part.owner}.${part.member}`)
    if (parts.has(text) || !name || !isClear || !isWorthName(part, text.length, name.length)) continue
    parts.set(text, name)
    added[name] = part.schema
  }
  const shorter = withSchemas(document, { ...schemas, ...added })
  return yield* mapSchemas(shorter, (schema, _, member) => {
    if (schema.$ref) return schema
    const { part, own } = split(schema, member) ?? {}
    const name = part && parts.get(JSON.stringify(part))
    return name === undefined ? undefined : { $ref: `${SCHEMAS}${name}`, ...own }
  })
}

/**
 * Generators make classes of objects and of closed lists, so these keep the names that generators give them:
 * record and member. A body belongs to one operation.
 */
const canBePart = (schema: JsonSchema, member: string): boolean =>
  isValue(schema) || (schema.properties !== undefined && member !== 'body')

/** A text, a number, or a list or map of them. A file does not count, as `File` is a class of Java. */
function isValue({ type, properties, items, additionalProperties, ...more }: JsonSchema): boolean {
  const isFile = more.format === 'binary' || more.contentEncoding !== undefined
  if (type === undefined || isFile || properties || more.enum || more.const !== undefined) return false
  if (type === 'object') return typeof additionalProperties === 'object' && isValue(additionalProperties)
  return items === undefined || isValue(items)
}

const SCHEMAS = '#/components/schemas/'

function isWorthName({ schema, times }: Part, length: number, name: number): boolean {
  if (!isValue(schema)) return times > 1
  // Each use has a reference, and the component is written once with its name.
  const saved = (length - name - SCHEMAS.length - '{"$ref":""}'.length) * times
  return saved > length + name + '"": ,'.length
}

/** The names that generators give to an object in a record: `amountEuros`, or `Webhook.retries`. */
function namesOf({ schema, owner, member }: Part): string[] {
  const own = `${owner.replace(EVENT, '')}.${member}`
  const kinds = isValue(schema) ? [kindOf(schema, member), member] : []
  return [...kinds, own, `${own}.again`].filter(isPart)
}

const classOf = (name: string): string => name.replaceAll(/[\W_]/g, '').toLowerCase()

const EVENT = /^event\./

/** Names of records begin with a capital and have no dot; names of events begin with `event.`. */
const isPart = (name: string): boolean => !/^[A-Z]\w*$/.test(name) && !EVENT.test(name)

/** Names a value by its format, by the record to which its id belongs, by its unit or length, or by the member. */
function kindOf(schema: JsonSchema, member: string): string {
  const { format, type, maxLength, examples = [], ...more } = schema
  const [, prefix] = /^([a-z_]+)_[0-9a-z]{26}$/.exec(String(examples[0])) ?? []
  const isEuros = [type].flat().includes('number') && member.endsWith('Euros')
  const isText = maxLength !== undefined && examples.length === 0 && !more.pattern && !more.description
  const measure = isEuros ? 'euros' : isText ? `text-${maxLength}` : member
  const kind = format ?? (prefix ? `${prefix}-id` : measure)
  return Array.isArray(type) ? `${kind}-or-null` : kind
}

export function withoutSharedSchemas<T extends WithSchemas>(document: T): T {
  const { schemas } = document.components
  const whole: SchemaReplacement = ({ $ref, ...own }) => {
    const name = referencedName($ref ?? '')
    return $ref && isPart(name) ? { ...mapInnerSchemas(schemas[name] ?? {}, whole, name), ...own } : undefined
  }
  const rest = Object.entries(schemas).filter(([name]) => !isPart(name))
  return runAtOnce(mapSchemas(withSchemas(document, Object.fromEntries(rest)), whole))
}

export function* mapSchemas<T extends WithSchemas>(
  { paths, components, ...rest }: T,
  change: SchemaReplacement,
): SlicedWork<T> {
  const changed = {
    ...rest,
    paths: yield* mapValuesInSlices(paths, item =>
      mapValues(item, operation => mapOperation(operation, change)),
    ),
    components: {
      ...components,
      schemas: yield* mapValuesInSlices(components.schemas, (schema, name) =>
        mapInnerSchemas(schema, change, name),
      ),
      parameters: mapValues(components.parameters, (one, name) => mapParameter(one, change, name)),
      responses: mapValues(components.responses, (one, name) => mapContent(one, change, name)),
    },
  }
  return changed as unknown as T
}

export function* mapValuesInSlices<T, R>(
  all: Readonly<Record<string, T>>,
  change: (one: T, name: string) => R,
): SlicedWork<Record<string, R>> {
  const changed: Record<string, R> = {}
  for (const [name, one] of Object.entries(all)) {
    changed[name] = change(one, name)
    yield
  }
  return changed
}

function mapOperation(operation: Operation, change: SchemaReplacement): Operation {
  const { operationId, requestBody, parameters = [], responses } = operation
  return {
    ...operation,
    parameters: parameters.map(one => mapParameter(one, change, operationId)),
    ...(requestBody ? { requestBody: mapContent(requestBody, change, operationId) } : {}),
    responses: mapValues(responses, one => mapContent(one, change, operationId)),
  }
}

const mapParameter = (
  one: ParameterObject | SchemaReference,
  change: SchemaReplacement,
  owner: string,
): ParameterObject | SchemaReference =>
  'schema' in one ? { ...one, schema: mapSchema(one.schema, change, owner, one.name) } : one

function mapContent<T extends object>(
  part: T & { readonly content?: Readonly<Record<string, MediaTypeObject>> },
  change: SchemaReplacement,
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

function mapSchema(
  schema: JsonSchema,
  change: SchemaReplacement,
  owner: string,
  member: string,
  isAlternative = false,
): JsonSchema {
  return change(schema, owner, member, isAlternative) ?? mapInnerSchemas(schema, change, owner, member)
}

export function mapInnerSchemas(
  schema: JsonSchema,
  change: SchemaReplacement,
  owner: string,
  member = '',
): JsonSchema {
  const each = (one: JsonSchema): JsonSchema => mapSchema(one, change, owner, member)
  const alternative = (one: JsonSchema): JsonSchema => mapSchema(one, change, owner, member, true)
  const added = (one: JsonSchema): JsonSchema => (one.$ref ? one : mapInnerSchemas(one, change, owner))
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema
  return {
    ...schema,
    ...(properties
      ? { properties: mapValues(properties, (one, name) => mapSchema(one, change, owner, name)) }
      : {}),
    ...(items ? { items: each(items) } : {}),
    ...(typeof additionalProperties === 'object' ? { additionalProperties: each(additionalProperties) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(alternative) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(alternative) } : {}),
    ...(allOf ? { allOf: allOf.map(added) } : {}),
  }
}
