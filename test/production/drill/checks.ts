import { PLATFORM_OWNER_ID } from '../../../src/identity/customers/customer.ts'
import type { TestClient } from '../../support/client.ts'
import { bodyOf } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import type { Installation } from './installation.ts'
import { type Payer, type Payment, send } from './load.ts'
import type { Report } from './report.ts'

export async function untilSealed(clients: readonly TestClient[]): Promise<void> {
  for (const { audit } of clients)
    await until('the audit trail is sealed', async () => {
      const { unsealed } = await bodyOf(audit.verify())
      return unsealed.entries === 0
    })
}

/** Verifies the ledger and the audit trail of these accounts, and the ledger of the platform. */
export async function checkBooks(
  { dash }: Pick<Installation, 'dash'>,
  clients: readonly TestClient[],
  report: Report,
): Promise<void> {
  const ledgers = []
  for (const mode of ['test', 'live'] as const)
    ledgers.push(await bodyOf(dash.ledger.verifyOwner({ params: { id: PLATFORM_OWNER_ID }, body: { mode } })))
  for (const { ledger } of clients) ledgers.push(await bodyOf(ledger.verify({})))
  const problems = ledgers.flatMap(({ ok, problems }) => (ok ? [] : problems))
  report.check(`${ledgers.length} ledgers verify`, problems.length === 0, problems)
  const trails = []
  for (const { audit } of clients) trails.push(await bodyOf(audit.verify()))
  const broken = trails.flatMap(({ ok, problem }) => (ok ? [] : [problem]))
  report.check(`${trails.length} audit trails verify`, broken.length === 0, broken)
}

const REPEATED = 20

/** Compares the database with what each client was answered, and when. */
export async function checkPayments(
  place: Installation,
  payer: Payer,
  { payments, instantMs }: { readonly payments: readonly Payment[]; readonly instantMs: number },
  report: Report,
): Promise<void> {
  const rows = await place.sql<{ id: string; reference: string }>(
    `select id, reference from transfers where owner_id = $1 and reference like 'drill-%'`,
    [payer.ownerId],
  )
  const ids = new Map(rows.map(({ id, reference }) => [reference, id]))
  const before = payments.filter(({ id, answeredAt }) => id && answeredAt < instantMs)
  const missing = before.filter(({ key, id }) => ids.get(key) !== id)
  report.check(
    `${before.length} payments answered before the instant are there`,
    before.length > 0 && missing.length === 0,
  )
  const after = payments.filter(({ id, sentAt }) => id && sentAt > instantMs)
  const undead = after.filter(({ key }) => ids.has(key))
  report.check(`${after.length} payments made after it are not`, after.length > 0 && undead.length === 0)
  const repeated = before.slice(-REPEATED)
  const answers = await Promise.all(repeated.map(({ key }) => send(payer, place.urls[0], key)))
  const isSame = answers.every(({ id }, index) => id === repeated[index]?.id)
  report.check(`${repeated.length} of them, sent again with their keys, are not paid again`, isSame, answers)
}

/** Every payment that was answered exists once, and none twice. */
export async function checkPaidOnce(
  { sql }: Pick<Installation, 'sql'>,
  payer: Payer,
  payments: readonly Payment[],
  report: Report,
): Promise<void> {
  const rows = await sql<{ reference: string }>(
    `select reference from transfers where owner_id = $1 and reference like 'drill-%'`,
    [payer.ownerId],
  )
  const references = new Set(rows.map(({ reference }) => reference))
  const made = payments.filter(({ id }) => id)
  const missing = made.filter(({ key }) => !references.has(key))
  report.check(
    `each of ${made.length} payments of the load is there once`,
    made.length > 0 && rows.length === references.size && missing.length === 0,
  )
}
