import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'
import type { Statement } from './statement.ts'

interface Kind {
  readonly words: string
  /** The external family code within `PMNT` of cards; for all others the direction decides. */
  readonly family?: 'CCRD' | 'MCRD'
  readonly code: 'ESCT' | 'RRTN' | 'BOOK' | 'OTHR' | 'POSD' | 'POSP' | 'RIMB'
}

const kinds: Readonly<Record<string, Kind>> = {
  fund: { words: 'Top-up', code: 'OTHR' },
  fund_reversal: { words: 'Top-up, drawn back', code: 'OTHR' },
  fund_reinstated: { words: 'Top-up, given back', code: 'OTHR' },
  recovery: { words: 'Paid back what was owed', code: 'OTHR' },
  sepa_credit: { words: 'SEPA credit', code: 'ESCT' },
  assignment: { words: 'SEPA credit, assigned', code: 'ESCT' },
  processor_fund: { words: 'To the card processor', code: 'OTHR' },
  processor_withdraw: { words: 'From the card processor', code: 'OTHR' },
  purse_fund: { words: 'Funding of a card', code: 'BOOK' },
  purse_return: { words: 'Left over from a card', code: 'BOOK' },
  card_capture: { words: 'Payment by card', family: 'CCRD', code: 'POSD' },
  card_undo: { words: 'Payment by card, not made', family: 'CCRD', code: 'RIMB' },
  card_refund: { words: 'Payment by card, refunded', family: 'CCRD', code: 'RIMB' },
  dispute_credit: { words: 'Disputed payment, given back', family: 'CCRD', code: 'RIMB' },
  dispute_lost: { words: 'Disputed payment, taken back', family: 'CCRD', code: 'OTHR' },
  charge_out: { words: 'Payment', code: 'BOOK' },
  charge_in: { words: 'Payment received', code: 'BOOK' },
  charge_refund: { words: 'Payment received, given back', code: 'BOOK' },
  charge_refunded: { words: 'Payment, refunded', code: 'BOOK' },
  collect: { words: 'Card payment received', family: 'MCRD', code: 'POSP' },
  collect_refund: { words: 'Card payment received, given back', family: 'MCRD', code: 'RIMB' },
  collect_chargeback: { words: 'Card payment received, charged back', family: 'MCRD', code: 'OTHR' },
  transfer: { words: 'Transfer between wallets', code: 'BOOK' },
  transfer_refund: { words: 'Transfer between wallets, refunded', code: 'BOOK' },
  transfer_refund_unmatched: { words: 'Transfer between wallets, refunded', code: 'BOOK' },
  agent_fund: { words: 'Funding of an agent', code: 'BOOK' },
  sweep: { words: 'Sweep of an agent', code: 'BOOK' },
  sepa_submit: { words: 'SEPA transfer', code: 'ESCT' },
  sepa_undo: { words: 'SEPA transfer, rejected', code: 'RRTN' },
  sepa_return: { words: 'SEPA transfer, returned', code: 'RRTN' },
}

export const movementKindOfTemplate = (template: string): Kind =>
  kinds[template] ?? { words: titleOf(template), code: 'OTHR' }

const titleOf = (template: string): string =>
  template.replaceAll('_', ' ').replace(/^./, first => first.toUpperCase())

export interface StatementMovement {
  readonly postingId: string
  readonly kind: ReturnType<typeof movementKindOfTemplate>
  readonly bookedAt: Date
  readonly valueDate: string
  /** Positive for credits. */
  readonly amountCents: Cents
  readonly balanceCents: Cents
  readonly name: string | null
  readonly iban: string | null
  readonly walletId: string | null
  readonly reference: string | null
  readonly endToEndId: string | null
  /** The merchant's amount in its currency; null for euros. */
  readonly original: OriginalAmount | null
  /** For a payment by card the whole charge, of which the wallet may have paid a part; null for any other movement. */
  readonly chargedCents: Cents | null
}

/** Units of the original currency for one euro, as it was charged. */
export function chargedRate(
  { amount }: OriginalAmount,
  { amountCents, chargedCents }: Pick<StatementMovement, 'amountCents' | 'chargedCents'>,
): string {
  const euros = Math.abs(Number(chargedCents ?? amountCents)) / 100
  return String(Number((Number(amount) / euros).toPrecision(8)))
}

interface MovementRow extends Row, Omit<StatementMovement, 'kind'> {
  readonly template: string
  readonly version: bigint
}

const PAGE_SIZE = 250

/**
 * The original of the clearing or refund of exactly this amount. If that names none, the original of the request or of
 * the challenge, for a capture of the whole payment. Later facts change neither, so a final statement stays the same.
 */
