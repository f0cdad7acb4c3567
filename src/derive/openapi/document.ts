import { readFileSync } from 'node:fs'
import { type Areas, published } from '../../kernel/contract/area.ts'
import { type Registered, refusalFormOf } from '../../kernel/contract/operation.ts'
import { atOnce, type Sliced } from '../../kernel/contract/time-slices.ts'
import { ErrorCollector } from './errors.ts'
import { deliveriesTag, deliveryHeaders, eventTypesSliced, webhooksOf } from './event-types.ts'
import type { Known } from './example.ts'
import { headerParameters, headers } from './headers.ts'
import { operationObject, type Parts } from './operation.ts'
import { parameterExamples } from './parameters.ts'
import { SchemaCollector } from './schemas.ts'
import { securitySchemes } from './security.ts'
import type { Document, JsonSchema, OperationObject, Tag } from './types.ts'

const introduction = readFileSync(new URL('./introduction.md', import.meta.url), 'utf8').trim()

export const info = {
  title: 'Agent Payments',
  summary: 'Payments for autonomous agents, under rules that their owners set.',
  description: introduction,
  version: '0.7.0',
  license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
}

const servers = [
  { url: '/', description: 'This installation.' },
  { url: '/v1', description: 'The same operations under a version prefix.' },
]

const errorSchema: JsonSchema = {
  type: 'object',
  description: 'What went wrong, for people. Programs read the header `X-Error-Code`.',
  properties: { error: { type: 'string' } },
  required: ['error'],
}

const problemSchema: JsonSchema = {
  type: 'object',
  description: 'What went wrong (RFC 9457); `error` repeats it, as in every refusal.',
  properties: {
    type: { type: 'string', description: 'A URL that names the kind of problem.' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    error: { type: 'string' },
  },
  required: ['type', 'title', 'status', 'detail', 'error'],
}

export const openapiDocument = (areas: Areas): Document => atOnce(openapiSliced(areas))

export function* openapiSliced(areas: Areas): Sliced<Document> {
  const operations = published(areas)
  const schemas = new SchemaCollector()
  const errors = new ErrorCollector()
  const parameterExample = yield* parameterExamples(
    operations.map(({ operation }) => operation),
    schemas,
  )
  const paths = yield* pathsOf(operations, { schemas, errors, parameterExample })
  const webhooks = webhooksOf(areas, yield* eventTypesSliced(areas, schemas))
  return {
    openapi: '3.1.1',
    info,
    servers,
    tags: [...tagsOf(areas), deliveriesTag],
    paths,
    webhooks,
    components: {
      securitySchemes,
      schemas: {
        ...schemas.all(),
        Error: errorSchema,
        ...(usesProblems(operations) ? { Problem: problemSchema } : {}),
      },
      parameters: { ...headerParameters, ...deliveryHeaders },
      headers,
      responses: errors.all(),
    },
  }
}

const usesProblems = (operations: readonly Registered[]): boolean =>
  operations.some(({ operation }) =>
    Object.keys(operation.fails ?? {}).some(code => refusalFormOf(operation, code).problem),
  )

function* pathsOf(operations: readonly Registered[], parts: Parts): Sliced<Document['paths']> {
  const known = knownBySection(operations)
  const paths: Record<string, Record<string, OperationObject>> = {}
  for (const one of operations) {
    const { path, method } = one.operation
    paths[path] ??= {}
    paths[path][method.toLowerCase()] = operationObject(one, known.get(one.tag) ?? {}, parts)
    yield
  }
  return paths
}

function knownBySection(operations: readonly Registered[]): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>()
  for (const { tag, operation } of operations) known.set(tag, { ...operation.example, ...known.get(tag) })
  return known
}

function tagsOf(areas: Areas): Tag[] {
  return Object.values(areas).map(({ name, about, machines }) => {
    const states = Object.fromEntries(machines.map(machine => [machine.name, machine.table]))
    return { name, description: about, ...(machines.length > 0 ? { 'x-states': states } : {}) }
  })
}
