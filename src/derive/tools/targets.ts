import type { z } from 'zod'
import type { Actor } from '../../kernel/contract/actor.ts'
import { isEndless, mediaTypeOf } from '../../kernel/contract/file.ts'
import {
  type AnyOperation,
  type Failure,
  isWriting,
  type Registered,
  readsBytes,
  takesKey,
} from '../../kernel/contract/operation.ts'
import type { DescribedTarget, Tool, ToolDefinition, ToolTarget } from '../../kernel/contract/tool.ts'
import { uploadsIn } from '../../kernel/contract/upload.ts'
import { inputSchemaOf, type Reader } from './input-schema.ts'

/**
 * Excludes operations that read HTTP themselves or do not answer with text, which are for HTTP clients;
 * public ones, such as a sign-in, which belong to no credential; and those whose answer contains a secret,
 * which must not enter the context of a model.
 */
export const isReachable = ({ operation }: Registered): boolean =>
  operation.callers.length > 0 &&
  !(operation.callers.includes('public') && isWriting(operation)) &&
  (operation.tool?.isCommon === true || !showsSecret(operation)) &&
  !operation.callers.some((caller: string) => caller === 'signed') &&
  !isEndless(operation.returns[1]) &&
  !readsBytes(operation) &&
  !(operation.http?.reads !== undefined && isWriting(operation)) &&
  ['text/csv', undefined].includes(mediaTypeOf(operation.returns[1])?.split(';')[0]) &&
  !needsFile(operation)

const showsSecret = ({ returns }: AnyOperation): boolean =>
  Object.values(shapeOf(returns[1])).some(member => member.meta()?.once === true)

export const shapeOf = (schema: z.ZodType | undefined): Readonly<Record<string, z.ZodType>> =>
  (schema as unknown as { shape?: Record<string, z.ZodType> } | undefined)?.shape ?? {}

const needsFile = ({ body }: AnyOperation): boolean =>
  body !== undefined && [...uploadsIn(body).keys()].some(name => !isOptional(body, name))

const isOptional = (body: AnyOperation['body'], name: string): boolean =>
  shapeOf(body)[name]?.safeParse(undefined).success === true

export const mayCall = ({ type, scopes }: Actor, { callers, scope }: AnyOperation): boolean =>
  callers.some((caller: string) => caller === type) && (scope === undefined || scopes.has(scope))

export const targetOf = ({ key, operation }: Registered): ToolTarget => ({
  operation: key,
  method: operation.method,
  path: operation.path,
  summary: operation.summary,
  isWriting: isWriting(operation),
  takesKey: takesKey(operation) && isWriting(operation),
})

export function definitionOf(operation: AnyOperation, tool: Tool, reader: Reader): ToolDefinition {
  const writes = isWriting(operation)
  return {
    name: tool.name,
    title: operation.summary,
    description: tool.use,
    inputSchema: inputSchemaOf(operation, writes && takesKey(operation), reader),
    annotations: {
      readOnlyHint: !writes,
      destructiveHint: writes && tool.isFinal === true,
      idempotentHint: true,
      openWorldHint: operation.run === 'external',
    },
  }
}

export function describedTarget(registered: Registered, reader: Reader): DescribedTarget {
  const { operation } = registered
  const target = targetOf(registered)
  return {
    ...target,
    description: operation.description ?? '',
    scope: operation.scope ?? null,
    inputSchema: inputSchemaOf(operation, target.takesKey, reader),
    example: operation.tool?.example ?? operation.example ?? null,
    refusals: Object.entries<Failure>(operation.fails ?? {}).map(([code, [status, message]]) => ({
      code,
      status,
      message,
    })),
  }
}
