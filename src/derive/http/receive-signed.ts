import type { Request } from 'express'
import type { Actor } from '../../kernel/contract/actor.ts'
import type { SignedRequestReceiver } from '../../kernel/contract/area.ts'
import type { ApiResponse } from '../../kernel/contract/call.ts'
import { maxBodyBytes, type RegisteredOperation } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { type ReserveMemory, readRequestBody } from './body-bytes.ts'

export type FindSignedReceiver = (
  operation: RegisteredOperation,
) => ((request: Parameters<SignedRequestReceiver>[0]) => ReturnType<SignedRequestReceiver>) | undefined

interface Receiving {
  readonly registered: RegisteredOperation
  readonly requestId: string
  readonly address: string | null
  readonly room: ReserveMemory
  readonly receiveFor: FindSignedReceiver
  readonly countUnsigned: () => Promise<void>
}

/**
 * Hands the raw bytes of a signed request to its area before anything is parsed. Requests with a valid
 * signature are exempt from the rate limit per address, since an external system sends for many owners from
 * one address.
 */
export async function receiveSignedRequest(
  request: Request,
  { registered, requestId, address, room, receiveFor, countUnsigned }: Receiving,
): Promise<{ outcome: ApiResponse; actor?: Actor }> {
  const receive = receiveFor(registered)
  if (!receive) throw new Error(`nothing receives ${registered.key}`)
  const body = await readRequestBody(request, maxBodyBytes(registered.operation), room)
  const received = await receive({ body, headers: singles(request.headers), requestId, address })
  if ('outcome' in received) return received
  await countUnsigned()
  throw new Problem('unauthenticated', received.unsigned)
}

const singles = (headers: Request['headers']): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )
