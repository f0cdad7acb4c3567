import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { ReceivedCredit } from '../../iso20022/credit.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { Settled } from '../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { after, minutes } from '../../values/clock.ts'
import { IncomingCredit, platformTenant } from './incoming-credit.ts'
import type { incomingSteps } from './steps-api.ts'

/** A credit on its way to an owner, as plain JSON. It has all that is booked: the owner's transaction reads nothing else. */
export interface HandedOver {
  readonly id: string
  readonly to: Tenant
  readonly walletId: string
  readonly cents: string
  readonly received: Omit<ReceivedCredit, 'amountEuros'>
}

/** Until then the request that hands over books it, too; after a crash the sweep does. */
export const handOverDue = (now: Date): Date => after(now, minutes(1))

export function handedOver(credit: IncomingCredit): HandedOver {
  const { id, mode, toOwnerId, walletId, amountEuros } = credit
  if (toOwnerId === null || walletId === null) throw new Error(`${id} is handed over to nobody`)
  const { source, origin, bankReference, part, iban, reference, senderName, senderIban } = credit
  const { endToEndId, valueDate, reason } = credit
  return {
    id,
    to: { ownerId: toOwnerId, mode },
    walletId,
    cents: String(amountEuros),
    received: {
      ...{ source, origin, bankReference, part, iban, reference, senderName, senderIban },
      ...{ endToEndId, valueDate, reason },
    },
  }
}

const bookFor = (
  to: Tenant,
  credits: readonly HandedOver[],
  { ports, requestId }: Pick<Context, 'ports' | 'requestId'>,
): Promise<unknown> => {
  const body = {
    credits: credits.map(({ id, walletId, cents, received }) => ({
      ...received,
      id,
      walletId,
      amountEuros: BigInt(cents),
    })),
  }
  return ports.runFor(to, 'incoming.arrive', { body }, requestId)
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
  for (const ofOwner of Map.groupBy(credits, ({ to }) => to.ownerId).values()) {
    const [{ to }] = ofOwner as [HandedOver]
    const isBooked = await bookFor(to, ofOwner, outside).then(
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

/** Takes what has arrived off the list of the sweep. */
export async function noteArrived(sql: Sql, arrived: readonly HandedOver[]): Promise<void> {
  for (const [mode, credits] of Map.groupBy(arrived, ({ to }) => to.mode))
    await sql(ARRIVED, [PLATFORM_OWNER, mode, credits.map(({ id }) => id)])
}

const DONE = { done: true }

/** Books a credit whose request has ended before it did so. */
export const finish: HandlerOf<typeof incomingSteps.finish> = {
  async reserve({ params }, { records, tenant }) {
    const platform = platformTenant(tenant.mode)
    const credit = await records.findOne(IncomingCredit, { ...platform, id: params.id })
    return credit?.dueAt ? handedOver(credit) : new Settled(DONE)
  },
  async call(credit: HandedOver, outside) {
    await bookFor(credit.to, [credit], outside)
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
