import type { Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import { bindHandlers, type ContextOf } from '../../kernel/contract/operation.ts'
import { definedOnly, halfOpenRangeCondition } from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { type Cents, NO_CENTS, subtractCents } from '../../values/money.ts'
import { LedgerAccount, LedgerEntry, LedgerTransfer, ledgerPersonalData } from './account.ts'
import { ledgerApi } from './api.ts'
import { readWalletBalancesAt } from './balances.ts'
import { verifyLedger } from './verify.ts'

interface Figures {
  readonly postedCents: Cents
  readonly heldCents: Cents
  readonly version: bigint
}

const figuresOf = ({ postedCents, heldCents, version }: Figures) => ({
  postedCents,
  heldCents,
  availableCents: subtractCents(postedCents, heldCents),
  version: Number(version),
})

const accountRecord = (account: LedgerAccount) => ({ ...account, ...figuresOf(account) })

const causeOf = ({ kind, referenceType: type, referenceId: id, valueDate }: LedgerTransfer) => ({
  kind,
  reference: { type, id },
  valueDate,
})

const entryRecord = (entry: LedgerEntry) => ({
  ...entry,
  postingId: entry.transferId,
  version: Number(entry.version),
})

const NOTHING = { posted: NO_CENTS, held: NO_CENTS, version: 0n }

/** Entries are booked in the order of their versions, so the index of versions finds a period. */
const bookedWithin = (
  accountId: string,
  { from, to }: { from?: Date | undefined; to?: Date | undefined },
) => ({
  ...(from && sqlCondition('version > ledger_version_before(?, ?)', [accountId, from])),
  ...(to && sqlCondition('version <= ledger_version_before(?, ?)', [accountId, to])),
})

const entriesOf = ({ ownerId, mode, id }: LedgerTransfer) =>
  sqlCondition(
    `(account_id, version) in (
      select one.account_id, one.version from ledger_transfers t, unnest(t.entry_accounts, t.entry_versions) as one (account_id, version)
      where (t.owner_id, t.mode, t.id) = (?, ?, ?))`,
    [ownerId, mode, id],
  )

/** One verification at a time per tenant: a ledger may have ten million entries. */
async function prove(tenant: Tenant, { withExclusiveRead, refuse }: ContextOf<typeof ledgerApi.verify>) {
  const verification = await withExclusiveRead(`verify ${tenant.ownerId} ${tenant.mode}`, sql =>
    verifyLedger(sql, tenant),
  )
  if (!verification) return refuse('verifying')
  const { accounts, entries, sums, problems } = verification
  return {
    ok: problems.length === 0,
    accounts,
    entries: Number(entries),
    sums: [...sums].map(([, sumCents]) => ({ currency: 'EUR' as const, sumCents })),
    problems: problems.slice(0, 100),
  }
}

const ledger = bindHandlers(ledgerApi, {
  async accounts({ query: { kind, walletId } }, { page }) {
    const { data, ...cursor } = await page(LedgerAccount, definedOnly({ kind, walletId }))
    return { ...cursor, data: data.map(accountRecord) }
  },

  account: getRecordAs(LedgerAccount, 'account_not_found', accountRecord),

  async entries({ params, query: { from, to } }, { em, page, refuse }) {
    if (!(await em.findOne(LedgerAccount, { id: params.id }))) return refuse('account_not_found')
    const where = { accountId: params.id, ...bookedWithin(params.id, { from, to }) }
    const { data, ...cursor } = await page(LedgerEntry, where, 'version')
    const transfers = await em.find(LedgerTransfer, {
      id: { $in: data.map(({ transferId }) => transferId) },
    })
    const causes = new Map(transfers.map(transfer => [transfer.id, causeOf(transfer)]))
    return {
      ...cursor,
      data: data.map(entry => ({
        ...entryRecord(entry),
        ...(causes.get(entry.transferId) as ReturnType<typeof causeOf>),
      })),
    }
  },

  async transfers({ query: { kind, referenceId, from, to } }, { page }) {
    const { data, ...cursor } = await page(
      LedgerTransfer,
      definedOnly({ kind, referenceId, bookedAt: halfOpenRangeCondition(from, to) }),
    )
    return { ...cursor, data: data.map(transfer => ({ ...transfer, ...causeOf(transfer) })) }
  },

  async transfer({ params }, { em, refuse }) {
    const transfer = await em.findOne(LedgerTransfer, { id: params.id })
    if (!transfer) return refuse('posting_not_found')
    const entries = await em.find(LedgerEntry, entriesOf(transfer), { orderBy: { accountId: 'asc' } })
    return { ...transfer, ...causeOf(transfer), entries: entries.map(entryRecord) }
  },

  async balances({ query: { at } }, { page, sql, tenant }) {
    const { data, ...cursor } = await page(LedgerAccount, {})
    const ids = data.map(({ id }) => id)
    const past = at && (await readWalletBalancesAt(sql, tenant, at, ids))
    const figures = (account: LedgerAccount): Figures => {
      if (!past) return account
      const { posted, held, version } = past.get(account.id) ?? NOTHING
      return { postedCents: posted, heldCents: held, version }
    }
    return {
      ...cursor,
      data: data.map(account => ({ ...account, accountId: account.id, ...figuresOf(figures(account)) })),
    }
  },

  verify: (_, context) => prove(context.tenant, context),

  async verifyOwner({ params, body }, context) {
    const [customer] = await context.sql('select id from customers where id = $1', [params.id])
    return customer
      ? prove({ ownerId: params.id, mode: body.mode }, context)
      : context.refuse('customer_not_found')
  },
})

export const ledgerArea = area(
  'Ledger',
  'The only place where money moves: double entry, append-only, provable at any past instant.',
  ledger,
  { personal: ledgerPersonalData, entities: [LedgerAccount, LedgerTransfer, LedgerEntry] },
)