const ORIGINAL = `
  coalesce((
      select one -> 'original' from jsonb_array_elements(k.facts -> case
        when p.amount_cents < 0 then 'clearings' when t.kind in ('card_refund', 'card_refund_unmatched') then 'refunds' end) one
      where one ->> 'amount' = g.cents::text limit 1),
    case
      when t.kind <> 'card_capture' then null
      when k.facts ->> 'begun' = g.cents::text then k.facts -> 'begunOriginal'
      when k.facts #> '{clearings,0}' @> jsonb_build_object('amount', g.cents::text, 'final', true)
        then coalesce(k.facts #> '{asks,0,original}', k.facts -> 'begunOriginal')
    end)`

/**
 * Reads one page. There is no transaction around the pages: entries never change, and a slow reader must not
 * keep a transaction open. Names a counterparty wallet by its IBAN, since its name may change. The reference
 * of a posting of a transfer, card payment or dispute has its id before the first slash.
 */
const PAGE = `
with page as (
  select version, transfer_id, amount_cents, balance_after_cents, booked_at from ledger_entries
  where account_id = $1 and version > $2 and version <= $3 and amount_cents <> 0 and owner_id = $4 and mode = $5
  order by version limit ${PAGE_SIZE}
)
select p.version, p.transfer_id as "postingId", t.kind as template, p.booked_at as "bookedAt",
  t.value_date::text as "valueDate", p.amount_cents as "amountCents", p.balance_after_cents as "balanceCents",
  coalesce(c.sender_name, h.recipient_name, x.payee ->> 'name', k.merchant, q.merchant, case when w.id is not null then $6 end) as name,
  coalesce(c.sender_iban, x.payee ->> 'iban', w.iban) as iban, w.id as "walletId",
  coalesce(c.reference, h.reference, x.reference, k.descriptor) as reference,
  coalesce(c.end_to_end_id, x.end_to_end_id) as "endToEndId", ${ORIGINAL} as original, g.cents as "chargedCents"
from page p
join ledger_transfers t on (t.owner_id, t.mode, t.id) = ($4, $5, p.transfer_id)
left join incoming_credits c on t.reference_type = 'incoming_credit' and (c.owner_id, c.mode, c.id) = ($4, $5, t.reference_id)
left join incoming_credits h on t.reference_type = 'hand_over' and (h.owner_id, h.mode, h.id) = ($4, $5, t.reference_id)
left join transfers x on t.reference_type = 'transfer'
  and (x.owner_id, x.mode, x.id) = ($4, $5, split_part(t.reference_id, '/', 1))
left join card_authorizations k on t.reference_type = 'card_change'
  and (k.owner_id, k.mode, k.id) = ($4, $5, split_part(t.reference_id, '/', 1))
left join lateral (
  select sum(o.amount_cents)::bigint as cents
  from unnest(t.entry_accounts, t.entry_versions) as entry (account_id, version)
  join ledger_entries o on (o.account_id, o.version) = (entry.account_id, entry.version)
  where o.owner_id = $4 and o.mode = $5 and o.amount_cents > 0 and t.reference_type = 'card_change'
) as g on true
left join disputes q on t.reference_type = 'dispute'
  and (q.owner_id, q.mode, q.id) = ($4, $5, split_part(t.reference_id, '/', 1))
left join lateral (
  select min(w.id) as id, min(w.iban) as iban
  from unnest(t.entry_accounts, t.entry_versions) as other (account_id, version)
  join ledger_entries o on (o.account_id, o.version) = (other.account_id, other.version)
  join ledger_accounts a on (a.owner_id, a.mode, a.id) = ($4, $5, o.account_id)
  join wallets w on (w.owner_id, w.mode, w.id) = ($4, $5, a.wallet_id)
  where o.owner_id = $4 and o.mode = $5 and o.account_id <> $1
    and sign(o.amount_cents) <> sign(p.amount_cents)
  having count(*) = 1
) as w on true
order by p.version`

export async function* readStatementMovements(
  sql: Sql,
  statement: Statement,
): AsyncGenerator<readonly StatementMovement[]> {
  const { accountId, lastVersion, ownerId, mode, holder } = statement
  let after = statement.beforeVersion
  while (after < lastVersion) {
    const rows = await sql<MovementRow>(PAGE, [accountId, after, lastVersion, ownerId, mode, holder])
    if (rows.length > 0) yield rows.map(row => ({ ...row, kind: movementKindOfTemplate(row.template) }))
    after = rows.length < PAGE_SIZE ? lastVersion : (rows.at(-1)?.version ?? lastVersion)
  }
}
