import type { z } from 'zod'
import type { Actor } from '../../kernel/contract/actor.ts'
import { isEndlessResponse, mediaTypeOf } from '../../kernel/contract/file.ts'
import {
  type AnyOperation,
  callsOutside,
  isWritingOperation,
  type RefusalSpec,
  type RegisteredOperation,
  readsRawBody,
  takesIdempotencyKey,
} from '../../kernel/contract/operation.ts'
import type { DescribedTarget, ToolDefinition, ToolOptions, ToolTarget } from '../../kernel/contract/tool.ts'
import { findUploads } from '../../kernel/contract/upload.ts'
import { type ToolSchemaReader, toolInputSchema } from './input-schema.ts'

/**
 * Excludes operations that read HTTP themselves or do not answer with text, which are for HTTP clients;
 * public ones, such as a sign-in, which belong to no credential; and those whose answer contains a secret,
 * which must not enter the context of a model.
 */
export const isToolOperation = ({ operation }: RegisteredOperation): boolean =>
  operation.callers.length > 0 &&
  !(operation.callers.includes('public') && isWritingOperation(operation)) &&
  (operation.tool?.isCommon === true || !showsSecret(operation)) &&
  !operation.callers.some((caller: string) => caller === 'signed') &&
  !isEndlessResponse(operation.returns[1]) &&
  !readsRawBody(operation) &&
  !(operation.http?.reads !== undefined && isWritingOperation(operation)) &&
  ['text/csv', undefined].includes(mediaTypeOf(operation.returns[1])?.split(';')[0]) &&
  !needsFile(operation)

const showsSecret = ({ returns }: AnyOperation): boolean =>
  Object.values(schemaShape(returns[1])).some(member => member.meta()?.once === true)

/** The members of an object, also of one that is checked before it is read. */
export function schemaShape(schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> {
  if (schema === undefined) return {}
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod
  if (def.type === 'pipe') return schemaShape(def.out as z.ZodType)
  return (schema as unknown as { shape?: Record<string, z.ZodType> }).shape ?? {}
}

const needsFile = ({ body }: AnyOperation): boolean =>
  body !== undefined && [...findUploads(body).keys()].some(name => !isOptional(body, name))

const isOptional = (body: AnyOperation['body'], name: string): boolean =>
  schemaShape(body)[name]?.safeParse(undefined).success === true

export const mayCallOperation = ({ type, scopes }: Actor, { callers, scope }: AnyOperation): boolean =>
  callers.some((caller: string) => caller === type) && (scope === undefined || scopes.has(scope))

export const toolTarget = ({ key, operation }: RegisteredOperation): ToolTarget => ({
  operation: key,
  method: operation.method,
  path: operation.path,
  summary: operation.summary,
  isWriting: isWritingOperation(operation),
  takesKey: takesIdempotencyKey(operation) && isWritingOperation(operation),
})

export function toolDefinition(
  operation: AnyOperation,
  tool: ToolOptions,
  reader: ToolSchemaReader,
): ToolDefinition {
  const writes = isWritingOperation(operation)
  return {
    name: tool.name,
    title: operation.summary,
    description: tool.use,
    inputSchema: toolInputSchema(operation, writes && takesIdempotencyKey(operation), reader),
    annotations: {
      readOnlyHint: !writes,
      destructiveHint: writes && tool.isFinal === true,
      idempotentHint: true,
      openWorldHint: callsOutside(operation),
    },
  }
}

export function describedTarget(registered: RegisteredOperation, reader: ToolSchemaReader): DescribedTarget {
  const { operation } = registered
  const target = toolTarget(registered)
  return {
    ...target,
    description: operation.description ?? '',
    scope: operation.scope ?? null,
    inputSchema: toolInputSchema(operation, target.takesKey, reader),
    example: operation.tool?.example ?? operation.example ?? null,
    refusals: Object.entries<RefusalSpec>(operation.fails ?? {}).map(([code, [status, message]]) => ({
      code,
      status,
      message,
    })),
  }
}
