import { printLine } from '../../src/platform/output.ts'
import { type Section, tableLine, wholeNumber } from './report.ts'
import { bearer, post, type Stage, withClient } from './stage.ts'

const SIZES = [1_000, 10_000, 100_000]
const FORMS = ['csv', 'camt053', 'pdf'] as const

interface Written {
  readonly seconds: number
  readonly firstByteSeconds: number
  readonly megabytes: number
  /** The API's peak memory. */
  readonly memory: number
}

interface Sized {
  readonly movements: number
  readonly makeSeconds: number
  readonly forms: Readonly<Record<(typeof FORMS)[number], Written>>
}

const CREDITS = `
insert into incoming_credits (id, created_at, updated_at, mode, owner_id, status, wallet_id, amount_cents, source, origin,
  bank_reference, part, reference, sender_name, sender_iban, value_date)
select 'credit_' || $2 || '_' || n, now(), now(), 'test', $1, 'matched', $2, 100, 'bank', 'bench',
  $2 || '_' || n, 0, 'Invoice ' || n, 'Bäckerei Müller ' || n % 1000, 'NL91ABNA0417164300', current_date
from generate_series(1, $3::int) as n`

const POSTINGS = `
insert into ledger_transfers (id, owner_id, mode, currency, kind, reference_type, reference_id, booked_at, value_date,
  entry_accounts, entry_versions)
select 'posting_' || n || $2, $1, 'test', 'EUR', 'sepa_credit', 'incoming_credit', 'credit_' || $2 || '_' || n, now(),
  current_date, array[id], array[n]
from ledger_accounts, generate_series(1, $3::int) as n where owner_id = $1 and wallet_id = $2`

const ENTRIES = `
insert into ledger_entries (account_id, version, owner_id, mode, transfer_id, amount_cents, hold_cents,
  balance_after_cents, held_after_cents, booked_at)
select id, n, $1, 'test', 'posting_' || n || $2, 100, 0, 100 * n, 0, now()
from ledger_accounts, generate_series(1, $3::int) as n where owner_id = $1 and wallet_id = $2`

const ACCOUNT = `
update ledger_accounts set version = $3::int, posted_cents = 100 * $3::int where owner_id = $1 and wallet_id = $2`

/** A wallet with this many past movements, inserted directly. */
async function aWalletWith(stage: Stage, movements: number): Promise<string> {
  const { id = '' } = await post(stage.api, '/wallets', { name: `${movements} movements` }, bearer(stage))
  await withClient(stage, async client => {
    await client.query('set session_replication_role = replica')
    for (const text of [CREDITS, POSTINGS, ENTRIES, ACCOUNT])
      await client.query(text, [stage.ownerId, id, movements])
    await client.query('vacuum analyze incoming_credits, ledger_transfers, ledger_entries')
  })
  return id
}

/** Measures the time of a statement with this many movements, and the memory of the API. */
export async function measureStatements(stage: Stage): Promise<Section> {
  const statements: Sized[] = []
  for (const movements of SIZES) {
    const walletId = await aWalletWith(stage, movements)
    const began = performance.now()
    const { id = '' } = await post(stage.api, '/statements', { walletId }, bearer(stage))
    const makeSeconds = secondsSince(began)
    const forms = {} as Record<(typeof FORMS)[number], Written>
    for (const form of FORMS) forms[form] = await read(stage, `/statements/${id}/${form}`)
    statements.push({ movements, makeSeconds, forms })
    printLine(`  ${wholeNumber(movements)} movements`)
  }
  return { figures: { statements }, text: tableOf(statements) }
}

async function read({ api, token }: Stage, path: string): Promise<Written> {
  const began = performance.now()
  const response = await fetch(api.url + path, { headers: bearer({ token }) })
  if (!response.ok || !response.body) throw new Error(`${path}: ${response.status}`)
  let [bytes, memory, firstByteSeconds, looked] = [0, 0, 0, 0]
  for await (const piece of response.body) {
    firstByteSeconds ||= secondsSince(began)
    bytes += piece.length
    if (performance.now() - looked < 100) continue
    looked = performance.now()
    memory = Math.max(memory, api.memoryMegabytes())
  }
  return { seconds: secondsSince(began), firstByteSeconds, megabytes: bytes / 1e6, memory }
}

const secondsSince = (began: number): number => (performance.now() - began) / 1_000

const tableOf = (statements: readonly Sized[]): string =>
  [
    tableLine(['movements', ...statements.map(({ movements }) => wholeNumber(movements))]),
    tableLine([
      'POST /statements',
      ...statements.map(({ makeSeconds }) => `${(makeSeconds * 1_000).toFixed(0)} ms`),
    ]),
    ...FORMS.map(form =>
      tableLine([`GET …/${form}`, ...statements.map(({ forms }) => inWords(forms[form]))]),
    ),
  ].join('\n')

const inWords = ({ seconds, megabytes, memory }: Written): string =>
  `${seconds.toFixed(2)} s ${megabytes.toFixed(1)} MB (${wholeNumber(memory)})`
