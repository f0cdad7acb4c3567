import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { ToolDefinition } from '../../kernel/contract/tool.ts'
import { findUploads } from '../../kernel/contract/upload.ts'
import { resolveSchema } from '../openapi/example.ts'
import { SchemaCollector } from '../openapi/schemas.ts'
import type { JsonSchema, Schemas } from '../openapi/types.ts'

type InputSchema = ToolDefinition['inputSchema']

export interface ToolSchemaReader {
  readonly isAgent: boolean
  /** Lists of tools must be short, so descriptions keep only their first sentence, and examples are left out. */
  readonly isShort: boolean
}

const NO_FILES: ReadonlyMap<string, unknown> = new Map()

/** Only a person's browser can create this member, so tools do not have it. */
const NOT_FOR_TOOLS = new Set(['webauthnAssertion'])

const PARAMETER = /\{(\w+)\}/g

export const pathParameterNames = ({ path }: Pick<AnyOperation, 'path'>): string[] =>
  [...path.matchAll(PARAMETER)].map(([, name = '']) => name)

export const agentPathParameter = ({ path }: Pick<AnyOperation, 'path'>): string | undefined =>
  /^\/(?:\w+\/)*agents?\/\{(\w+)\}/.exec(path)?.[1]

const idempotencyKey: JsonSchema = {
  type: 'string',
  maxLength: 255,
  description:
    'Your ID for this action. Without it, the same call within ten minutes counts as the same action.',
}

export function toolInputSchema(
  operation: AnyOperation,
  takesKey: boolean,
  reader: ToolSchemaReader,
): InputSchema {
  const own = reader.isAgent ? agentPathParameter(operation) : undefined
  const parameters = pathParameterNames(operation).filter(name => name !== own)
  const given = [operation.query, operation.body].flatMap(schema => (schema ? objectOf(schema, reader) : []))
  const properties = Object.assign(
    Object.fromEntries(parameters.map(name => [name, { type: 'string' }])),
    ...given.map(({ properties }) => properties),
    takesKey ? { idempotencyKey } : {},
  ) as Record<string, JsonSchema>
  const files = operation.body ? findUploads(operation.body) : NO_FILES
  const shown = Object.entries(properties).filter(
    ([name]) => !NOT_FOR_TOOLS.has(name) && !files.has(name) && !(reader.isAgent && name === 'agentId'),
  )
  const names = new Set(shown.map(([name]) => name))
  const required = [...parameters, ...given.flatMap(schema => schema.required ?? [])].filter(name =>
    names.has(name),
  )
  return {
    type: 'object',
    properties: Object.fromEntries(shown),
    ...(required.length > 0 ? { required } : {}),
  } as InputSchema
}

function objectOf(schema: Parameters<SchemaCollector['add']>[0], reader: ToolSchemaReader): JsonSchema {
  const collector = new SchemaCollector()
  const root = collector.add(schema)
  return inlined(root, collector.all(), reader, 0)
}

const DEEPEST = 12
const LONGEST = 160

/** Resolves references, as each tool must be self-contained. */
function inlined(schema: JsonSchema, schemas: Schemas, reader: ToolSchemaReader, depth: number): JsonSchema {
  if (depth > DEEPEST) return {}
  const deeper = (inner: JsonSchema) => inlined(inner, schemas, reader, depth + 1)
  if (schema.$ref) return deeper(resolveSchema(schema.$ref, schemas))
  const {
    properties,
    items,
    anyOf,
    oneOf,
    additionalProperties,
    description,
    examples,
    default: _,
    ...rest
  } = schema
  const { pattern, maxLength, minLength, contentEncoding, ...short } = rest
  const options = anyOf ?? oneOf
  return {
    ...(reader.isShort ? short : rest),
    ...(description === undefined
      ? {}
      : { description: reader.isShort ? shortened(description) : description }),
    ...(examples && !reader.isShort ? { examples } : {}),
    ...(properties ? { properties: mapped(properties, deeper) } : {}),
    ...(items ? { items: deeper(items) } : {}),
    ...(options ? { anyOf: options.map(deeper) } : {}),
    ...(typeof additionalProperties === 'object'
      ? { additionalProperties: deeper(additionalProperties) }
      : {}),
  }
}

const mapped = (members: Schemas, change: (schema: JsonSchema) => JsonSchema): Schemas =>
  Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]))

function shortened(description: string): string {
  const [first = ''] = description.split(/(?<=\.) /)
  return first.length > LONGEST ? `${first.slice(0, LONGEST - 1)}…` : first
}
