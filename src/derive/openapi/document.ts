import { readFileSync } from 'node:fs'
import { type Areas, publishedOperations } from '../../kernel/contract/area.ts'
import { type RegisteredOperation, refusalFormOf } from '../../kernel/contract/operation.ts'
import { runAtOnce, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { RefusalCollector } from './errors.ts'
import {
  deliveryHeaders,
  documentedWebhooks,
  eventTypesInSlices,
  webhookDeliveriesTag,
} from './event-types.ts'
import type { ExampleValues } from './example.ts'
import { headerParameters, responseHeaders } from './headers.ts'
import { type OperationObjectParts, operationObject } from './operation.ts'
import { parameterExamples } from './parameters.ts'
import { SchemaCollector } from './schemas.ts'
import { securitySchemes } from './security.ts'
import type { JsonSchema, OpenapiDocument, OperationObject, TagObject } from './types.ts'

const introduction = readFileSync(new URL('./introduction.md', import.meta.url), 'utf8').trim()

export const openapiInfo = {
  title: 'Agent Payments',
  summary: 'Payments for autonomous agents, under rules that their owners set.',
  description: introduction,
  version: '0.8.0',
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

export const openapiDocument = (areas: Areas): OpenapiDocument => runAtOnce(buildOpenapiInSlices(areas))

export function* buildOpenapiInSlices(areas: Areas): SlicedWork<OpenapiDocument> {
  const operations = publishedOperations(areas)
  const schemas = new SchemaCollector()
  const errors = new RefusalCollector()
  const parameterExample = yield* parameterExamples(
    operations.map(({ operation }) => operation),
    schemas,
  )
  const paths = yield* pathsOf(operations, { schemas, errors, parameterExample })
  const webhooks = documentedWebhooks(areas, yield* eventTypesInSlices(areas, schemas))
  return {
    openapi: '3.1.1',
    info: openapiInfo,
    servers,
    tags: [...tagsOf(areas), webhookDeliveriesTag],
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
      headers: responseHeaders,
      responses: errors.all(),
    },
  }
}

const usesProblems = (operations: readonly RegisteredOperation[]): boolean =>
  operations.some(({ operation }) =>
    Object.keys(operation.fails ?? {}).some(code => refusalFormOf(operation, code).problem),
  )

function* pathsOf(
  operations: readonly RegisteredOperation[],
  parts: OperationObjectParts,
): SlicedWork<OpenapiDocument['paths']> {
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

function knownBySection(operations: readonly RegisteredOperation[]): ReadonlyMap<string, ExampleValues> {
  const known = new Map<string, ExampleValues>()
  for (const { tag, operation } of operations) known.set(tag, { ...operation.example, ...known.get(tag) })
  return known
}

function tagsOf(areas: Areas): TagObject[] {
  return Object.values(areas).map(({ name, about, machines }) => {
    const states = Object.fromEntries(machines.map(machine => [machine.name, machine.table]))
    return { name, description: about, ...(machines.length > 0 ? { 'x-states': states } : {}) }
  })
}
