import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aBeneficiary, bodyOf } from '../../support/factories.ts'
import { secretSettings } from '../../support/services/settings.ts'
import { until } from '../../support/until.ts'
import { type Account, type Installation, openAccount } from './installation.ts'

const NAME = 'Grace Erased'

/** A person whose data is deleted after the instant to which the drill recovers. */
export interface Erasure {
  readonly account: Account
  readonly payeeId: string
}

/** A payee that was never paid and is removed, so that nothing prevents the deletion of its data. */
export async function aRemovedPayee(place: Installation): Promise<Erasure> {
  const account = await openAccount(place, 'Account of a payee')
  const { id } = await aBeneficiary(account.client, { name: NAME, email: 'grace@example.com' })
  await bodyOf(account.client.beneficiaries.delete({ params: { id } }))
  return { account, payeeId: id }
}

export async function erase({ account, payeeId }: Erasure): Promise<string> {
  const subject = { type: 'beneficiary', id: payeeId } as const
  const { id } = await bodyOf(account.client.gdpr.createDeletion({ body: { subject } }))
  await untilErased({ account }, id)
  return id
}

/** Lets days pass by the test clock: a deletion waits seven, and then for the seals of the audit trail. */
export async function untilErased({ account: { client } }: Pick<Erasure, 'account'>, id: string) {
  await bodyOf(client.sandbox.advance({ body: { days: 7 } }))
  await until('the data of the payee is deleted', async () => {
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    return (await bodyOf(client.gdpr.getDeletion({ params: { id } }))).status === 'completed'
  })
}

export async function hasName({ sql }: Pick<Installation, 'sql'>, { account }: Erasure): Promise<boolean> {
  const text = `select from beneficiaries t where owner_id = $1 and t::text like '%' || $2 || '%'`
  return (await sql(text, [account.ownerId, NAME])).length > 0
}

const listIn = ({ backupDir }: Installation): string => join(backupDir, 'erasures.json')

/** Keeps the list of deletions beside the backup, as docs/how-to/backup.md says. */
export async function copyErasures(place: Installation): Promise<void> {
  const env = { AGENTPAY_URL: place.urls[0], AGENTPAY_DASHBOARD_SECRET: secretSettings.dashboardSecret }
  const listed = await place.run('agentpay', { args: ['gdpr', 'list-erasures', '--all', '--json'], env })
  writeFileSync(listIn(place), listed)
}

/** Returns the outcome of each deletion of the list. */
export async function reapplyErasures(place: Installation): Promise<string[]> {
  const args = ['gdpr', 'reapply', listIn(place), '--json']
  const { data } = JSON.parse(await place.run('agentpay', { args }))
  return data.map(({ outcome }: { readonly outcome: string }) => outcome)
}
