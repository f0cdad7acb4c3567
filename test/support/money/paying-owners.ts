import { areas } from '../../../src/areas.ts'
import type { IncomingCreditEvent } from '../../../src/money/incoming/api.ts'
import { aWallet, bodyOf } from '../factories.ts'
import { type Owner, startTestService } from '../harness.ts'
import { sweepAtOnce } from '../sweep.ts'
import { openWorkerRuntime } from '../worker-runtime.ts'
import { payerArea } from './payer-noun.ts'
import { expectSoundLedgers } from './sound-ledgers.ts'

const withPayer = { ...areas, payer: payerArea }
export type PayingOwner = Owner<typeof withPayer>

interface Payment {
  readonly from: string
  readonly to: string
  readonly amountEuros: number
  readonly payableId?: string
  readonly asBefore?: boolean
}

type Told = (typeof IncomingCreditEvent)['_output']

export async function startPayingOwners() {
  const service = await startTestService({ areas: withPayer })
  const owners = [await service.owner(), await service.owner(), await service.owner()] as const
  const worker = await openWorkerRuntime(service)

  async function sweep(): Promise<void> {
    await service.sql('update incoming_credits set due_at = now() where due_at is not null')
    await sweepAtOnce(worker)
  }

  const pay = (
    by: PayingOwner,
    to: PayingOwner,
    { from, to: toWalletId, ...more }: Payment,
    options: object = {},
  ) =>
    by.client.payer.pay({
      body: { fromWalletId: from, toOwnerId: to.ownerId, toWalletId, ...more },
      ...options,
    })
  const refund = (by: PayingOwner, creditId: string, amountEuros: number) =>
    by.client.payer.refund({ body: { creditId, amountEuros } })
  const wallet = async ({ client }: PayingOwner, euros = 0) => (await aWallet(client, euros)).id
  const balanceOf = async ({ client }: PayingOwner, id: string) =>
    (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros

  const lastEvent = async ({ client }: PayingOwner, event: 'incoming.received') =>
    (await bodyOf(client.events.list({ query: { event, limit: 1 } }))).data[0]?.data as Told | undefined

  const proveLedgers = () => expectSoundLedgers(service)

  /** Prevents these owners from posting incoming credits during the work. */
  async function withoutArrivals<T>(work: () => Promise<T>): Promise<T> {
    await service.sql(`
      create function refuse_arrival() returns trigger language plpgsql as $$
      begin if new.status <> 'handed_over' then raise exception 'it cannot be booked'; end if; return new; end $$;
      create trigger refuse before insert on incoming_credits for each row execute function refuse_arrival()`)
    try {
      return await work()
    } finally {
      await service.sql('drop function refuse_arrival cascade')
    }
  }

  return { service, owners, sweep, pay, refund, wallet, balanceOf, lastEvent, proveLedgers, withoutArrivals }
}
