import { randomUUID } from 'node:crypto'
import { PLATFORM_OWNER_ID } from '../../../src/identity/customers/customer.ts'
import { newId } from '../../../src/values/ids.ts'
import { clientAt } from '../client.ts'
import { bodyOf } from '../factories.ts'
import { DASHBOARD_SECRET } from '../harness.ts'
import { camt, payment } from '../money/camt.ts'
import type { Make, WorldService } from './world-passkeys.ts'

/** A file that the bank has not sent before. It has a credit for no one here. */
export async function aBankFile() {
  const booking = {
    amount: '250.00',
    reference: randomUUID().slice(0, 30),
    details: [payment({ text: 'For nobody' })],
  }
  return { content: Buffer.from(camt([booking])).toString('base64'), mode: 'test' as const }
}

/** Assigns a credit to the platform, after the bank has posted as much without an owner. */
export async function thePlatformsCredit(
  _make: Make,
  path: string,
  { sql, url }: WorldService,
): Promise<void> {
  const { incoming } = clientAt({ url, dashboardSecret: DASHBOARD_SECRET })
  await bodyOf(incoming.readFile({ body: await aBankFile() }))
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

/** A bank file that lists a debit of a payment that is not known. */
export async function aLostDebit(make: Make, path: string, { sql }: WorldService) {
  const { id: walletId } = await make('POST', '/wallets', { name: 'Bookshop' })
  const endToEndId = newId('transfer').replace('transfer_', '')
  const debit = { endToEndId, cents: '1000', notice: 'settled', outcome: 'unknown_payment' }
  const payments = JSON.stringify([{ ...debit, transferId: null, reasonCode: null }])
  await sql('update sepa_messages set payments = $1 where id = $2', [
    payments,
    String(path.split('/').at(-2)),
  ])
  return { endToEndId, walletId }
}
