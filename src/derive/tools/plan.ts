import type { z } from 'zod'
import type { Tenant } from '../../kernel/contract/actor.ts'
import {
  type AnyOperation,
  isWritingOperation,
  type RegisteredOperation,
} from '../../kernel/contract/operation.ts'
import type { ToolCaller, ToolCallPlan } from '../../kernel/contract/tool.ts'
import type { ExecuteCall } from '../../kernel/run/execute.ts'
import { invalidRequest, refuseUnstorable } from '../http/body.ts'
import { parseToolInput, splitToolInput, type ToolInput } from './call.ts'
import { pathParameterNames } from './input-schema.ts'
import { schemaShape, toolTarget } from './targets.ts'

const ASSERTION = 'webauthnAssertion'

export type RecordReaders = ReadonlyMap<string, RegisteredOperation>

export const findRecordReaders = (operations: Iterable<RegisteredOperation>): RecordReaders =>
  new Map(
    [...operations]
      .filter(({ operation }) => operation.method === 'GET' && !('cursor' in schemaShape(operation.query)))
      .map(registered => [registered.operation.path, registered]),
  )

export function planToolCall(
  readers: RecordReaders,
  { actor }: Pick<ToolCaller, 'actor'>,
  registered: RegisteredOperation,
  input: ToolInput,
): ToolCallPlan {
  const { operation } = registered
  refuseUnstorable(input)
  const members = schemaShape(operation.body)
  const takesPasskey = ASSERTION in members
  if (takesPasskey && ASSERTION in input)
    throw invalidRequest(ASSERTION, 'a passkey signs when the proposal is applied')
  const isOwn = actor.agentId !== null && 'agentId' in members && input.agentId === undefined
  const given = isOwn ? { ...input, agentId: actor.agentId } : input
  const example = (operation.example as ToolInput | undefined)?.[ASSERTION]
  const signed = takesPasskey && example !== undefined ? { ...given, [ASSERTION]: example } : given
  const { params } = parseToolInput(registered, signed, actor.agentId)
  return {
    target: toolTarget(registered),
    given: { ...given, ...params },
    record: recordOf(readers, registered, params),
    agentId: agentIn(registered, params, given),
    takesPasskey,
    secret: Object.keys(given).find(name => given[name] !== null && isSecret(members[name])),
    canBeProposed: isWritingOperation(operation) && isForPeople(operation),
  }
}

/** Also behind a default or an optional member, which have no metadata of their own. */
function isSecret(schema: z.ZodType | undefined): boolean {
  if (schema === undefined) return false
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod
  return schema.meta()?.secret === true || ('innerType' in def && isSecret(def.innerType as z.ZodType))
}

/**
 * Operations for people and programs alike. Operations that only pages call, such as pairing a device, begin
 * with a person. So do operations that require a passkey, since only the person can continue with the
 * challenge.
 */
const isForPeople = ({ callers, requires }: AnyOperation): boolean =>
  callers.includes('console') &&
  callers.some((caller: string) => caller !== 'console') &&
  requires !== 'passkeys'

function recordOf(
  readers: RecordReaders,
  { operation }: RegisteredOperation,
  params: Readonly<Record<string, string>>,
): ToolCallPlan['record'] {
  const pieces = operation.path.split('/')
  for (let length = pieces.length; length > 1; length--) {
    const path = pieces.slice(0, length).join('/')
    const found = path.includes('{') ? readers.get(path) : undefined
    if (!found) continue
    const names = pathParameterNames(found.operation)
    const given = Object.fromEntries(names.map(name => [name, params[name] ?? '']))
    return { operation: found.key, given, id: given[names.at(-1) ?? ''] ?? '' }
  }
  return null
}

function agentIn(
  { operation }: RegisteredOperation,
  params: Readonly<Record<string, string>>,
  { agentId }: ToolInput,
): string | null {
  const own = /\/agents?\/\{(\w+)\}/.exec(operation.path)?.[1]
  if (own !== undefined) return params[own] ?? null
  return typeof agentId === 'string' ? agentId : null
}

/** Reads with the rights of the service itself. The caller decides who sees the record. */
export async function readRecordAsService(
  execute: ExecuteCall,
  registered: RegisteredOperation,
  tenant: Tenant,
  given: ToolInput,
  requestId: string,
): Promise<unknown> {
  const { params, query } = splitToolInput(registered, given, null)
  const { body, errorCode } = await execute({
    operation: registered,
    actor: { type: 'process', id: null, tenant, agentId: null, scopes: new Set() },
    input: { params, query: Object.fromEntries(query), body: {} },
    requestId,
    address: null,
    idempotencyKey: null,
  })
  return errorCode === undefined && typeof body === 'string' ? JSON.parse(body) : undefined
}
