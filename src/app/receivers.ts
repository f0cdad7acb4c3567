import type { DeliverMessage } from '../adapters/card-processor/sandbox-refunds.ts'
import type { DeliverIdentityNotice } from '../adapters/identity-verification/sandbox.ts'
import type { FindSignedReceiver } from '../derive/http/receive-signed.ts'
import type { Areas, ReceiverTools, SignedRequestReceiver } from '../kernel/contract/area.ts'
import type { RegisteredOperation } from '../kernel/contract/operation.ts'
import type { Ports, RunningService } from '../kernel/contract/ports.ts'
import { type Database, sqlOn } from '../kernel/database/prepared-sql.ts'
import type { ExecuteCall } from '../kernel/run/execute.ts'
import type { Logger } from '../platform/log.ts'

interface ReceivingRuntime {
  readonly areas: Areas
  readonly ports: Ports
  readonly database: Database
  readonly operations: readonly RegisteredOperation[]
  readonly execute: ExecuteCall
  readonly log: Logger
}

export function signedReceivers(runtime: ReceivingRuntime): FindSignedReceiver {
  const byKey = receivesOf(runtime.areas)
  const tools = toolsOf(runtime)
  return ({ key }) => {
    const receive = byKey.get(key)
    return receive && (request => receive(request, tools))
  }
}

export const inProcessDelivery =
  (receiveFor: FindSignedReceiver, operations: readonly RegisteredOperation[]): RunningService['deliver'] =>
  async (key, request) => {
    const operation = operations.find(operation => operation.key === key)
    const receive = operation && receiveFor(operation)
    if (!receive) throw new Error(`nothing receives ${key}`)
    const received = await receive(request)
    if ('unsigned' in received) return received
    const { status, body, errorCode } = received.outcome
    return { status, body: String(body ?? ''), errorCode: errorCode ?? null }
  }

/** For the simulated acquirer: a message that cannot be taken now is logged and counts as late. */
const cardNetworkCallback =
  (deliver: RunningService['deliver'], log: Logger): DeliverMessage =>
  async ({ body, headers }, requestId) => {
    const request = { body: Buffer.from(body), headers, requestId, address: null }
    try {
      const answer = await deliver('authorizations.receive', request)
      if ('unsigned' in answer) throw new Error(answer.unsigned)
      return answer.status === 200 ? { status: 200, headers: {}, body: answer.body } : null
    } catch (error) {
      log.error({ err: error, requestId }, 'a message of the simulated acquirer was not taken')
      return null
    }
  }

/** For the simulated identity provider: a notice that was not taken is fetched later. */
const identityCallback =
  (deliver: RunningService['deliver'], log: Logger): DeliverIdentityNotice =>
  async ({ body, headers }, requestId) => {
    const request = { body: Buffer.from(body), headers, requestId, address: null }
    try {
      const answer = await deliver('kyc.receive', request)
      if ('unsigned' in answer) throw new Error(answer.unsigned)
    } catch (error) {
      log.error({ err: error, requestId }, 'a notice of the simulated identity provider was not taken')
    }
  }

export const sandboxCallbacks = (deliver: RunningService['deliver'], log: Logger) => ({
  cards: cardNetworkCallback(deliver, log),
  identity: identityCallback(deliver, log),
})

const receivesOf = (areas: Areas): ReadonlyMap<string, SignedRequestReceiver> =>
  new Map(
    Object.entries(areas).flatMap(([noun, { receives = {} }]) =>
      Object.entries(receives).map(([verb, receive]) => [`${noun}.${verb}`, receive] as const),
    ),
  )

const toolsOf = ({ ports, database, operations, execute, log }: ReceivingRuntime): ReceiverTools => ({
  ...ports,
  sql: sqlOn(database.pool),
  onFailure: (error, requestId) => log.error({ err: error, requestId }, 'signed request failed'),
  async run(key, actor, body, { requestId, address }) {
    const operation = operations.find(operation => operation.key === key)
    if (!operation) throw new Error(`there is no operation ${key}`)
    const input = { params: {}, query: {}, body }
    return execute({ operation, actor, input, requestId, address, idempotencyKey: null })
  },
})
