import { payeeMatcher } from '../../control/merchants/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectColumnList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import type { CardMerchant } from '../../ports/card-processor.ts'
import { formatMinute } from '../../values/minute.ts'
import {
  addCents,
  atLeastZero,
  type Cents,
  formatMoney,
  negateCents,
  subtractCents,
} from '../../values/money.ts'
import { AgentCredential } from './agent-credential.ts'

type CredentialRow = RowOf<AgentCredential>

const table = tableOf(AgentCredential)

const READ = `
select ${selectColumnList(table, 'c')} from agent_credentials c
where c.owner_id = $1 and c.mode = $2 and c.token_id = any($3::text[])`

const LOCK = `${READ}
order by c.id for no key update`

const update = updateOf(table, ['spentCents', 'charges', 'updatedAt'])

interface TokenCharge {
  readonly merchant: Pick<CardMerchant, 'descriptor' | 'url'>
  readonly amountCents: Cents
  readonly now: Date
  readonly isIncrement?: boolean
}

const STOPPED: Readonly<Record<string, string>> = {
  suspended: 'The network token is suspended. Resume it first.',
  revoked: 'The network token has been revoked.',
  expired: 'The network token has expired.',
}

/** The token of a machine payment was given to one merchant only, so the name on statements does not matter. */
function isInScope(
  { merchantScope, mppCredentialId }: CredentialRow,
  { descriptor, url }: TokenCharge['merchant'],
): boolean {
  if (mppCredentialId !== null) return true
  const matches = payeeMatcher(merchantScope)
  return [descriptor, ...(url === null ? [] : [url])].some(name => matches(name) !== undefined)
}

/** Network tokens that pay in a batch: each payment sees what earlier payments of the batch have used. */
export class NetworkTokenCharges {
  readonly #tenant: Tenant
  readonly #byToken: ReadonlyMap<string, CredentialRow>
  readonly #changed = new Set<CredentialRow>()

  constructor(tenant: Tenant, rows: readonly CredentialRow[]) {
    this.#tenant = tenant
    this.#byToken = new Map(rows.map(row => [String(row.tokenId), row]))
  }

  find(tokenId: string): CredentialRow | undefined {
    return this.#byToken.get(tokenId)
  }

  blockerOf(
    tokenId: string,
    { merchant, amountCents, now, isIncrement = false }: TokenCharge,
  ): string | undefined {
    const credential = this.#byToken.get(tokenId)
    if (!credential) return 'The network token is unknown.'
    const { status, expiresAt, amountLimitCents, spentCents, maxCharges, charges } = credential
    if (status !== 'active') return STOPPED[status] ?? 'The network token is not active.'
    if (expiresAt <= now) return `The network token expired at ${formatMinute(expiresAt)}.`
    if (!isInScope(credential, merchant))
      return `The network token does not pay ${merchant.descriptor}: its scope is ${credential.merchantScope.slice(0, 5).join(', ')}.`
    if (!isIncrement && maxCharges !== null && charges >= maxCharges)
      return `The network token pays ${maxCharges === 1 ? 'once' : `${maxCharges} times`}: ${charges} used, 0 left.`
    const left = subtractCents(amountLimitCents, spentCents)
    if (amountCents <= left) return undefined
    return `The limit of the network token is ${formatMoney(amountLimitCents)}: ${formatMoney(spentCents)} used, ${formatMoney(atLeastZero(left))} left.`
  }

  /** An increment raises the amount of an existing charge and does not count as another charge. */
  charge(tokenId: string, amountCents: Cents, now: Date, { isIncrement = false } = {}): void {
    const credential = this.#byToken.get(tokenId)
    if (!credential) return
    credential.charges += isIncrement ? 0 : 1
    this.#spend(credential, amountCents, now)
  }

  /** Gives back the amount that was reversed, expired or declined by the processor. The charge stays counted. */
  giveBack(tokenId: string, amountCents: Cents, now: Date): void {
    const credential = this.#byToken.get(tokenId)
    if (credential) this.#spend(credential, negateCents(amountCents), now)
  }

  async write(sql: Sql): Promise<void> {
    if (this.#changed.size > 0) await update(sql, this.#tenant, [...this.#changed])
  }

  #spend(credential: CredentialRow, amount: Cents, now: Date): void {
    credential.spentCents = atLeastZero(addCents(credential.spentCents, amount))
    credential.updatedAt = now
    this.#changed.add(credential)
  }
}

type LoadCharges = (sql: Sql, tenant: Tenant, tokenIds: readonly string[]) => Promise<NetworkTokenCharges>

const chargesBy =
  (statement: string): LoadCharges =>
  async (sql, tenant, tokenIds) => {
    if (tokenIds.length === 0) return new NetworkTokenCharges(tenant, [])
    const { ownerId, mode } = tenant
    const rows = await sql<CredentialRow & Row>(statement, [ownerId, mode, [...new Set(tokenIds)]])
    return new NetworkTokenCharges(tenant, rows)
  }

/** The caller holds the locks of the tokens' agents. */
export const lockNetworkTokenCharges = chargesBy(LOCK)

/** For a decision that charges nothing. */
export const readNetworkTokenCharges = chargesBy(READ)
