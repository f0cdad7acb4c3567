import type { ReceivedCredit } from '../../iso20022/credit.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { Settled } from '../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { after, minutes } from '../../values/clock.ts'
import { type Payable, payableColumns, payableOf } from '../references/index.ts'
import { IncomingCredit, isFromOwner } from './incoming-credit.ts'
import type { incomingSteps } from './steps-api.ts'

/** The owner of this installation who has paid, and from which wallet; nulls where it was somebody else. */
export type Payer = Pick<IncomingCredit, 'fromOwnerId' | 'fromWalletId'>

/** A credit on its way to an owner, as plain JSON. It has all that is booked: the owner's transaction reads nothing else. */
export interface HandedOver {
  readonly id: string
  /** The platform, or the owner who pays. */
  readonly from: Tenant
  readonly to: Tenant
  readonly walletId: string
  readonly payable: Payable | null
  readonly cents: string
  readonly received: Omit<ReceivedCredit, 'amountEuros'> & Payer
}

/** Until then the request that hands over books it, too; after a crash the sweep does. */
export const handOverDue = (now: Date): Date => after(now, minutes(1))

export function handedOver(credit: IncomingCredit): HandedOver {
  const { id, ownerId, mode, toOwnerId, walletId, amountEuros } = credit
  if (toOwnerId === null || walletId === null) throw new Error(`${id} is handed over to nobody`)
  const { source, origin, bankReference, part, iban, reference, senderName, senderIban } = credit
  const { endToEndId, valueDate, reason, fromOwnerId, fromWalletId } = credit
  return {
    id,
    from: { ownerId, mode },
    to: { ownerId: toOwnerId, mode },
    walletId,
    payable: payableOf(credit),
    cents: String(amountEuros),
    received: {
      ...{ source, origin, bankReference, part, iban, reference, senderName, senderIban },
      ...{ endToEndId, valueDate, reason, fromOwnerId, fromWalletId },
    },
  }
}

/** What comes back to a payer changes what has been paid, and the limits: the transfers lock those before the accounts. */
const operationFor = ({ received }: HandedOver): string =>
  received.source === 'refund' ? 'transfers.takeBack' : 'incoming.arrive'

const bookFor = (
  credits: readonly [HandedOver, ...HandedOver[]],
  { ports, requestId }: Pick<Context, 'ports' | 'requestId'>,
): Promise<unknown> => {
  const [first] = credits
  const body = {
    credits: credits.map(({ id, walletId, payable, cents, received }) => ({
      ...received,
      ...payableColumns(payable),
      id,
      walletId,
      amountEuros: BigInt(cents),
    })),
  }
  // Another owner's request may have an id of that owner's own making: the credit is what both sides know.
  const cause = isFromOwner(first.received) ? `hand-over:${first.id}` : requestId
  return ports.runFor(first.to, operationFor(first), { body }, cause)
}

/**
 * Books what was handed over, in a transaction of each owner. Gives the credits that have arrived; an owner whose
 * transaction fails is left to the sweep, as the platform has handed over already.
 */
export async function bookAll(
  credits: readonly HandedOver[],
  outside: Pick<Context, 'ports' | 'requestId'>,
): Promise<HandedOver[]> {
  const arrived: HandedOver[] = []
  const groups = Map.groupBy(credits, credit => `${credit.to.ownerId} ${operationFor(credit)}`)
  for (const ofOwner of groups.values()) {
    const isBooked = await bookFor(ofOwner as [HandedOver], outside).then(
      () => true,
      () => false,
    )
    if (isBooked) arrived.push(...ofOwner)
  }
  return arrived
}

const ARRIVED = `
update incoming_credits set due_at = null
where owner_id = $1 and mode = $2 and id = any($3::text[]) and due_at is not null`

/** Takes what has arrived off the list of the sweep. All of it comes from one owner. */
export async function noteArrived(sql: Sql, arrived: readonly HandedOver[]): Promise<void> {
  const [first] = arrived
  if (!first) return
  const { ownerId, mode } = first.from
  await sql(ARRIVED, [ownerId, mode, arrived.map(({ id }) => id)])
}

/**
 * Books what the payer's own transaction has handed over, and takes it off the list of the sweep: for a request of another
 * owner than the payer. What fails is left to the sweep.
 */
export async function finishHandOvers(
  credits: readonly Pick<HandedOver, 'id' | 'from'>[],
  { ports, requestId }: Pick<Context, 'ports' | 'requestId'>,
): Promise<void> {
  const finish = ({ id, from }: Pick<HandedOver, 'id' | 'from'>) =>
    ports.runFor(from, 'incoming.finish', { params: { id } }, requestId)
  await Promise.allSettled(credits.map(finish))
}

const DONE = { done: true }

/** Books a credit whose request has ended before it did so. */
export const finish: HandlerOf<typeof incomingSteps.finish> = {
  async reserve({ params }, { records, tenant }) {
    const credit = await records.findOne(IncomingCredit, { ...tenant, id: params.id })
    return credit?.dueAt ? handedOver(credit) : new Settled(DONE)
  },
  async call(credit: HandedOver, outside) {
    await bookFor([credit], outside)
  },
  async record(_, credit: HandedOver, { sql }) {
    await noteArrived(sql, [credit])
    return DONE
  },
  // The next sweep finds it.
  recover: async () => DONE,
}

export const handOversDue: Deadline = {
  process: { name: 'incoming-credit' },
  table: 'incoming_credits',
  record: 'id',
  agent: 'null::text',
  due: 'due_at',
  open: 'due_at is not null',
  waits: 'false',
  operations: ['incoming.finish'],
}
