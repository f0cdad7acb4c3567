import type { Tenant } from '../../kernel/contract/actor.ts'
import { type AnyOperation, isWriting, type Registered } from '../../kernel/contract/operation.ts'
import type { Plan, ToolCaller } from '../../kernel/contract/tool.ts'
import type { Execute } from '../../kernel/run/execute.ts'
import { inspect, invalid } from '../http/body.ts'
import { type Given, inputFor, split } from './call.ts'
import { parametersOf } from './input-schema.ts'
import { shapeOf, targetOf } from './targets.ts'

const ASSERTION = 'webauthnAssertion'

export type Readers = ReadonlyMap<string, Registered>

export const readersAmong = (operations: Iterable<Registered>): Readers =>
  new Map(
    [...operations]
      .filter(({ operation }) => operation.method === 'GET')
      .map(registered => [registered.operation.path, registered]),
  )

export function planOf(
  readers: Readers,
  { actor }: Pick<ToolCaller, 'actor'>,
  registered: Registered,
  input: Given,
): Plan {
  const { operation } = registered
  inspect(input)
  const members = shapeOf(operation.body)
  const takesPasskey = ASSERTION in members
  if (takesPasskey && ASSERTION in input)
    throw invalid(ASSERTION, 'a passkey signs when the proposal is applied')
  const isOwn = actor.agentId !== null && 'agentId' in members && input.agentId === undefined
  const given = isOwn ? { ...input, agentId: actor.agentId } : input
  const example = (operation.example as Given | undefined)?.[ASSERTION]
  const signed = takesPasskey && example !== undefined ? { ...given, [ASSERTION]: example } : given
  const { params } = inputFor(registered, signed, actor.agentId)
  return {
    target: targetOf(registered),
    given: { ...given, ...params },
    record: recordOf(readers, registered, params),
    agentId: agentIn(registered, params, given),
    takesPasskey,
    canBeProposed: isWriting(operation) && isForPeople(operation),
  }
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
  readers: Readers,
  { operation }: Registered,
  params: Readonly<Record<string, string>>,
): Plan['record'] {
  const pieces = operation.path.split('/')
  for (let length = pieces.length; length > 1; length--) {
    const path = pieces.slice(0, length).join('/')
    const found = path.includes('{') ? readers.get(path) : undefined
    if (!found) continue
    const names = parametersOf(found.operation)
    const given = Object.fromEntries(names.map(name => [name, params[name] ?? '']))
    return { operation: found.key, given, id: given[names.at(-1) ?? ''] ?? '' }
  }
  return null
}

function agentIn(
  { operation }: Registered,
  params: Readonly<Record<string, string>>,
  { agentId }: Given,
): string | null {
  const own = /\/agents?\/\{(\w+)\}/.exec(operation.path)?.[1]
  if (own !== undefined) return params[own] ?? null
  return typeof agentId === 'string' ? agentId : null
}

/** Reads with the rights of the service itself. The caller decides who sees the record. */
export async function readRecord(
  execute: Execute,
  registered: Registered,
  tenant: Tenant,
  given: Given,
  requestId: string,
): Promise<unknown> {
  const { params, query } = split(registered, given, null)
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
