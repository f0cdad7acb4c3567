import { ApplicationFailure } from '@temporalio/common'
import { inputOf } from '../src/derive/input.ts'
import type { Registered } from '../src/kernel/area.ts'
import type { Actor, Tenant } from '../src/kernel/context.ts'
import type { Execute } from '../src/kernel/execute.ts'
import { Problem } from '../src/kernel/problem.ts'
import type { Look, ProcessInput } from '../src/kernel/process.ts'

/** What an operation answered: its result, or the sentence with which it refused. */
export interface Answered<T> {
  readonly result?: T
  readonly refused?: string
}

export interface Asked {
  readonly of: ProcessInput
  readonly as: 'process' | { readonly operator: string }
  /** What it is told under where no request is behind it. */
  readonly requestId: string
  /** The calendar has begun it. */
  readonly unasked?: true
  readonly body?: object
  /** By this name it is done once, however often it is tried. */
  readonly once?: string | null
}

interface Parts {
  readonly execute: Execute
  readonly operations: readonly Registered[]
  /** How far the tenant's clock has been moved. */
  readonly offsetOf: (tenant: Tenant) => Promise<number>
  /** The request that is behind what is done with a record. */
  readonly causeOf: (tenant: Tenant, id: string) => Promise<string | undefined>
}

/** Runs one of the API's operations on the record of a process. */
export type Run = <T>(operation: string, asked: Asked) => Promise<Answered<T>>

export function runner({ execute, operations, offsetOf, causeOf }: Parts): Run {
  const byKey = new Map(operations.map(operation => [operation.key, operation]))
  return async <T>(
    key: string,
    { of, as, requestId: given, unasked, body = {}, once = null }: Asked,
  ): Promise<Answered<T>> => {
    const operation = byKey.get(key)
    if (!operation) throw ApplicationFailure.nonRetryable(`there is no operation ${key}`)
    const params = { id: of.id }
    const clockOffsetMs = await offsetOf(of)
    const isRead = operation.operation.method === 'GET'
    const requestId = isRead || unasked ? given : ((await causeOf(of, of.id)) ?? given)
    const outcome = await unlessWrong(() => {
      const input = { params, ...inputOf(operation.operation, new URLSearchParams(), body) }
      const actor = { ...actorOf(of, as), clockOffsetMs }
      return execute({ operation, actor, input, requestId, address: null, idempotencyKey: once })
    })
    if ('refused' in outcome) return outcome
    const answer = JSON.parse(String(outcome.body))
    return outcome.errorCode ? { refused: answer.error } : { result: answer }
  }
}

/** Bad input is the caller's to hear; a database that is away is a reason to try again. */
async function unlessWrong<T>(work: () => Promise<T>): Promise<T | { refused: string }> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem && error.status === 400) return { refused: error.message }
    throw error
  }
}

const actorOf = ({ ownerId, mode }: ProcessInput, as: Asked['as']): Omit<Actor, 'clockOffsetMs'> => ({
  type: as === 'process' ? 'process' : 'operator',
  id: as === 'process' ? null : as.operator,
  tenant: { ownerId, mode },
  agentId: null,
  scopes: new Set(),
})

/** The record as it stands; a process without one has nothing to live for. */
export async function lookWith<Seen extends Look = Look>(
  run: Run,
  operation: string,
  of: ProcessInput,
  requestId: string,
): Promise<Seen> {
  const { result, refused } = await run<Seen>(operation, { of, as: 'process', requestId })
  if (!result) throw ApplicationFailure.nonRetryable(`${operation} ${of.id}: ${refused}`)
  return result
}
