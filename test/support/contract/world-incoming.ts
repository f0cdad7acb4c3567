import { randomUUID } from 'node:crypto'
import { PLATFORM_OWNER_ID } from '../../../src/identity/customers/customer.ts'
import { clientAt } from '../client.ts'
import { bodyOf } from '../factories.ts'
import { DASHBOARD_SECRET } from '../harness.ts'
import { camt, payment } from '../money/camt.ts'
import type { Make, WorldService } from './world-passkeys.ts'

/** Assigns a credit to the platform, after the bank has posted as much without an owner. */
export async function thePlatformsCredit(
  _make: Make,
  path: string,
  { sql, url }: WorldService,
): Promise<void> {
  const booking = {
    amount: '250.00',
    reference: randomUUID().slice(0, 30),
    details: [payment({ text: 'For nobody' })],
  }
  const content = Buffer.from(camt([booking])).toString('base64')
  const { incoming } = clientAt({ url, dashboardSecret: DASHBOARD_SECRET })
  await bodyOf(incoming.readFile({ body: { content, mode: 'test' } }))
  await sql('update incoming_credits set owner_id = $1 where id = $2', [
    PLATFORM_OWNER_ID,
    String(path.split('/').at(-2)),
  ])
}

/** Leaves money in suspense without a credit, as a refund does when no wallet is open. */
export async function moneyInSuspense(make: Make, { sql }: WorldService) {
  const { id } = await make('POST', '/simulate/sepa/incoming', {
    iban: 'DE89370400440532013000',
    amountEuros: 250,
    senderName: 'Adler GmbH',
  })
  await sql('delete from incoming_credits where id = $1', [id])
  return { ownerId: (await make('GET', '/customers/me')).id, mode: 'test', reference: randomUUID() }
}
