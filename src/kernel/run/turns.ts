import type { ApiCall, ApiResponse } from '../contract/call.ts'
import { type ByteStream, isEndlessResponse, isStreamedContent, mediaTypeOf } from '../contract/file.ts'
import { isWritingOperation, operationClass } from '../contract/operation.ts'
import { OwnerQueue, type OwnerQueueLimits } from './owner-queue.ts'

type Run = (call: ApiCall) => Promise<ApiResponse>

/** Lists up to the usual length take a few milliseconds. */
const SHORT_LIST = 20

const isLongList = ({ query }: ApiCall['input']): boolean =>
  'limit' in query && typeof query.limit === 'number' && query.limit > SHORT_LIST

/** The service's own work and the operator's are no owner's. */
const ownerOf = ({ actor: { tenant, type } }: ApiCall): string | undefined =>
  type === 'process' || type === 'operator' ? undefined : tenant?.ownerId

/** Reads that take more than some milliseconds of processor: long lists, reports, pages and files. */
function isCostlyRead(call: ApiCall): boolean {
  const { operation } = call.operation
  if (call.hasTurn || ownerOf(call) === undefined || isWritingOperation(operation)) return false
  const { returns, limits } = operation
  if (isEndlessResponse(returns[1]) || limits?.inTurn === false) return false
  if (limits?.oneAtATime || mediaTypeOf(returns[1]) !== undefined) return true
  return operationClass(operation) === 'report' || isLongList(call.input)
}

/** What runs one at a time across all processes waits there. */
const takesTurn = (call: ApiCall): boolean => {
  const { limits } = call.operation.operation
  if (limits?.oneAtATime || call.hasTurn) return false
  return limits?.inTurn === true || isCostlyRead(call)
}

const LIMITS: OwnerQueueLimits = {
  atOnceOfOne: 1,
  atOnce: 4,
  waitingOfOne: 200,
  waiting: 2_000,
  waitMs: 30_000,
}

/** A few short operations of an owner run side by side. Hundreds at once wait, and none is refused. */
const SHORT_LIMITS: OwnerQueueLimits = {
  atOnceOfOne: 4,
  atOnce: 16,
  waitingOfOne: 1_000,
  waiting: 4_000,
  waitMs: 30_000,
}

/** The owner of a short read, or of another operation that says it is short. What anyone may call counts for its address. */
function shortTurnOf(call: ApiCall): string | undefined {
  const { operation } = call.operation
  const { returns, limits } = operation
  if (call.hasTurn || limits?.inTurn === false || isEndlessResponse(returns[1])) return undefined
  const isShort = limits?.inTurn === 'short'
  if (call.actor.tenant === null) return isShort ? (call.address ?? undefined) : undefined
  return isShort || !isWritingOperation(operation) ? ownerOf(call) : undefined
}

interface TurnOptions {
  /** Where costly reads run. */
  readonly readCostly?: Run
  readonly limits?: OwnerQueueLimits
}

/**
 * Runs what takes more than some milliseconds one at a time for each owner, few owners side by side, in turns: what
 * one owner sends at once delays another owner by one of them. A streamed answer takes a turn for each piece, so that
 * a slow reader holds none.
 */
export function inTurns(execute: Run, { readCostly = execute, limits = LIMITS }: TurnOptions = {}): Run {
  const reads = new OwnerQueue(limits)
  /** A write may take long: it delays no other owner's reads. */
  const writes = new OwnerQueue(limits)
  const runShort = inShortTurns(execute)
  return async call => {
    const owner = ownerOf(call)
    if (owner === undefined || !takesTurn(call)) return isCostlyRead(call) ? readCostly(call) : runShort(call)
    const [run, turns] = isCostlyRead(call) ? [readCostly, reads] : [execute, writes]
    const { whenGone } = call
    const inTurn: InTurn = async (work, isPatient = false) => {
      const end = await turns.acquire(owner, { whenGone, isPatient })
      try {
        return await work()
      } finally {
        end()
      }
    }
    const outcome = await inTurn(() => run({ ...call, hasTurn: true }))
    const { body } = outcome
    return body !== null && isStreamedContent(body) ? { ...outcome, body: inPieces(body, inTurn) } : outcome
  }
}

function inShortTurns(execute: Run): Run {
  const turns = new OwnerQueue(SHORT_LIMITS)
  return async call => {
    const whose = shortTurnOf(call)
    if (whose === undefined) return execute(call)
    const end = await turns.acquire(whose, call)
    try {
      return await execute(call)
    } finally {
      end()
    }
  }
}

type InTurn = <T>(work: () => Promise<T>, isPatient?: boolean) => Promise<T>

/** A file that has begun waits for its turn as long as its client does: a refusal would cut it off. */
async function* inPieces(body: ByteStream, inTurn: InTurn): ByteStream {
  const pieces = body[Symbol.asyncIterator]()
  const next = () => inTurn(() => pieces.next(), true)
  try {
    for (let piece = await next(); !piece.done; piece = await next()) yield piece.value
  } finally {
    await pieces.return?.()
  }
}
