import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import {
  centsColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { personalTable, plain } from '../../kernel/database/personal.ts'
import { newId } from '../../values/ids.ts'
import { type Cents, formatMoney, NO_CENTS } from '../../values/money.ts'
import type { PersonalData } from '../../values/personal.ts'

interface Nature {
  readonly normal: 'debit' | 'credit'
  readonly minimum: Cents | null
  readonly meaning: string
}

/** The chart of accounts. A tenant has one account of each kind, and one `wallet` account for each wallet. */
export const ledgerAccountKinds = {
  wallet: { normal: 'credit', minimum: NO_CENTS, meaning: 'Owed to the owner: the money of a wallet.' },
  bank: { normal: 'debit', minimum: NO_CENTS, meaning: 'The owner’s money at our bank.' },
  clearing_sepa: { normal: 'credit', minimum: null, meaning: 'Submitted to the SEPA rail, not settled yet.' },
  clearing_cards: {
    normal: 'credit',
    minimum: null,
    meaning: 'Paid by card, and not settled with the processor yet.',
  },
  clearing_acquirer: {
    normal: 'debit',
    minimum: null,
    meaning: 'Charged to payers’ cards, and not paid out by the acquirer yet.',
  },
  suspense: { normal: 'credit', minimum: NO_CENTS, meaning: 'Received, with no wallet assigned yet.' },
  float: {
    normal: 'credit',
    minimum: NO_CENTS,
    meaning: 'A deposit at the card processor. Authorizations do not depend on it.',
  },
  fees: { normal: 'credit', minimum: null, meaning: 'Revenue of the platform.' },
  advance: {
    normal: 'credit',
    minimum: NO_CENTS,
    meaning:
      'The platform’s own money at the bank, which covers what the owner, the acquirer or a card network owes it, and its losses.',
  },
  receivable: {
    normal: 'debit',
    minimum: NO_CENTS,
    meaning: 'Owed by the owner, since a booking exceeded a balance.',
  },
  disputes: {
    normal: 'debit',
    minimum: null,
    meaning:
      'Advanced for disputed payments until they are decided. Negative: the card network has paid more than the owner is due.',
  },
  losses: {
    normal: 'debit',
    minimum: NO_CENTS,
    meaning: 'Refunded to the owner for unauthorized payments, and not recovered.',
  },
} as const satisfies Record<string, Nature>

export type LedgerAccountKind = keyof typeof ledgerAccountKinds
export const ledgerAccountKindNames = Object.keys(ledgerAccountKinds) as [
  LedgerAccountKind,
  ...LedgerAccountKind[],
]

const account = defineEntity({
  ...tenantTable('LedgerAccount', 'ledger_accounts'),
  properties: {
    ...recordColumns('account'),
    currency: p.enum(['EUR'] as const),
    kind: plain(p.enum(ledgerAccountKindNames)),
    normal: plain(p.enum(['debit', 'credit'] as const)),
    walletId: nullable.string(),
    postedCents: centsColumn('posted_cents'),
    heldCents: centsColumn('held_cents'),
    version: p.bigint(),
    closedAt: nullable.instant(),
  },
})

export class LedgerAccount extends account.class {}
account.setClass(LedgerAccount)

const transfer = defineEntity({
  ...tenantTable('LedgerTransfer', 'ledger_transfers'),
  ...personalTable({ plain: ['entry_accounts'] }),
  properties: {
    id: p.text().primary(),
    ownerId: p.text().primary(),
    mode: p.enum(['test', 'live'] as const).primary(),
    currency: p.enum(['EUR'] as const),
    kind: plain(p.text()),
    referenceType: plain(p.text()),
    referenceId: plain(p.text()),
    bookedAt: timestampColumn(),
    valueDate: p.date().$type<string>(),
  },
})

export class LedgerTransfer extends transfer.class {}
transfer.setClass(LedgerTransfer)

const entry = defineEntity({
  ...tenantTable('LedgerEntry', 'ledger_entries'),
  ...personalTable({ plain: ['hold_id'] }),
  properties: {
    accountId: plain(p.text().primary()),
    version: p.bigint().primary(),
    ownerId: p.text(),
    mode: p.enum(['test', 'live'] as const),
    transferId: p.text(),
    amountCents: centsColumn('amount_cents'),
    heldCents: centsColumn('hold_cents'),
    balanceAfterCents: centsColumn('balance_after_cents'),
    heldAfterCents: centsColumn('held_after_cents'),
    bookedAt: timestampColumn(),
  },
})

export class LedgerEntry extends entry.class {}
entry.setClass(LedgerEntry)

export const shortfallMessage = (needed: Cents, available: Cents): string =>
  `${formatMoney(needed)} is needed, but only ${formatMoney(available)} is available.`

export const ledgerPersonalData = {
  ledger_holds: {
    personal: {},
    plain: ['account_id', 'reference_type', 'reference_id'],
  },
} as const satisfies PersonalData

const OPEN_WALLET = `
insert into ledger_accounts (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id)
values ($1, $2, $3, $4, $4, 'EUR', 'wallet', $5, $6, $7)`

export async function openWalletAccount(
  sql: Sql,
  { tenant, now }: TenantNow,
  walletId: string,
): Promise<void> {
  const { normal, minimum } = ledgerAccountKinds.wallet
  await sql(OPEN_WALLET, [newId('account'), tenant.ownerId, tenant.mode, now, normal, minimum, walletId])
}

/**
 * Opens accounts in the order of their kinds, so that two first requests of a tenant wait for each other and
 * cannot deadlock. Finds each kind by its whole key, since a join could read the accounts of all wallets.
 */
const OPEN_MISSING = `
insert into ledger_accounts (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents)
select k.id, $1, $2, $3, $3, 'EUR', k.kind, k.normal, k.minimum
from unnest($4::text[], $5::text[], $6::text[], $7::bigint[]) as k (id, kind, normal, minimum)
where (
  select a.id from ledger_accounts a
  where a.owner_id = $1 and a.mode = $2 and a.currency = 'EUR' and a.kind = k.kind and a.wallet_id is null) is null
order by k.kind
on conflict (owner_id, mode, currency, kind, wallet_id) do nothing`

export async function openMissingLedgerAccounts(
  sql: Sql,
  { tenant, now }: TenantNow,
  kinds: readonly LedgerAccountKind[],
): Promise<void> {
  if (kinds.length === 0) return
  await sql(OPEN_MISSING, [
    tenant.ownerId,
    tenant.mode,
    now,
    kinds.map(() => newId('account')),
    kinds,
    kinds.map(kind => ledgerAccountKinds[kind].normal),
    kinds.map(kind => ledgerAccountKinds[kind].minimum),
  ])
}

const CLOSE = `
update ledger_accounts set closed_at = $4 where owner_id = $1 and mode = $2 and wallet_id = $3`

/** Closes an account for good. The database refuses this while it is not empty, and refuses any later entry. */
export async function closeLedgerAccount(
  sql: Sql,
  { tenant, now }: TenantNow,
  walletId: string,
): Promise<void> {
  await sql(CLOSE, [tenant.ownerId, tenant.mode, walletId, now])
}

const FREEZE = `
update ledger_accounts set frozen = $4 where owner_id = $1 and mode = $2 and wallet_id = $3`

/** The flag belongs to the account, which payments lock, so that they see it. */
export async function setAccountFrozen(
  sql: Sql,
  tenant: Tenant,
  walletId: string,
  frozen: boolean,
): Promise<void> {
  await sql(FREEZE, [tenant.ownerId, tenant.mode, walletId, frozen])
}
